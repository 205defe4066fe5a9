"""Every threshold by name, in three profiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Settings:
    """Thresholds of the judge; counts are iterations, times are seconds, shares lie between 0 and 1.

    The defaults are `balanced`. Sources: the circuit-breaker skill for 3 idle, 5 identical errors, 70 % decline, 3
    denials, 80 % test edits, 30 minutes and doubling; fire-loop for the 50 % warning and the semantic weight; the rest
    is ours, fitted to labelled loops.
    """

    profile: str = "balanced"
    no_progress: int = 3
    identical_errors: int = 5
    output_decline: float = 0.7
    output_warning: float = 0.5
    output_weight: float = 0.4
    permission_denials: int = 3
    test_share: float = 0.8
    test_iterations: int = 3
    no_net_progress: int = 8
    agent_crashes: int = 3
    window: int = 3
    watch: int = 3
    cooldown_s: float = 1800.0
    cooldown_cap_s: float = 8 * 3600.0
    spinning: int = 3
    stalled: int = 2

    @classmethod
    def for_profile(cls, name: str, **overrides: Any) -> Settings:
        """Return a profile with single thresholds replaced; raises ValueError for an unknown name or a wrong value."""
        if name not in PROFILES:
            raise ValueError(f"unknown profile {name!r}; known are {', '.join(PROFILES)}")
        known = {field.name for field in fields(cls)} - {"profile"}
        for key, value in overrides.items():
            if key not in known:
                raise ValueError(f"unknown threshold {key!r}; known are {', '.join(sorted(known))}")
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise ValueError(f"threshold {key} = {value!r}: must be a number above 0")
        return replace(cls(profile=name), **{**PROFILES[name], **overrides})


PROFILES: Mapping[str, Mapping[str, Any]] = {
    "balanced": {},
    "strict": {},
    "aggressive": {"no_progress": 2, "identical_errors": 3, "output_decline": 0.4, "no_net_progress": 6},
}
