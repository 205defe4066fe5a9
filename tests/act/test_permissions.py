"""Who may read and run a file comes back with it."""

from __future__ import annotations

import stat

import pytest

from pytest_fireloop.act.permissions import LINE, Permissions

FILE, LINK = stat.S_IFREG, stat.S_IFLNK


def seen(**modes: int) -> Permissions:
    return Permissions.seen({path: (mode, 0, 0, 0, 0) for path, mode in modes.items()})


def test_most_files_are_told_once() -> None:
    found = seen(a=FILE | 0o640, b=FILE | 0o640, c=FILE | 0o600, d=FILE | 0o750, e=LINK | 0o777, f=FILE | 0o4640)
    assert (found.usual, found.others) == ({"100644": 0o640, "100755": 0o750}, {"c": 0o600})
    assert [found.of(path, mode) for path, mode in (("a", "100644"), ("c", "100644"), ("d", "100755"))] == [
        0o640,
        0o600,
        0o750,
    ]
    assert found.of("e", "120000") is None
    assert Permissions.read(f"tree x\n\nmessage\n\n{found.told()}\n".encode()) == found


def test_names_of_any_bytes() -> None:
    found = Permissions({"100644": 0o644}, {"raw-\udcff": 0o600, 'a"\n': 0o444})
    assert Permissions.read(f"message\n\n{found.told()}\n".encode()) == found


@pytest.mark.parametrize(
    "line",
    ["", "no line of ours", LINE, LINE + "[]", LINE + "{}", LINE + '{"others": 1}', LINE + '{"others": {"x": ["a"]}}'],
)
def test_what_cannot_be_read_tells_nothing(line: str) -> None:
    assert Permissions.read(f"message\n\n{line}\n".encode()) == Permissions()
    assert Permissions().of("a", "100644") is None


def test_no_more_than_nine_bits_are_given() -> None:
    line = LINE + '{"100644": "4777", "others": {"7777": ["a"]}}'
    found = Permissions.read(line.encode())
    assert (found.of("b", "100644"), found.of("a", "100644")) == (0o777, 0o777)
