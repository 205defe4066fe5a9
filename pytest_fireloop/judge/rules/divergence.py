"""Confidence rises while the reward falls: a reason to look more closely, not to stop."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import FIRE_LOOP, Rule, Threshold, View


def measure(view: View) -> Evidence | None:
    """Return by how much confidence rose over the last iterations, when the reward fell over the same ones."""
    number = view.count("divergence_iterations")
    last = view.acts[-number:]
    if len(last) < number:
        return None
    sure, paid = slope([step.confidence for step in last]), slope([step.reward for step in last])
    if not sure > 0 > paid:
        return None
    return Evidence("divergence", sure, 0, view.last(number), numbers={"confidence": sure, "reward": paid})


def slope(values: list[float]) -> float:
    """Return the slope of the least squares line through values at equal distances."""
    middle = (len(values) - 1) / 2
    below = sum((place - middle) ** 2 for place in range(len(values)))
    return sum((place - middle) * value for place, value in enumerate(values)) / below if below else 0.0


RULE = Rule(
    120,
    "divergence",
    "confidence rises while results get worse",
    (Threshold("divergence_iterations", balanced=3, strict=None, aggressive=3),),
    measure,
    f"{FIRE_LOOP}, step 7",
    lambda _: 0.0,
    stagnation=False,
    opens=False,
)
