"""What to try when stuck: strategies in the order of the circuit-breaker skill's table, escalation last."""

from __future__ import annotations

#: Kind of stagnation to its strategies, each a code and what the next prompt says.
STRATEGIES: dict[str, tuple[tuple[str, str], ...]] = {
    "no_progress": (
        ("fresh_analysis", "Analyse the failures afresh, from the code itself, and make a change."),
        ("split", "Break the stuck task into three or more smaller ones and solve the first."),
        ("skip", "Leave this failure for later and take the next one."),
    ),
    "identical_errors": (
        ("other_approach", "The same failure stays whatever was done: change the approach entirely."),
        ("environment", "Check whether the error comes from the environment rather than from the code."),
        ("known_issue", "Look for a known issue or workaround in the libraries involved."),
    ),
    "test_fix_loop": (
        ("assumptions", "Review what the tests assume; the fault is in the product until shown otherwise."),
        ("approach_flawed", "Check whether the way the product is built is flawed."),
        ("simplify", "Simplify what the implementation tries to do."),
    ),
    "circular_approach": (
        ("root_cause", "Step back: the same changes take turns. Find the root cause first."),
        ("untried", "Take an approach that was not tried yet."),
        ("minimal", "Reduce the change to the smallest version that works."),
    ),
}
#: Rules that share another kind's strategies.
KIND = {
    "permission_denials": "no_progress",
    "output_decline": "no_progress",
    "negative_score": "circular_approach",
    "no_net_progress": "circular_approach",
    "divergence": "identical_errors",
}


def strategy(reason: str, tried: int) -> str:
    """Return the code of the next strategy for a kind of stagnation, `escalate` when all were tried."""
    rows = STRATEGIES.get(KIND.get(reason, reason), STRATEGIES["no_progress"])
    return rows[tried][0] if tried < len(rows) else "escalate"


def advice(code: str) -> str:
    """Return what the next prompt says for a strategy."""
    for rows in STRATEGIES.values():
        for each, text in rows:
            if each == code:
                return text
    return "All strategies were tried: say what a person should decide."
