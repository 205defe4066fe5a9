"""Nearly all work goes into the tests, and they still fail."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import SKILL, Rule, Threshold, View
from pytest_fireloop.judge.step import Step


def measure(view: View) -> Evidence | None:
    """Return the share of changed lines in test files over the last changing iterations, of which this must be one."""
    number = view.count("test_iterations")
    changing = [step for step in view.acts if step.lines and step.changed][-number:]
    if len(changing) < number or not view.now.failing or not view.now.lines:
        return None
    # tests that are mended through the product, iteration by iteration, are no loop, however long the test files are
    if sum(_mends(step) for step in changing) >= number - 1:
        return None
    total, tests = sum(step.lines for step in changing), sum(step.test_lines for step in changing)
    limit = view.limits["test_share"]
    # the limit itself is still allowed
    return (
        Evidence(
            "test_fix_loop",
            tests / total,
            limit,
            tuple(step.iteration for step in changing),
            numbers={"test_lines": tests, "lines": total},
        )
        if tests > limit * total
        else None
    )


def _mends(step: Step) -> bool:
    return step.lines > step.test_lines and len(step.newly_passing) > len(step.newly_failing)


RULE = Rule(
    60,
    "test_fix_loop",
    "{value:.0%} of the changed lines are in tests, more than {threshold:.0%}, and tests still fail",
    (
        Threshold("test_share", balanced=0.8, strict=0.8, aggressive=0.8, unit="share"),
        Threshold("test_iterations", balanced=3, strict=3, aggressive=3),
    ),
    measure,
    SKILL,
)
