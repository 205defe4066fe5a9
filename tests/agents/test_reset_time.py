"""When a limit ends, by the words and numbers that agents use."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from pytest_fireloop.agents.reset_time import LONGEST_S, epoch, reset_at

#: Monday, 2026-11-30, 12:00 UTC.
NOW = 1_796_040_000.0
HOUR = 3600.0


@pytest.mark.parametrize(
    ("text", "after_s"),
    [
        ("You\u2019ve hit your usage limit. Upgrade to Pro or try again at 4:09 PM.", 4 * HOUR + 540),
        ("try again at 4:09 AM", 16 * HOUR + 540),
        ("try again at Dec 2nd, 2026 8:09 AM.", 44 * HOUR + 540),
        ("5-hour limit reached ∙ resets 2am", 14 * HOUR),
        ("You've hit your limit · resets 4pm (Asia/Kuala_Lumpur)", 20 * HOUR),
        ("You've hit your session limit · resets 12:50am (America/Los_Angeles)", 20 * HOUR + 3000),
        ("resets Dec 1, 7pm (Asia/Riyadh)", 28 * HOUR),
        ("limit reached, resets Thu 9:30am (UTC)", 69.5 * HOUR),
        ("resets at 13:30 UTC", 1.5 * HOUR),
        ("Claude AI usage limit reached|1796050000", 10_000.0),
        ('{"resets_at": 1796050000}', 10_000.0),
        ('{"resetsAt":1796050000000}', 10_000.0),
        ('{"resets_in_seconds": 90}', 90.0),
        ("retry-after: 20", 20.0),
        ("Retrying in 2.5 seconds...", 2.5),
        ("Please try again in 2 hours.", 2 * HOUR),
        ("Please try again in 6m0s.", 360.0),
        ("Please try again in 250ms", 0.25),
        ("Your quota will reset after 1h2m3s.", HOUR + 123),
        ("try again in 3 days, 4 hours and 5 minutes", 76 * HOUR + 300),
        ("resets Jan 2, 9am", LONGEST_S),
        ("Claude AI usage limit reached|1111111111", 0.0),
        ("resets in 400 days", LONGEST_S),
    ],
)
def test_what_agents_say(text: str, after_s: float) -> None:
    assert reset_at(text, NOW, UTC) == pytest.approx(NOW + after_s)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Rate limit reached. Please try again later.",
        "resets 7",
        "try again at 25:99",
        "resets Feb 31, 9am",
        "reset the password at 4 of the tests",
        "5-hour limit",
        "try again at noon",
    ],
)
def test_what_says_nothing(text: str) -> None:
    assert reset_at(text, NOW, UTC) is None


def test_a_clock_without_a_zone_is_the_given_one() -> None:
    assert reset_at("resets 4pm", NOW, timezone(timedelta(hours=3))) == NOW + HOUR
    assert reset_at("resets 4pm (No/Such_Zone)", NOW, UTC) == NOW + 4 * HOUR


def test_a_date_of_next_year_is_found() -> None:
    now = datetime(2026, 12, 30, 12, tzinfo=UTC).timestamp()
    assert reset_at("resets Jan 2, 9am", now, UTC) == datetime(2027, 1, 2, 9, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("value", [None, 0.0, -5.0])
def test_a_number_that_is_no_time(value: float | None) -> None:
    assert epoch(value, NOW) is None
