"""The last iterations together lost more than they brought."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import SKILL, Rule, Threshold, View


def measure(view: View) -> Evidence | None:
    """Sum up the window, once it is full and unless more tests pass than before it.

    Taking a change back is how a wrong way ends: it is no loss here, only repeated failures are.
    """
    number = view.count("window")
    if len(view.acts) < number or view.gained(number):
        return None
    window = view.acts[-number:]
    total = sum(max(0, step.score) if step.taken_back else step.score for step in window)
    numbers = {"window_score": sum(step.score for step in window), "passing": view.now.passing}
    return Evidence("negative_score", -total, 1, view.last(number), numbers=numbers) if total < 0 else None


RULE = Rule(
    100,
    "negative_score",
    "the last iterations lost {value:g} points and gained no test",
    (Threshold("window", balanced=3, strict=3, aggressive=3),),
    measure,
    SKILL,
)
