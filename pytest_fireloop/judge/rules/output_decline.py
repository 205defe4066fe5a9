"""Output and semantic progress together fall away from what they were at the start."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import FIRE_LOOP, SKILL, Rule, Threshold, View
from pytest_fireloop.judge.step import Step

#: How many iterations make the mean that the later ones are compared with.
FIRST = 3


def decline(view: View, number: int) -> float | None:
    """Return the decline that the last iterations have in common, None as long as there is no mean of the first."""
    last = view.acts[-number:]
    if len(view.first) < FIRST or len(last) < number or any(_is_no_answer(step) for step in last):
        return None
    lines = sum(count for count, _ in view.first) / FIRST
    weight = view.limits["output_weight"]
    base = weight + (1 - weight) * sum(progress for _, progress in view.first) / FIRST
    return min(
        1 - (weight * step.output_lines / lines + (1 - weight) * semantic_progress(step)) / base for step in last
    )


def measure(view: View) -> Evidence | None:
    """Return the decline of the last iterations; a single short answer is none, nor is one among those it is held against.

    Short answers that mend tests are what work looks like near its end, and idle iterations are another rule's matter.
    """
    number = view.count("output_iterations")
    found = decline(view, number)
    last = view.acts[-number:]
    if found is None or view.gained(view.count("window")):
        return None
    if any(step.idle or step.iteration <= view.first_until for step in last):
        return None
    numbers = {"first_lines": sum(count for count, _ in view.first) / FIRST, "lines": view.now.output_lines}
    return Evidence("output_decline", found, view.limits["output_decline"], view.last(number), numbers=numbers)


def _is_no_answer(step: Step) -> bool:
    """Whether the agent was cut off or died: then its output is short for another reason."""
    return step.crashed or step.agent == "timeout"


def semantic_progress(step: Step) -> float:
    """Return newly passing tests as a share of what failed before, 0 to 1."""
    return min(1.0, len(step.newly_passing) / step.failing_before) if step.failing_before else 0.0


RULE = Rule(
    90,
    "output_decline",
    "output and progress fell by {value:.0%} from where they began",
    (
        Threshold("output_decline", balanced=0.7, strict=0.7, aggressive=0.4, unit="share"),
        Threshold("output_warning", balanced=0.5, strict=None, aggressive=0.3, unit="share"),
        Threshold("output_weight", balanced=0.4, strict=None, aggressive=0.4, unit="share"),
        Threshold("output_iterations", balanced=2, strict=3, aggressive=2),
    ),
    measure,
    f"{SKILL}; warning and weight from {FIRE_LOOP}; two iterations are ours",
    lambda view: min(view.limits["output_warning"], view.limits["output_decline"]),
)
