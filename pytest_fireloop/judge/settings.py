"""Every threshold by name, in three profiles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_fireloop.judge.rules.rule import Threshold
from pytest_fireloop.judge.rules.table import RULES

HOUR = 3600.0
#: Thresholds of circuit and health; those of the rules stand with the rules. Sources: the circuit-breaker skill for
#: cooldown, doubling and the watch after closing; fire-loop for the health states; the cap is ours.
OWN = (
    Threshold("cooldown_s", balanced=HOUR / 2, strict=HOUR / 2, aggressive=HOUR / 2, unit="seconds"),
    Threshold("cooldown_cap_s", balanced=8 * HOUR, strict=8 * HOUR, aggressive=8 * HOUR, unit="seconds"),
    Threshold("watch", balanced=3, strict=3, aggressive=3),
    Threshold("stalled", balanced=2, strict=2, aggressive=2),
    Threshold("spinning", balanced=3, strict=3, aggressive=3),
    Threshold("degraded", balanced=0.5, strict=0.5, aggressive=0.5, unit="share"),
)
THRESHOLDS = {each.name: each for each in (*(limit for rule in RULES for limit in rule.thresholds), *OWN)}
PROFILES = ("balanced", "strict", "aggressive")
#: The words that name what a unit admits.
ADMITTED = {"count": "a whole number from 1", "share": "a number above 0 and up to 1", "seconds": "a number above 0"}


@dataclass(frozen=True, slots=True)
class Settings:
    """A profile and its thresholds: counts are iterations, times seconds, shares lie between 0 and 1."""

    profile: str
    limits: Mapping[str, float]

    @classmethod
    def for_profile(cls, name: str, **overrides: Any) -> Settings:
        """Return a profile with single thresholds replaced; raises ValueError for an unknown name or a wrong value."""
        if name not in PROFILES:
            raise ValueError(f"unknown profile {name!r}; known are {', '.join(PROFILES)}")
        limits: dict[str, float] = {}
        for threshold in THRESHOLDS.values():
            value = getattr(threshold, name)
            if value is not None:
                limits[threshold.name] = value
        for key, value in overrides.items():
            if key not in limits:
                raise ValueError(f"unknown threshold {key!r} in profile {name}; known are {', '.join(sorted(limits))}")
            if not admitted(THRESHOLDS[key], value):
                raise ValueError(f"threshold {key} is {value!r}, must be {ADMITTED[THRESHOLDS[key].unit]}")
            limits[key] = value
        if limits["cooldown_s"] > limits["cooldown_cap_s"]:
            if "cooldown_cap_s" in overrides:
                raise ValueError("threshold cooldown_s is above cooldown_cap_s")
            limits["cooldown_cap_s"] = limits["cooldown_s"]
        return cls(name, limits)

    def __getitem__(self, name: str) -> float:
        """Return a threshold by its name."""
        return self.limits[name]


def admitted(threshold: Threshold, value: Any) -> bool:
    """Whether a value can be this threshold's."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        return False
    if threshold.unit == "count":
        return value == int(value)
    return threshold.unit == "seconds" or value <= 1


def admitted_for(profile: str, values: Mapping[str, Any]) -> dict[str, float]:
    """Return the thresholds among some values that a profile has and that can be; a recording may hold other things."""
    return {
        name: value
        for name, value in values.items()
        if name in THRESHOLDS and getattr(THRESHOLDS[name], profile) is not None and admitted(THRESHOLDS[name], value)
    }
