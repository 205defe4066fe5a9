"""The metrics of a loop with their alerts: phase 6 of the circuit-breaker skill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pytest_fireloop.judge.rules.output_decline import FIRST
from pytest_fireloop.judge.rules.rule import View
from pytest_fireloop.judge.step import Step

#: Alert thresholds as the skill has them: iterations for one task, iterations in a row, decline of output, calls left.
LONG, IN_A_ROW, DECLINE, CALLS_LEFT = 20, 3, 0.7, 0.2


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of an iteration; None where it is not known, and then it never alerts."""

    name: str
    value: float | None
    alert: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the metric as JSON."""
        return {"name": self.name, "value": self.value, "alert": self.alert}


@dataclass(frozen=True, slots=True)
class Row:
    """How one metric is read from the steps, and when it alerts; both see the calls that are left as a share, or None."""

    name: str
    value: Callable[[View, float | None], float | None]
    alert: Callable[[View, float | None], bool]


def pass_rate(step: Step) -> float | None:
    """Return the share of known tests that pass, flaky ones left out, None without tests."""
    total = step.passing + len(step.failing)
    return step.passing / total if total else None


def _moves(values: Sequence[float | None], sign: int) -> bool:
    """Whether a value rose (1) or fell (-1) in each of the last iterations."""
    last = [value for value in values[-IN_A_ROW - 1 :] if value is not None]
    return len(last) > IN_A_ROW and all(sign * (new - old) > 0 for old, new in pairwise(last))


def _all_of_last(view: View, holds: Callable[[Step], bool]) -> bool:
    return view.run(holds) >= IN_A_ROW


def _output_lost(view: View) -> bool:
    if len(view.first) < FIRST:
        return False
    mean = sum(lines for lines, _ in view.first) / FIRST
    return mean > 0 and view.now.output_lines <= (1 - DECLINE) * mean


METRICS: tuple[Row, ...] = (
    Row("loop_count", lambda view, _: view.now.iteration, lambda view, _: view.now.iteration > LONG),
    Row(
        "tasks_completed",
        lambda view, _: view.now.tasks,
        lambda view, _: _all_of_last(view, lambda step: step.tasks == 0),
    ),
    Row(
        "files_modified",
        lambda view, _: view.now.files,
        lambda view, _: _all_of_last(view, lambda step: not step.files),
    ),
    Row(
        "test_pass_rate",
        lambda view, _: pass_rate(view.now),
        lambda view, _: _moves([pass_rate(step) for step in view.steps], -1),
    ),
    Row(
        "error_frequency",
        lambda view, _: len(view.now.failing),
        lambda view, _: _moves([len(step.failing) for step in view.steps], 1),
    ),
    Row("output_volume", lambda view, _: view.now.output_lines, lambda view, _: _output_lost(view)),
    Row("calls_remaining", lambda _, left: left, lambda _, left: left is not None and left < CALLS_LEFT),
    Row(
        "progress_score",
        lambda view, _: view.now.score,
        lambda view, _: _all_of_last(view, lambda step: step.score < 0),
    ),
)


def metrics(view: View, calls_left: float | None) -> tuple[Metric, ...]:
    """Return all metrics of an iteration; `calls_left` is the share of the agent's calls that is left, 0 to 1."""
    return tuple(Metric(row.name, row.value(view, calls_left), row.alert(view, calls_left)) for row in METRICS)
