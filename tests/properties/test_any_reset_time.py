"""Whatever an agent says of the end of its limit, it is a time within bounds or none."""

from __future__ import annotations

from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from pytest_fireloop.agents.reset_time import LONGEST_S, reset_at

#: Monday, 2026-11-30, 12:00 UTC.
NOW = 1_796_040_000.0


@given(
    st.text(),
    st.sampled_from(["resets {} (UTC)", "try again in {}", "|{}", "try again at {}", "resets_at: {}", "resets {} 9pm"]),
)
def test_no_text_is_too_odd(text: str, place: str) -> None:
    found = reset_at(place.format(text), NOW, UTC)
    assert found is None or NOW <= found <= NOW + LONGEST_S
