"""One iteration on one line."""

from __future__ import annotations

from pytest_fireloop.agents.agent import Outcome
from pytest_fireloop.judge.judge import Decision
from pytest_fireloop.observe.changes import ChangeSet
from pytest_fireloop.observe.delta import compare
from pytest_fireloop.observe.record import RunRecord
from pytest_fireloop.observe.text import plural
from pytest_fireloop.show.health import health_and_level
from pytest_fireloop.show.summary import record_line


def iteration_line(
    number: int, outcome: Outcome, *, before: RunRecord, after: RunRecord, changes: ChangeSet, decision: Decision
) -> str:
    """Say what the agent did, what the tests say, and what the judge made of it."""
    delta = compare(before, after)
    agent = outcome.status if not outcome.detail else f"{outcome.status} ({outcome.detail})"
    parts = [
        f"iteration {number}: agent {agent}",
        f"{plural(len(changes.files), 'file')} changed",
        f"{record_line(after)} (+{len(delta.newly_passing)} -{len(delta.newly_failing)})",
        f"score {decision.score:+d}, {health_and_level(decision.to_json())}",
    ]
    if not after.complete and after.incomplete_reason:
        parts.append(after.incomplete_reason)
    return "; ".join(parts)
