"""The time of a loop, with a clock that is set."""

from __future__ import annotations

import time

import pytest

from pytest_fireloop.act.time_limit import TimeLimit


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(
    ("at", "call", "run"),
    [
        (1000.0, 60.0, 60.0),
        (1070.0, 30.0, 60.0),  # as long as the tests may need, however little is left
        (1100.0, 0.0, 60.0),
        (1500.0, 0.0, 60.0),
    ],
)
def test_what_is_left_for_a_call_and_for_a_run(clock: list[float], at: float, call: float, run: float) -> None:
    limit = TimeLimit(100.0, started=1000.0)
    limit.run_s = 40.0
    clock[0] = at
    assert (limit.for_call(60.0), limit.for_tests(60.0)) == (call, run)
    assert limit.over is (at > 1100.0)


def test_a_run_whose_tests_are_known_to_be_short_has_half_a_minute(clock: list[float]) -> None:
    limit = TimeLimit(100.0, started=1000.0)
    limit.run_s = 0.2
    clock[0] = 1200.0
    assert limit.for_tests(1800.0) == 30.0
    assert limit.for_tests(10.0) == 10.0


def test_the_first_run_has_what_is_left(clock: list[float]) -> None:
    limit = TimeLimit(100.0, started=1000.0)
    clock[0] = 1080.0
    assert limit.for_tests(1800.0) == 20.0
