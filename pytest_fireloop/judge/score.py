"""The score of one iteration: events added up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """Points of one event, how often it counts at most in one iteration, and where it comes from."""

    points: int
    most: int | None
    source: str


SKILL = "circuit-breaker skill, phase 2"
#: What an iteration gains and loses. A regression costs, for without that fixing one test and breaking another scores
#: well for ever; files are capped, for large edits alone are no progress.
EVENTS: Mapping[str, Event] = {
    "newly_passing": Event(3, None, SKILL),
    "task_done": Event(5, None, f"{SKILL}; only with evidence in tests or tree"),
    "file_changed": Event(1, 3, f"{SKILL}; the cap is ours"),
    "error_gone": Event(2, None, SKILL),
    "same_error": Event(-2, 1, SKILL),
    "no_file_changed": Event(-3, 1, SKILL),
    "taken_back": Event(-1, 1, f"{SKILL}; not for the way back to a better state"),
    "newly_failing": Event(-3, 2, "ours"),
    "new_approach": Event(1, 1, "ours"),
}


def counted(seen: Mapping[str, int]) -> dict[str, int]:
    """Return the events that happened, each as often as it counts."""
    found = {}
    for name, event in EVENTS.items():
        number = max(0, seen.get(name, 0))
        number = number if event.most is None else min(event.most, number)
        if number:
            found[name] = number
    return found


def score(events: Mapping[str, int]) -> int:
    """Return the sum of the points of counted events."""
    return sum(EVENTS[name].points * number for name, number in events.items())
