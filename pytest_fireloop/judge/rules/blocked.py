"""What only a person can mend: the agent cannot authenticate, or says itself that it needs one."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.facts import PERSON_NEEDED
from pytest_fireloop.judge.rules.rule import FIRE_LOOP, Rule, View


def measure(view: View) -> Evidence:
    """Say whether the agent's own status, never a word in some output, asks for a person."""
    return Evidence("blocked", float(view.now.agent in PERSON_NEEDED), 1, view.last(1))


RULE = Rule(20, "blocked", "only a person can help the agent on", (), measure, FIRE_LOOP, stagnation=False)
