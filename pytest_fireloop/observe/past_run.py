"""What is kept of a run for the next one to be compared with: far less than its record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_fireloop.observe.record import RecordError, RunRecord


@dataclass(frozen=True, slots=True)
class PastRun:
    """An earlier run as far as deltas and flakiness need it; `tree` names what it ran on."""

    rootdir: str
    scope: str
    complete: bool
    partial: bool
    collection_errors: tuple[str, ...]
    outcomes: Mapping[str, str]
    coverage: Mapping[str, Any] | None = None
    tree: str | None = None
    flaky: frozenset[str] = frozenset()
    suspects: frozenset[str] = frozenset()

    @classmethod
    def from_json(cls, data: Mapping[str, Any], outcomes: Mapping[str, list[str]]) -> PastRun:
        """Read what `stored` made; raises RecordError for anything else."""
        try:
            return cls(
                data["rootdir"],
                data["scope"],
                bool(data["complete"]),
                bool(data["partial"]),
                tuple(row["path"] for row in data["collection_errors"]),
                {nodeid: said for said, nodeids in outcomes.items() for nodeid in nodeids},
                data.get("coverage"),
                data.get("tree"),
                frozenset(data.get("known_flaky", ())),
                frozenset(data.get("suspects", ())),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"damaged run: {type(error).__name__}: {error}") from error


def stored(record: RunRecord, additions: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return what is kept of a run: its summary with the additions, and node ids by outcome."""
    by_outcome: dict[str, list[str]] = {}
    for test in record.tests:
        by_outcome.setdefault(test.outcome, []).append(test.nodeid)
    summary = replace(record, tests=(), failures=(), not_run=()).to_json()
    return {**summary, "counts": record.counts, **additions}, by_outcome
