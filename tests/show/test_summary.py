"""What is said of a run in one line."""

from __future__ import annotations

import pytest

from pytest_fireloop.observe.record import CollectionError, RunRecord, TestResult
from pytest_fireloop.show.summary import record_line

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
