"""What to try when stuck: strategies in the order of the circuit-breaker skill's table, escalation last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ESCALATE = "escalate"


@dataclass(frozen=True, slots=True)
class Strategy:
    """A code, and what the next prompt says."""

    code: str
    advice: str


#: Kind of stagnation to its strategies, in order.
STRATEGIES: Mapping[str, tuple[Strategy, ...]] = {
    "no_progress": (
        Strategy("fresh_analysis", "Analyse the failures afresh, from the code itself, and make a change."),
        Strategy("split", "Break the stuck task into three or more smaller ones and solve the first."),
        Strategy("skip", "Leave this failure for later and take the next one."),
    ),
    "identical_errors": (
        Strategy("other_approach", "The same failure stays whatever was done: change the approach entirely."),
        Strategy("environment", "Check whether the error comes from the environment rather than from the code."),
        Strategy("known_issue", "Look for a known issue or workaround in the libraries involved."),
    ),
    "test_fix_loop": (
        Strategy("assumptions", "Review what the tests assume; the fault is in the product until shown otherwise."),
        Strategy("approach_flawed", "Check whether the way the product is built is flawed."),
        Strategy("simplify", "Simplify what the implementation tries to do."),
    ),
    "circular_approach": (
        Strategy("root_cause", "Step back: the same changes take turns. Find the root cause first."),
        Strategy("untried", "Take an approach that was not tried yet."),
        Strategy("minimal", "Reduce the change to the smallest version that works."),
    ),
}
LAST = Strategy(ESCALATE, "All strategies were tried: say what a person should decide.")
#: Rules that share another kind's strategies.
KIND = {
    "permission_denials": "no_progress",
    "output_decline": "no_progress",
    "agent_unavailable": "no_progress",
    "negative_score": "circular_approach",
    "no_net_progress": "circular_approach",
}
ADVICE = {each.code: each.advice for row in (*STRATEGIES.values(), (LAST,)) for each in row}


def kind_of(rule: str) -> str:
    """Return the kind of stagnation that a rule sees."""
    return KIND.get(rule, rule if rule in STRATEGIES else "no_progress")


def strategy(rule: str, tried: int) -> str:
    """Return the code of the next strategy for what a rule sees, `escalate` when all were tried."""
    rows = STRATEGIES[kind_of(rule)]
    return rows[tried].code if tried < len(rows) else ESCALATE


def advice(code: str) -> str:
    """Return what the next prompt says for a strategy."""
    return ADVICE.get(code, LAST.advice)
