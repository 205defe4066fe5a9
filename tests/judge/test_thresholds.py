"""Every threshold has a name, a profile and a sensible range."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fireloop.judge.rules.table import RULES
from pytest_fireloop.judge.settings import THRESHOLDS, Settings, admitted_for


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("balanced", {"no_progress": 3, "identical_errors": 5, "output_decline": 0.7, "no_net_progress": 8}),
        ("aggressive", {"no_progress": 2, "identical_errors": 3, "output_decline": 0.4, "no_net_progress": 6}),
        ("strict", {"no_progress": 3, "identical_errors": 5, "output_decline": 0.7, "permission_denials": 3}),
    ],
)
def test_the_profiles(profile: str, expected: dict[str, float]) -> None:
    settings = Settings.for_profile(profile)
    assert {name: settings[name] for name in expected} == expected
    assert (settings["cooldown_s"], settings["cooldown_cap_s"]) == (1800, 28800)


def test_aggressive_is_nowhere_more_patient() -> None:
    assert [each.name for each in THRESHOLDS.values() if each.aggressive > each.balanced] == []


def test_each_rule_has_a_reason_of_its_own_and_a_source() -> None:
    assert [rule.reason for rule in RULES] == [
        "agent_unavailable",
        "blocked",
        "integrity",
        "no_progress",
        "permission_denials",
        "test_fix_loop",
        "circular_approach",
        "identical_errors",
        "output_decline",
        "negative_score",
        "no_net_progress",
        "divergence",
    ]
    assert all(rule.source for rule in RULES)


@pytest.mark.parametrize(
    ("profile", "overrides", "message"),
    [
        ("lenient", {}, "unknown profile 'lenient'; known are balanced, strict, aggressive"),
        ("balanced", {"idle": 3}, "unknown threshold 'idle' in profile balanced; known are agent_crashes, "),
        ("strict", {"no_net_progress": 3}, "unknown threshold 'no_net_progress' in profile strict; "),
        ("balanced", {"no_progress": 0}, "threshold no_progress is 0, must be a whole number from 1"),
        ("balanced", {"no_progress": 2.5}, "threshold no_progress is 2.5, must be a whole number from 1"),
        ("balanced", {"test_share": 80}, "threshold test_share is 80, must be a number above 0 and up to 1"),
        ("balanced", {"cooldown_s": float("nan")}, "threshold cooldown_s is nan, must be a number above 0"),
        ("balanced", {"cooldown_s": True}, "threshold cooldown_s is True, must be a number above 0"),
        ("balanced", {"cooldown_s": 60, "cooldown_cap_s": 30}, "threshold cooldown_s is above cooldown_cap_s"),
    ],
)
def test_a_wrong_threshold_is_named(profile: str, overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"threshold|profile") as caught:
        Settings.for_profile(profile, **overrides)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_long_cooldown_lifts_the_cap() -> None:
    assert Settings.for_profile("balanced", cooldown_s=36_000)["cooldown_cap_s"] == 36_000


def test_what_a_recording_holds_beside_thresholds_is_left_out() -> None:
    held = {"no_progress": 4, "max_iterations": 50, "no_net_progress": 9, "window": "three"}
    assert admitted_for("balanced", held) == {"no_progress": 4, "no_net_progress": 9}
    assert admitted_for("strict", held) == {"no_progress": 4}
