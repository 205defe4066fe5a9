"""What is said of a loop's health after one iteration; what is stored keeps the judge's five words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PROGRESS, HEALTHY = "PROGRESS", "healthy"
#: Said in place of the judge's word, which is that of every iteration that no other state fits.
NOTHING = "no progress"
#: Events that are progress; an edit alone is none.
GAINS = frozenset({"newly_passing", "task_done", "error_gone"})


def health_word(decision: Mapping[str, Any]) -> str:
    """Return the state of an iteration; progress is only said where something got better, or nothing is left to do."""
    health = str(decision["health"])
    idle = not decision.get("green") and GAINS.isdisjoint(decision.get("events") or ())
    return NOTHING if health == PROGRESS and idle else health


def health_and_level(decision: Mapping[str, Any]) -> str:
    """Return the state with the level of the circuit, which is only called healthy beside progress."""
    word, level = health_word(decision), decision["level"]
    return word if level == HEALTHY and word != PROGRESS else f"{word}, {level}"
