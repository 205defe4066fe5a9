"""Makes the facts of one iteration, as a trace holds them, from what was observed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fireloop.agents.agent import Outcome
from pytest_fireloop.observe.causes import failure_files
from pytest_fireloop.observe.changes import ChangeSet
from pytest_fireloop.observe.identity import stable_ids
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
    stable = stable_ids(record.outcomes) if record else {}
    facts: dict[str, Any] = {
        "iteration": seen.iteration,
        "at": seen.at,
        "agent": outcome.status if outcome else None,
        "outcomes": {stable[node]: said for node, said in record.outcomes.items()} if record else None,
        "signatures": {stable[test.nodeid]: test.signature for test in record.tests if test.signature}
        if record
        else {},
        "collection_errors": {error.path: error.signature for error in record.collection_errors} if record else {},
        "changed": {change.path: [change.added, change.removed] for change in seen.changes.files},
        "tree": seen.tree,
        "approach": seen.changes.approach,
        "output_lines": outcome.output_lines if outcome else 0,
        "permission_denials": outcome.permission_denials if outcome else 0,
        "promise": seen.promise,
        "flaky": sorted(stable.get(node, node) for node in seen.flaky),
        "partial": bool(record and (record.partial or _cut_short(record))),
        "test_paths": sorted(change.path for change in seen.changes.files if change.kind == "test"),
        "meaningful": any(change.meaningful for change in seen.changes.files) if seen.changes.files else True,
    }
    if record is not None and record.failures:
        facts["failure_files"] = failure_files(record)
    if outcome and outcome.tokens is not None:
        facts["tokens"] = outcome.tokens
    if outcome and outcome.usd is not None:
        facts["usd"] = outcome.usd
    if record is not None and not record.red and not record.sound_but(seen.flaky):
        facts["believed"] = False
    if seen.integrity:
        facts["integrity"] = list(seen.integrity)
    return facts


def _cut_short(record: RunRecord) -> bool:
    """Whether collected tests did not run, other than for files that could not be collected."""
    return bool(record.not_run or record.exit_code is None) and not record.collection_errors
