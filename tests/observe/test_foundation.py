"""What the modules held that tests stand on, in two runs: replacements are found, and honest changes are not."""

from __future__ import annotations

import pytest

from pytest_fireloop.observe.integrity.foundation import compare_foundation
from pytest_fireloop.observe.test_files import is_test_file

FIRST = {
    "statistics": "|fmean=aa mean=ab",
    "statistics.NormalDist": "|pdf=bb",
    "_pytest.reports.TestReport": "|from_item_and_call=cc",
    "builtins": "|print=11 _=12",
    "textwrap": "|dedent=dd",
    "logging.Logger": "|info=ee",
    "test_shop": "tests/test_shop.py|test_a=11",
    "test_shop.total": "shop/calc.py:3",
    "test_shop.check": "tests/helpers.py:9",
    "shop.calc": "shop/calc.py|total=22",
}


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({}, []),
        (
            {"statistics": "|mean=ab", "statistics.fmean": "shop/calc.py:7"},
            [("library_patched", "blocker", "shop/calc.py", 7)],
        ),
        ({"statistics": "|fmean=ff mean=ab"}, [("library_patched", "blocker", "statistics", 0)]),
        (
            {"_pytest.reports.TestReport": "|from_item_and_call=ff"},
            [("library_patched", "blocker", "_pytest.reports.TestReport", 0)],
        ),
        ({"textwrap": "|", "textwrap.dedent": "shop/calc.py:7"}, [("library_set", "warning", "shop/calc.py", 7)]),
        ({"test_shop.check": "shop/calc.py:7"}, [("library_patched", "blocker", "shop/calc.py", 7)]),
        (
            {"test_shop": "tests/test_shop.py|", "test_shop.test_a": "shop/calc.py:7"},
            [("library_patched", "blocker", "shop/calc.py", 7)],
        ),
        ({"test_shop": "tests/test_shop.py|test_a=12"}, [("library_patched", "blocker", "tests/test_shop.py", 0)]),
        ({"hook sys.meta_path": "shop/load.py:4"}, [("library_patched", "blocker", "shop/load.py", 4)]),
        ({"hook signal": "shop/load.py:4"}, [("library_set", "warning", "shop/load.py", 4)]),
        # a level of its own is added to the logger, translations to the builtins, a function moves or is written anew
        ({"logging.Logger.trace": "shop/log.py:7"}, []),
        ({"builtins": "|print=11 _=13 ngettext=14"}, []),
        ({"textwrap": "|dedent=ff"}, []),
        ({"shop.calc": "shop/calc.py|", "shop.calc.total": "shop/sums.py:8"}, []),
        ({"test_shop.total": "shop/sums.py:8", "shop.calc": "shop/calc.py|total=23"}, []),
        ({"statistics": "|mean=ab", "statistics.fmean": "tests/conftest.py:7"}, []),
    ],
)
def test_replacements(now: dict[str, str], expected: list[tuple[str, str, str, int]]) -> None:
    found = compare_foundation(FIRST, {**FIRST, **now}, is_test=is_test_file, oracles={"statistics"})
    assert [(each.kind, each.severity, each.path, each.line) for each in found] == expected


def test_what_the_product_replaced_at_the_start_is_its_own() -> None:
    first = {
        **FIRST,
        "statistics": "|mean=ab",
        "statistics.fmean": "shop/calc.py:7",
        "hook sys.meta_path": "shop/load.py:4",
    }
    now = {**first, "statistics.fmean": "shop/calc.py:8", "hook sys.meta_path": "shop/load.py:5"}
    assert list(compare_foundation(first, now, is_test=is_test_file, oracles={"statistics"})) == []
