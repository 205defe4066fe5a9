"""A dead agent is no stagnation, and no iteration more would help."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import OURS, Rule, Threshold, View, one_step_earlier


def measure(view: View) -> Evidence:
    """Count the crashes in a row that left nothing; an agent that is not there counts as all of them."""
    limit = view.count("agent_crashes")
    crashes = max(limit, view.crashes) if view.now.agent == "unavailable" else view.crashes
    return Evidence("agent_unavailable", crashes, limit, view.last(view.crashes))


RULE = Rule(
    10,
    "agent_unavailable",
    "the agent crashed {value:g} times in a row and left nothing",
    (Threshold("agent_crashes", balanced=3, strict=None, aggressive=3),),
    measure,
    OURS,
    one_step_earlier("agent_crashes"),
    stagnation=False,
)
