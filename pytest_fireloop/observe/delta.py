"""What changed between two runs, test by test."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from pytest_fireloop.observe.record import GREEN, RED, RunRecord


@dataclass(frozen=True, slots=True)
class Delta:
    """Node ids by what became of them, each sorted."""

    newly_passing: tuple[str, ...] = ()
    newly_failing: tuple[str, ...] = ()
    still_failing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    newly_skipped: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the delta as it stands in a run record."""
        return {name: list(getattr(self, name)) for name in self.__slots__}


def compare(before: RunRecord, after: RunRecord, known_flaky: Collection[str] = ()) -> Delta:
    """Compare two runs; a test that a partial or incomplete run does not show is unknown, never removed or fixed."""
    old, new = before.outcomes, after.outcomes
    both = old.keys() & new.keys()
    whole = before.scope == after.scope and _whole(before) and _whole(after)
    flaky = set(known_flaky) | {test.nodeid for test in after.tests if test.reruns and test.outcome in GREEN}
    return Delta(
        newly_passing=_sorted(node for node in both - flaky if old[node] in RED and new[node] in GREEN),
        newly_failing=_sorted(node for node in both - flaky if old[node] not in RED and new[node] in RED),
        still_failing=_sorted(node for node in both if old[node] in RED and new[node] in RED),
        added=_sorted(new.keys() - old.keys()) if _whole(before) and before.scope == after.scope else (),
        removed=_sorted(old.keys() - new.keys() - set(after.not_run)) if whole else (),
        newly_skipped=_sorted(node for node in both if old[node] != "skipped" and new[node] == "skipped"),
        flaky=_sorted(flaky & new.keys()),
    )


def _whole(record: RunRecord) -> bool:
    return record.complete and not record.partial and not record.collection_errors


def _sorted(nodes: Any) -> tuple[str, ...]:
    return tuple(sorted(nodes))
