"""What changed between two runs, by the definitions that partial and incomplete runs need."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fireloop.observe.delta import Delta, compare
from pytest_fireloop.observe.record import CollectionError, RunRecord, TestResult


def record(outcomes: dict[str, str], **changes: object) -> RunRecord:
    tests = tuple(TestResult(node, said) for node, said in outcomes.items())
    made = RunRecord("r", exit_code=1, complete=True, collected=len(tests), tests=tests)
    return replace(made, **changes)  # type: ignore[arg-type]


BEFORE = record({"a": "failed", "b": "passed", "c": "error", "d": "passed", "e": "passed", "f": "failed"})


def test_each_kind() -> None:
    after = record({"a": "passed", "b": "failed", "c": "error", "d": "skipped", "g": "passed", "f": "xpassed"})
    assert compare(BEFORE, after) == Delta(
        newly_passing=("a", "f"),
        newly_failing=("b",),
        still_failing=("c",),
        added=("g",),
        removed=("e",),
        newly_skipped=("d",),
    )


@pytest.mark.parametrize(
    "after",
    [
        record({"a": "failed"}, partial=True),
        record({"a": "failed"}, complete=False),
        record({"a": "failed"}, scope="other"),
        record({"a": "failed"}, collection_errors=(CollectionError("e.py", "s", "m"),)),
        record({"a": "failed"}, not_run=("b", "c", "d", "e", "f"), complete=False),
    ],
    ids=["partial", "incomplete", "another scope", "collection error", "not run"],
)
def test_what_a_run_does_not_show_is_unknown(after: RunRecord) -> None:
    found = compare(BEFORE, after)
    assert (found.removed, found.newly_passing, found.still_failing) == ((), (), ("a",))


def test_flaky_tests_neither_pass_nor_fail_newly() -> None:
    after = record({"a": "passed", "b": "failed"})
    found = compare(BEFORE, after, known_flaky=["a", "b"])
    assert (found.newly_passing, found.newly_failing, found.flaky) == ((), (), ("a", "b"))
    rerun = replace(after, tests=(TestResult("a", "passed", reruns=1),))
    assert compare(BEFORE, rerun).flaky == ("a",)
