"""Nothing meaningful changed and no test got better."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import SKILL, Rule, Threshold, View, one_step_earlier


def measure(view: View) -> Evidence | None:
    """Count the idle iterations in a row; crashes alone are for the rule of the dead agent."""
    count = view.run(lambda step: step.idle)
    if count and count == view.run(lambda step: step.crashed):
        return None
    return Evidence("no_progress", count, view.count("no_progress"), view.last(count))


RULE = Rule(
    40,
    "no_progress",
    "{value:g} iterations in a row in which nothing meaningful changed and no test got better",
    (Threshold("no_progress", balanced=3, strict=3, aggressive=2),),
    measure,
    SKILL,
    one_step_earlier("no_progress"),
)
