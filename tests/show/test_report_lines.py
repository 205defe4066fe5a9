"""What the report says of green and red runs, and of many iterations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.loop_report import report_of
from pytest_fireloop.remember.journal import RUNNER, LoopRow
from pytest_fireloop.show.report import report_lines

FINDING = {"severity": "blocker", "kind": "test_removed", "path": "t.py", "line": 1, "detail": "test_a is gone"}


Report = Callable[..., dict[str, Any]]


def iteration(number: int, *, green: bool | None, where: str = "", verdict: str = "rejected") -> dict[str, Any]:
    said = {"verdict": verdict, "where": where, "reason": "why", "findings": [FINDING]}
    row: dict[str, Any] = {"facts": {"iteration": number, "outcomes": {"t.py::a": "failed"}}, "integrity": said}
    return row if green is None else {**row, "green_in_place": green}


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """Report on a loop of some iterations that left the tree as it was."""
    (tmp_path / "tree").mkdir()
    checkpoints = Checkpoints.open(tmp_path / "checkpoints.git", tmp_path / "tree")
    commit = checkpoints.take("start").commit

    def report(*rows: dict[str, Any]) -> dict[str, Any]:
        start = {"facts": {"iteration": 0, "outcomes": {"t.py::a": "failed"}}}
        stored = [{**row, "checkpoint": commit} for row in (start, *rows)]
        return report_of(LoopRow("l", RUNNER, 0.0, 1.0, "false_green", {}), stored, checkpoints)

    return report


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([4], "iteration 4"),
        ([1, 2], "iterations 1 and 2"),
        ([1, 3], "iterations 1 and 3"),
        ([1, 2, 3], "iterations 1 to 3"),
        ([*range(1, 51)], "iterations 1 to 50"),
        ([1, 3, 4, 5, 9], "iterations 1, 3 to 5 and 9"),
        ([1, 2, 7, 8, 9], "iterations 1, 2 and 7 to 9"),
    ],
)
def test_iterations_are_told_in_ranges(report: Report, numbers: list[int], text: str) -> None:
    lines = report_lines(report(*[iteration(number, green=True, where="room") for number in numbers]))
    assert f"  {text} (in the room): why" in lines
    assert any(line.endswith(f"test removed, t.py:1 ({text})") for line in lines)


def test_red_runs_are_not_called_green(report: Report) -> None:
    found = report(
        iteration(1, green=False),
        iteration(2, green=False),
        iteration(3, green=False, verdict="clean"),
        iteration(4, green=True, where="room"),
        # of a command that shows no tests a green run is verified nowhere
        iteration(5, green=True),
        # of an earlier version
        iteration(6, green=None, where="in_place"),
        iteration(7, green=None),
    )
    assert [each["iterations"] for each in found["rejected"]] == [[4], [5], [6]]
    assert found["red_with_blockers"] == [1, 2, 7]
    lines = report_lines(found)
    start = lines.index("red runs with edits for which no green run would be believed")
    assert lines[start + 1] == "  iterations 1, 2 and 7: see the comparison with the start"
    assert "green runs that were not believed" in lines[:start]


def test_where_all_runs_were_red_none_is_called_green(report: Report) -> None:
    lines = report_lines(report(iteration(1, green=False)))
    assert "green runs that were not believed" not in lines
    assert "red runs with edits for which no green run would be believed" in lines
