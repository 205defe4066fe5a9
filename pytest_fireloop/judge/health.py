"""The five health states."""

from __future__ import annotations

from pytest_fireloop.judge.facts import PERSON_NEEDED
from pytest_fireloop.judge.rules.output_decline import decline
from pytest_fireloop.judge.rules.rule import View
from pytest_fireloop.judge.settings import Settings

BLOCKED, SPINNING, DEGRADED, STALLED, PROGRESS = "BLOCKED", "SPINNING", "DEGRADED", "STALLED", "PROGRESS"


def health(view: View, settings: Settings) -> str:
    """Return the state of highest priority: BLOCKED, SPINNING, DEGRADED, STALLED, else PROGRESS."""
    if view.now.agent in PERSON_NEEDED:
        return BLOCKED
    if view.now.green:
        return PROGRESS
    same = view.run(lambda step: step.same_failures)
    if same >= settings["spinning"] and any(step.changed for step in view.acts[-int(settings["spinning"]) :]):
        return SPINNING
    lost = decline(view, 1) if "output_weight" in view.limits else None
    if lost is not None and lost >= settings["degraded"]:
        return DEGRADED
    return STALLED if view.run(lambda step: step.idle) >= settings["stalled"] else PROGRESS
