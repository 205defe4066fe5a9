"""The failures of runs, grouped by what one fix would cure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fireloop.observe.differences import Difference, differences
from pytest_fireloop.observe.record import CollectionError, Failure, RunRecord


@dataclass(frozen=True, slots=True)
class CauseGroup:
    """Failures with one cause; the shortest message first among them is the representative's."""

    cause: str
    nodeids: tuple[str, ...]
    representative: Failure
    signatures: int
    differs: tuple[Difference, ...] = ()


def group_by_cause(*records: RunRecord) -> tuple[CauseGroup, ...]:
    """Group the failures of one run or several, collection errors included, the loudest cause first."""
    by_cause: dict[str, list[Failure]] = {}
    runs: dict[str, set[str]] = {}
    for record in records:
        for failure in (*record.failures, *map(_as_failure, record.collection_errors)):
            by_cause.setdefault(failure.cause, []).append(failure)
            runs.setdefault(failure.cause, set()).add(record.environment)
    groups = [
        _group(cause, failures, sorted(runs[cause]) if len(records) > 1 else ()) for cause, failures in by_cause.items()
    ]
    return tuple(sorted(groups, key=lambda group: (-len(group.nodeids), group.cause)))


def _group(cause: str, failures: Sequence[Failure], runs: Sequence[str]) -> CauseGroup:
    nodeids = tuple(sorted({node for failure in failures for node in failure.nodeids}))
    shortest = min(failures, key=lambda failure: (len(failure.message), failure.signature))
    signatures = len({failure.signature for failure in failures})
    return CauseGroup(cause, nodeids, shortest, signatures, differences(failures, runs))


def _as_failure(error: CollectionError) -> Failure:
    return Failure(
        error.signature, error.cause or error.signature, (error.path,), error.exception, error.message, error.path
    )


def failure_files(record: RunRecord) -> dict[str, list[str]]:
    """Return the files that each cause points at: those of its frames less the tests' own, else the tests' own."""
    found: dict[str, list[str]] = {}
    for group in group_by_cause(record):
        tests = {node.partition("::")[0] for node in group.nodeids}
        frames = {frame.partition(" in ")[0].rpartition(":")[0] for frame in group.representative.frames}
        found[group.cause] = sorted(frames - tests - {""}) or sorted(tests)
    return found
