"""Metrics with their alerts, the risk of stagnation, and what the failures look like."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fireloop.judge.difficulty import Difficulty, difficulty
from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.judge import Decision, begin, decide
from pytest_fireloop.judge.metrics import METRICS
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.show.status import ALERTS, alerts

RED = {"t::a": "failed", "t::b": "failed", "t::c": "passed", "t::d": "passed", "t::e": "passed"}


def last(*rows: dict[str, Any], profile: str = "balanced") -> Decision:
    """Judge iterations that, unless they say otherwise, change a file each and leave the tests as they are."""
    made = [
        {
            "iteration": number,
            "at": number * 10.0,
            "agent": "ok",
            "outcomes": RED,
            "signatures": {"t::a": f"s{number}", "t::b": "x"},
            "changed": {"shop.py": [2, 1]},
            "tree": f"tree {number}",
            "approach": f"way {number}",
            "output_lines": 100,
            **row,
        }
        for number, row in enumerate(({}, *rows))
    ]
    state = begin(Facts.from_json(made[0]), Settings.for_profile(profile))
    for row in made[1:]:
        state, decision = decide(state, Facts.from_json(row))
    return decision


def alerting(decision: Decision) -> set[str]:
    return {metric.name for metric in decision.metrics if metric.alert}


def value(decision: Decision, name: str) -> float | None:
    return next(metric.value for metric in decision.metrics if metric.name == name)


def outcomes(passed: int, total: int = 6) -> dict[str, str]:
    return {f"t::{number}": "passed" if number < passed else "failed" for number in range(total)}


#: New tests that fail come one by one, or old ones are mended one by one: nothing that opens the circuit.
FALLING = [{"outcomes": outcomes(5, total)} for total in (6, 7, 8, 10)]
MENDING = [{"outcomes": outcomes(number, 30)} for number in range(1, 22)]
NO_FILE: list[dict[str, Any]] = [{"changed": {}, "tree": "tree 0", "approach": None}] * 3


@pytest.mark.parametrize(
    ("name", "rows", "number", "alert"),
    [
        ("loop_count", MENDING[:20], 20, False),
        ("loop_count", MENDING, 21, True),
        ("tasks_completed", [{}] * 4, None, False),
        ("tasks_completed", [{"tasks": {"done": 1}}] * 3, 0, False),
        ("tasks_completed", [{"tasks": {"done": 1}}] * 4, 0, True),
        ("tasks_completed", [{"tasks": {"done": 1}}] * 3 + [{"tasks": {"done": 2}}], 1, False),
        ("files_modified", NO_FILE[:2], 0, False),
        ("files_modified", NO_FILE, 0, True),
        ("files_modified", [{"changed": {"a.py": [1, 0], "b.py": [0, 2], "c.py": [0, 0]}}], 2, False),
        ("test_pass_rate", FALLING[1:3], 5 / 8, False),
        ("test_pass_rate", FALLING, 0.5, True),
        ("test_pass_rate", [*FALLING[:3], FALLING[2]], 5 / 8, False),
        ("error_frequency", FALLING[:3], 3, False),
        ("error_frequency", FALLING, 5, True),
        ("output_volume", [{}] * 3 + [{"output_lines": 31}], 31, False),
        ("output_volume", [{}] * 3 + [{"output_lines": 30}], 30, True),
        ("output_volume", [{}, {"output_lines": 1}], 1, False),
        ("calls_remaining", [{}], None, False),
        ("calls_remaining", [{"calls_left": 0.2}], 0.2, False),
        ("calls_remaining", [{"calls_left": 0.19}], 0.19, True),
        ("progress_score", NO_FILE[:2], -5, False),
        ("progress_score", NO_FILE, -5, True),
    ],
)
def test_each_metric_alerts_at_its_threshold(
    name: str, rows: list[dict[str, Any]], number: float | None, alert: bool
) -> None:
    if name == "progress_score":
        rows = [{**row, "signatures": {"t::a": "s0", "t::b": "x"}} for row in rows]
    found = last(*rows)
    assert value(found, name) == (None if number is None else pytest.approx(number))
    assert (name in alerting(found)) is alert


def test_each_alert_has_its_words() -> None:
    assert set(ALERTS) == {row.name for row in METRICS}
    found = last(*NO_FILE).to_json()
    assert alerts(found) == ["no file modified in 3 iterations", "3 negative scores in a row"]


@pytest.mark.parametrize(
    ("rows", "level", "rule"),
    [
        ([{}], "LOW", "no_net_progress"),
        ([{"outcomes": {**RED, "t::a": "passed"}}], "LOW", None),
        (NO_FILE[:1], "LOW", "no_progress"),
        ([{}] * 4, "MEDIUM", "no_net_progress"),
        (NO_FILE[:2], "HIGH", "no_progress"),
        (NO_FILE, "HIGH", "no_progress"),
        ([{"outcomes": dict.fromkeys(RED, "passed")}], "LOW", None),
    ],
)
def test_the_risk_grows_with_the_way_to_the_nearest_rule(
    rows: list[dict[str, Any]], level: str, rule: str | None
) -> None:
    risk = last(*rows).risk
    assert (risk.level, risk.rule) == (level, rule)
    assert 0 <= risk.share <= 1
    assert (risk.share == 1) == (len(rows) == 3)


def red(**files: list[str]) -> Facts:
    return Facts(1, outcomes=RED, failure_files={name: tuple(paths) for name, paths in files.items()})


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (red(a=["x.py"]), Difficulty("SIMPLE", "SEQUENTIAL", 1, 1)),
        (red(a=["x.py"], b=["x.py"]), Difficulty("SIMPLE", "SEQUENTIAL", 1, 1)),
        (red(a=["x.py"], b=["y.py"]), Difficulty("MODERATE", "PARALLEL", 2, 2)),
        (red(a=["x.py", "y.py"], b=["y.py", "z.py"]), Difficulty("MODERATE", "SEQUENTIAL", 3, 1)),
        (red(a=["x.py"], b=["y.py"], c=["y.py"]), Difficulty("MODERATE", "MIXED", 2, 2)),
        (red(a=["x.py"], c=["z.py"], b=["x.py", "z.py"]), Difficulty("MODERATE", "SEQUENTIAL", 2, 1)),
        (red(**{name: [f"{name}.py"] for name in "abcde"}), Difficulty("MODERATE", "PARALLEL", 5, 5)),
        (red(**{name: [f"{name}.py"] for name in "abcdef"}), Difficulty("COMPLEX", "PARALLEL", 6, 6)),
        (red(a=[f"{name}.py" for name in "abcdef"]), Difficulty("COMPLEX", "SEQUENTIAL", 6, 1)),
        (Facts(1, outcomes={"a.py::t": "failed", "a.py::u": "failed"}), Difficulty("SIMPLE", "SEQUENTIAL", 1, 1)),
        (Facts(1, outcomes={"a.py::t": "failed", "b.py::u": "error"}), Difficulty("MODERATE", "PARALLEL", 2, 2)),
        (Facts(1, collection_errors={"a.py": "s"}), Difficulty("SIMPLE", "SEQUENTIAL", 1, 1)),
        (Facts(1, outcomes={"a.py::t": "passed"}), None),
        (Facts(1), None),
    ],
)
def test_difficulty_and_parallelism_come_from_the_files_of_the_failures(
    facts: Facts, expected: Difficulty | None
) -> None:
    assert difficulty(facts) == expected
