"""Why a rule spoke, in one sentence for people."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.table import RULES

SENTENCES = {rule.reason: rule.sentence for rule in RULES}


def sentence(evidence: Evidence) -> str:
    """Return what was measured, over which iterations, and a test that shows it."""
    text = SENTENCES[evidence.rule].format(value=evidence.value, threshold=evidence.threshold)
    numbers = evidence.iterations
    span = f" (iterations {numbers[0]} to {numbers[-1]})" if len(numbers) > 1 else ""
    return f"{text}{span}" + (f", as in {evidence.nodes[0]}" if evidence.nodes else "")


def reason(found: Sequence[Evidence]) -> str:
    """Return the first rule's sentence, which is the one that decided."""
    return sentence(found[0]) if found else "no further evidence"
