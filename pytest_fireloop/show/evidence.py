"""Why a rule spoke, in one sentence for people."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fireloop.judge.evidence import Evidence

#: Rule to its sentence; filled with the value, the limit and the span of iterations.
SENTENCES = {
    "agent_unavailable": "the agent crashed {value:g} times in a row and left nothing",
    "blocked": "only a person can help the agent on",
    "integrity": "the tests themselves were tampered with",
    "no_progress": "{value:g} iterations in a row in which nothing meaningful changed and no test got better",
    "permission_denials": "the agent was refused a tool in {value:g} iterations in a row",
    "test_fix_loop": "{value:.0%} of the changed lines are in tests, more than {threshold:.0%}, and tests still fail",
    "circular_approach": "the same states take turns, twice round",
    "identical_errors": "exactly the same failures {value:g} times in a row",
    "output_decline": "output and progress fell by {value:.0%} from where they began",
    "negative_score": "the last iterations lost {value:g} points and gained no test",
    "no_net_progress": "{value:g} iterations without more passing tests than the best before",
    "divergence": "confidence rises while results get worse",
}


def sentence(evidence: Evidence) -> str:
    """Return what was measured, over which iterations, and a test that shows it."""
    text = SENTENCES[evidence.rule].format(value=evidence.value, threshold=evidence.threshold)
    numbers = evidence.iterations
    span = f" (iterations {numbers[0]} to {numbers[-1]})" if len(numbers) > 1 else ""
    return f"{text}{span}" + (f", as in {evidence.nodes[0]}" if evidence.nodes else "")


def reason(found: Sequence[Evidence]) -> str:
    """Return the first rule's sentence, which is the one that decided."""
    return sentence(found[0]) if found else "no further evidence"
