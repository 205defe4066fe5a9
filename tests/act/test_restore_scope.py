"""Which checkpoints a restore goes by."""

from __future__ import annotations

import pytest

from pytest_fireloop.act.restore_scope import Others, Stored, others_of

#: A loop that was interrupted after its second iteration and went on, another loop, and a restore with its undo.
STORED = [
    Stored("undo", 90, "before restoring before"),
    Stored("before", 80, "before restoring one"),
    Stored("other", 70, "loop-b: iteration 1"),
    Stored("three", 60, "loop-a: iteration 3"),
    Stored("resumed", 50, "loop-a: resumed"),
    Stored("cut", 40, "loop-a: interrupted"),
    Stored("two", 30, "loop-a: iteration 2"),
    Stored("one", 20, "loop-a: iteration 1"),
    Stored("zero", 10, "loop-a: baseline"),
    Stored("run", 5, "run 20260101"),
]
ROWS = ["zero", "one", "two", "three"]


@pytest.mark.parametrize(
    ("commit", "later", "wanted", "known"),
    [
        ("zero", ["one", "two", "three"], {"one", "two", "three", "cut", "resumed"}, {*ROWS, "cut", "resumed"}),
        ("two", ["three"], {"three", "cut", "resumed"}, {*ROWS, "cut", "resumed"}),
        ("three", [], set(), {*ROWS, "cut", "resumed"}),
        ("before", [], set(), {*ROWS, "cut", "resumed"}),
        ("undo", [], set(), {"before"}),
        ("run", [], set(), set()),
        ("dropped", ["one"], {"one"}, set()),
    ],
)
def test_others(commit: str, later: list[str], wanted: set[str], known: set[str]) -> None:
    found = others_of(commit, STORED, later=later, rows=ROWS)
    assert (set(found.later), set(found.known)) == (wanted, known - {commit})


def test_nothing_is_gone_by_without_any() -> None:
    assert others_of("one", []) == Others()
