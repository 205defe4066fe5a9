"""Calls of a rolling hour, and the waits after calls that never reached the model."""

from __future__ import annotations

import pytest

from pytest_fireloop.judge.allowance import HOUR, Allowance, allowance, pause

NOW = 1_000_000.0


@pytest.mark.parametrize(
    ("ago", "limit", "expected", "warns"),
    [
        ([], 5, Allowance(0, 5), False),
        ([10, 20, 30], 5, Allowance(3, 5), False),
        ([10, 20, 30, 40], 5, Allowance(4, 5), True),
        ([10, 20, 30, 40, 50], 5, Allowance(5, 5, NOW - 50 + HOUR), True),
        ([10, 20, 30, 40, 50, 60, 70], 5, Allowance(7, 5, NOW - 50 + HOUR), True),
        ([HOUR, HOUR + 1, 10], 2, Allowance(1, 2), False),
        ([-500, 10], 2, Allowance(2, 2, NOW - 10 + HOUR), True),
        ([1], 1, Allowance(1, 1, NOW - 1 + HOUR), True),
    ],
)
def test_the_calls_of_the_last_hour(ago: list[float], limit: int, expected: Allowance, warns: bool) -> None:
    found = allowance([NOW - each for each in ago], limit, NOW)
    assert found == expected
    assert found.warns is warns
    assert found.left == pytest.approx(max(0.0, 1 - expected.used / limit))


@pytest.mark.parametrize(
    ("status", "in_a_row", "reset_at", "seconds"),
    [
        ("ok", 0, None, 0),
        ("timeout", 1, None, 0),
        ("crash", 3, None, 0),
        ("error", 1, None, 5),
        ("error", 3, None, 20),
        ("error", 50, None, 300),
        ("rate_limited", 1, None, 60),
        ("rate_limited", 2, None, 120),
        ("rate_limited", 9, None, 3600),
        ("rate_limited", 5_000, None, 3600),
        ("rate_limited", 1, NOW + 900, 900),
        ("rate_limited", 1, NOW - 900, 1),
        ("rate_limited", 1, NOW + 1e9, 7 * 86_400),
        ("error", 1, NOW + 900, 5),
    ],
)
def test_waits(status: str, in_a_row: int, reset_at: float | None, seconds: float) -> None:
    assert pause(status, in_a_row, reset_at, NOW) == seconds
