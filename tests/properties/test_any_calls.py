"""Whenever calls are made, the limit of an hour holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fireloop.judge.allowance import HOUR, allowance

NOW = 1_000_000.0


@given(st.lists(st.floats(0, 3 * HOUR), max_size=40), st.integers(1, 20))
def test_the_limit_is_never_passed_in_any_hour(steps: list[float], limit: int) -> None:
    now = NOW
    times: list[float] = []
    for step in steps:
        now += step
        found = allowance(times, limit, now)
        # one moment later, for the window's end belongs to none of both
        now = now if found.wait_until is None else found.wait_until + 1e-3
        assert allowance(times, limit, now).wait_until is None
        times.append(now)
        assert sum(at > now - HOUR for at in times) <= limit
