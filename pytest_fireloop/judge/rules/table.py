"""The table of rules, in the order in which they are asked; the first that holds gives the reason."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules import (
    agent_unavailable,
    blocked,
    circular_approach,
    divergence,
    edits_of_tests,
    identical_errors,
    integrity,
    negative_score,
    no_net_progress,
    no_progress,
    output_decline,
    permission_denials,
)
from pytest_fireloop.judge.rules.rule import Rule, View

RULES: tuple[Rule, ...] = (
    agent_unavailable.RULE,
    blocked.RULE,
    integrity.RULE,
    no_progress.RULE,
    permission_denials.RULE,
    edits_of_tests.RULE,
    circular_approach.RULE,
    identical_errors.RULE,
    output_decline.RULE,
    negative_score.RULE,
    no_net_progress.RULE,
    divergence.RULE,
)


def opening(view: View) -> tuple[Evidence, ...]:
    """Return the evidence of every rule that opens the circuit, in the order of the table."""
    found = (rule.measure(view) for rule in _asked(view) if rule.opens)
    return tuple(evidence for evidence in found if evidence is not None and evidence.value >= evidence.threshold)


def warnings(view: View) -> tuple[tuple[Rule, Evidence], ...]:
    """Return the rules that are one step from opening, with their evidence."""
    found = []
    for rule in _asked(view):
        evidence = rule.measure(view) if rule.warns_at else None
        if rule.warns_at is not None and evidence is not None and evidence.value >= rule.warns_at(view):
            found.append((rule, evidence))
    return tuple(found)


def _asked(view: View) -> tuple[Rule, ...]:
    return tuple(rule for rule in RULES if not (rule.stagnation and view.now.green))
