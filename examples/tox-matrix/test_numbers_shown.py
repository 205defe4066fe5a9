import os

from numbers_shown import shown


def test_the_mark():
    mark = {"point": ".", "comma": ","}[os.environ["STYLE"]]
    assert shown(1.5) == f"1{mark}5"


def test_one_decimal():
    assert len(shown(2.25)) == 3
