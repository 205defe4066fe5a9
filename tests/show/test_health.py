"""Progress is only said where something got better."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.judge import begin, decide
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.show.health import health_and_level, health_word

RED = {"t.py::a": "failed", "t.py::b": "failed"}
SIGNATURES = {"t.py::a": "x", "t.py::b": "y"}
EDIT = {"changed": {"shop.py": [3, 1]}, "tree": "other"}
BROKEN = {"outcomes": {}, "signatures": {}, "collection_errors": {"t.py": "e"}}
BETTER = {"t.py::a": "passed", "t.py::b": "failed"}
GREEN = dict.fromkeys(RED, "passed")


def said(first: dict[str, Any], *later: dict[str, Any]) -> list[str]:
    rows = [
        {"at": 60.0 * number, "agent": "ok", "outcomes": RED, "signatures": SIGNATURES, "tree": "x", **row}
        for number, row in enumerate((first, *later))
    ]
    state, told = begin(Facts.from_json(rows[0]), Settings.for_profile("balanced")), []
    for number, row in enumerate(rows[1:], start=1):
        state, found = decide(state, Facts.from_json({"iteration": number, **row}))
        told.append(health_and_level(found.to_json()))
        assert found.health in {"PROGRESS", "STALLED", "SPINNING"}, "what is stored keeps the judge's words"
    return told


@pytest.mark.parametrize(
    ("first", "later", "told"),
    [
        ({}, [{}, {}, {}], ["no progress", "STALLED, warning", "STALLED, tripped"]),
        ({}, [{"agent": "crash"}], ["no progress"]),
        ({}, [{"agent": "error"}], ["no progress"]),
        ({}, [EDIT], ["no progress"]),
        ({}, [{**EDIT, "outcomes": dict.fromkeys(RED, "skipped"), "signatures": {}}], ["no progress"]),
        ({}, [{**EDIT, **BROKEN}], ["no progress"]),
        (
            {},
            [{**EDIT, "outcomes": GREEN, "believed": False}, {"outcomes": GREEN, "believed": False, "tree": "other"}],
            ["PROGRESS, healthy", "no progress"],
        ),
        ({}, [{**EDIT, "outcomes": BETTER}], ["PROGRESS, healthy"]),
        (BROKEN, [EDIT], ["PROGRESS, healthy"]),
        ({}, [{**EDIT, "tasks": {"done": 1}}], ["PROGRESS, healthy"]),
        ({}, [{**EDIT, "outcomes": GREEN}, {"outcomes": GREEN, "tree": "other"}], ["PROGRESS, healthy"] * 2),
        ({}, [{**EDIT, "tree": str(number)} for number in range(3)], ["no progress"] * 2 + ["SPINNING"]),
    ],
    ids=[
        *("idle", "crashed", "outage", "edit without effect", "skipped", "not collected", "rejected and idle"),
        *("mended", "collected again", "task", "green and idle", "spins"),
    ],
)
def test_what_is_said_of_each_iteration(first: dict[str, Any], later: list[dict[str, Any]], told: list[str]) -> None:
    assert said(first, *later) == told


def test_a_cell_of_a_table_has_the_word_alone() -> None:
    assert health_word({"health": "PROGRESS", "level": "healthy", "events": {"file_changed": 1}}) == "no progress"
    assert health_word({"health": "DEGRADED", "level": "healthy", "events": {"newly_passing": 1}}) == "DEGRADED"
    # a loop of an earlier version kept less
    assert health_word({"health": "PROGRESS", "level": "healthy"}) == "no progress"
