"""The failures of one run, grouped by what one fix would cure."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fireloop.observe.record import Failure, RunRecord


@dataclass(frozen=True, slots=True)
class CauseGroup:
    """Failures with one cause, the shortest message first among them as the representative."""

    cause: str
    nodeids: tuple[str, ...]
    representative: Failure
    signatures: int


def group_by_cause(record: RunRecord) -> tuple[CauseGroup, ...]:
    """Group a run's failures, collection errors included, the loudest cause first."""
    by_cause: dict[str, list[Failure]] = {}
    for failure in record.failures:
        by_cause.setdefault(failure.cause, []).append(failure)
    groups = []
    for cause, failures in by_cause.items():
        nodeids = tuple(sorted({node for failure in failures for node in failure.nodeids}))
        shortest = min(failures, key=lambda failure: (len(failure.message), failure.signature))
        groups.append(CauseGroup(cause, nodeids, shortest, len(failures)))
    for error in record.collection_errors:
        failure = Failure(error.signature, error.signature, (error.path,), "", error.message, error.path)
        groups.append(CauseGroup(error.signature, (error.path,), failure, 1))
    return tuple(sorted(groups, key=lambda group: (-len(group.nodeids), group.cause)))
