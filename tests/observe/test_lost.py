"""Failures of the run before that show nothing any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fireloop.observe.junit import read_junit
from pytest_fireloop.observe.lost import lost_failures
from pytest_fireloop.observe.past_run import PastRun, stored
from pytest_fireloop.observe.record import RunRecord

CASES = {
    ".": '<testcase classname="{0}" name="t"/>',
    "f": '<testcase classname="{0}" name="t"><failure/></testcase>',
    "e": '<testcase classname="{0}" name="t"><error/></testcase>',
    "s": '<testcase classname="{0}" name="t"><skipped/></testcase>',
    "x": '<testcase classname="{0}" name="t"><skipped type="pytest.xfail"/></testcase>',
    "!": '<testcase classname="" name="{0}"><error message="collection failure"/></testcase>',
    "-": "",
}


def record(tmp_path: Path, shape: str, attributes: str = "") -> RunRecord:
    """Return a run with a test in each of the modules m0, m1..., by what became of it."""
    cases = "".join(CASES[said].format(f"m{number}") for number, said in enumerate(shape))
    (tmp_path / "report.xml").write_text(f'<testsuite name="s" {attributes}>{cases}</testsuite>')
    return read_junit(tmp_path / "report.xml")


@pytest.mark.parametrize(
    ("before", "after", "skipped", "gone"),
    [
        ("f.", "s.", ["m0::t"], []),
        ("e.", "s.", ["m0::t"], []),
        ("f.", "x.", ["m0::t"], []),
        ("f.", "-.", [], ["m0::t"]),
        ("ff.", "-s.", ["m1::t"], ["m0::t"]),
        ("!.", "-.", [], ["m0"]),
        ("!.", "..", [], []),
        ("!f.", ".-.", [], ["m1::t"]),
        ("f.", "..", [], []),
        ("f.", "f.", [], []),
        ("f.", "e.", [], []),
        ("s.", "-.", [], []),
        ("..", "s-", [], []),
        # where files cannot be collected nobody knows what they hold
        ("f.", "-!", [], []),
        ("ff.", "-s!", ["m1::t"], []),
    ],
)
def test_what_was_red_and_shows_nothing(
    tmp_path: Path, before: str, after: str, skipped: list[str], gone: list[str]
) -> None:
    past = PastRun.from_json(*stored(record(tmp_path, before), {}))
    found = lost_failures(past, record(tmp_path, after))
    assert found.to_json() == {"skipped": skipped, "gone": gone}
    assert bool(found) is bool(skipped or gone)


def test_an_incomplete_run_loses_nothing(tmp_path: Path) -> None:
    past = PastRun.from_json(*stored(record(tmp_path, "f."), {}))
    assert not lost_failures(past, record(tmp_path, "-.", 'tests="2"'))
