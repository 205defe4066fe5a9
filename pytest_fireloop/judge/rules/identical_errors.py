"""The failing set with its signatures does not change."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import SKILL, Rule, Threshold, View, one_step_earlier


def measure(view: View) -> Evidence:
    """Count the iterations in a row after which the failures are the same as before."""
    count = view.run(lambda step: step.same_failures)
    nodes = tuple(sorted(view.now.failing))[:5]
    return Evidence("identical_errors", count, view.count("identical_errors"), view.last(count), nodes)


RULE = Rule(
    80,
    "identical_errors",
    "exactly the same failures {value:g} times in a row",
    (Threshold("identical_errors", balanced=5, strict=5, aggressive=3),),
    measure,
    SKILL,
    one_step_earlier("identical_errors"),
)
