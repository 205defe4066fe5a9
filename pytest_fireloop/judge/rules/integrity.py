"""Tests or configuration were changed in a way that no later run makes good."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import OURS, Rule, View


def measure(view: View) -> Evidence:
    """Count the findings of this iteration that block."""
    return Evidence("integrity", len(view.now.integrity), 1, view.last(1), view.now.integrity[:5])


RULE = Rule(30, "integrity", "the tests themselves were tampered with", (), measure, OURS, stagnation=False)
