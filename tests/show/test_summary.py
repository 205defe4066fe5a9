"""What is said of a run in one line."""

from __future__ import annotations

import pytest

from pytest_fireloop.act.progress import Progress, summarise
from pytest_fireloop.judge.verdict import Ending
from pytest_fireloop.observe.record import CollectionError, RunRecord, TestResult
from pytest_fireloop.show.summary import record_line, summary_lines

PASSED = (TestResult("t.py::a", "passed"), TestResult("t.py::b", "failed"))
BROKEN = (
    CollectionError("a.py", "s", "ImportError: no 'x'\x1b[31m\nmore"),
    CollectionError("b.py", "s", "", exception="KeyError"),
)


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (RunRecord("1"), "no tests"),
        (RunRecord("1", tests=PASSED), "1 passed, 1 failed"),
        (RunRecord("1", collection_errors=BROKEN[1:]), "1 file cannot be collected (b.py: KeyError)"),
        (
            RunRecord("1", tests=PASSED[:1], collection_errors=BROKEN),
            "1 passed, 2 files cannot be collected (a.py: ImportError: no 'x' more)",
        ),
    ],
)
def test_a_run_in_one_line(record: RunRecord, line: str) -> None:
    assert record_line(record) == line


@pytest.mark.parametrize(
    ("verdict", "at_best", "changed", "said"),
    [("limit", False, 2, True), ("limit", True, 2, False), ("limit", False, 0, False), ("green", False, 2, False)],
)
def test_the_best_state_is_offered_where_the_tree_is_in_another_one(
    verdict: str, at_best: bool, changed: int, said: bool
) -> None:
    progress = Progress(iterations=4, best=1, commits=["a", "b", "c", "d", "e"])
    summary = summarise(
        loop_id="l",
        ending=Ending(verdict, "why"),
        progress=progress,
        verification=None,
        duration_s=1.0,
        files_changed=changed,
        at_best=at_best,
        loop_file=None,
    )
    assert any("fireloop restore best" in line for line in summary_lines(summary)) is said
