"""A tool was refused again and again."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import SKILL, Rule, Threshold, View, one_step_earlier


def measure(view: View) -> Evidence:
    """Count the iterations in a row with a refusal; one in which a test got better did without the tool."""
    count = view.run(lambda step: step.permission_denials > 0 and not step.newly_passing)
    total = sum(step.permission_denials for step in view.acts[-count:]) if count else 0
    return Evidence(
        "permission_denials", count, view.count("permission_denials"), view.last(count), numbers={"denials": total}
    )


RULE = Rule(
    50,
    "permission_denials",
    "the agent was refused a tool in {value:g} iterations in a row",
    (Threshold("permission_denials", balanced=3, strict=3, aggressive=3),),
    measure,
    SKILL,
    one_step_earlier("permission_denials"),
)
