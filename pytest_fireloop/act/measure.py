"""Makes the facts of one iteration, as a trace holds them, from what was observed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fireloop.agents.agent import Outcome
from pytest_fireloop.observe.changes import ChangeSet
from pytest_fireloop.observe.record import RunRecord


@dataclass(frozen=True, slots=True)
class Observation:
    """One iteration as it was seen; `outcome` is None for the baseline, `record` for tests that could not run."""

    iteration: int
    at: float
    outcome: Outcome | None
    record: RunRecord | None
    changes: ChangeSet
    tree: str
    flaky: Collection[str] = ()
    promise: bool = False
    integrity: Sequence[str] = ()


def trace_iteration(seen: Observation) -> dict[str, Any]:
    """Return the facts in the trace format."""
    record, outcome = seen.record, seen.outcome
    facts: dict[str, Any] = {
        "iteration": seen.iteration,
        "at": seen.at,
        "agent": outcome.status if outcome else None,
        "outcomes": record.outcomes if record else None,
        "signatures": {test.nodeid: test.signature for test in record.tests if test.signature} if record else {},
        "collection_errors": {error.path: error.signature for error in record.collection_errors} if record else {},
        "changed": {change.path: [change.added, change.removed] for change in seen.changes.files},
        "tree": seen.tree,
        "approach": seen.changes.approach,
        "output_lines": outcome.output_lines if outcome else 0,
        "permission_denials": outcome.permission_denials if outcome else 0,
        "promise": seen.promise,
        "flaky": sorted(seen.flaky),
        "partial": bool(record and record.partial),
        "test_paths": sorted(change.path for change in seen.changes.files if change.kind == "test"),
        "meaningful": any(change.meaningful for change in seen.changes.files) if seen.changes.files else True,
    }
    if outcome and outcome.tokens is not None:
        facts["tokens"] = outcome.tokens
    if outcome and outcome.usd is not None:
        facts["usd"] = outcome.usd
    if seen.integrity:
        facts["integrity"] = list(seen.integrity)
    return facts
