"""What changed between two runs, test by test."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from pytest_fireloop.observe import identity
from pytest_fireloop.observe.past_run import PastRun
from pytest_fireloop.observe.record import GREEN, RED, RunRecord


@dataclass(frozen=True, slots=True)
class Delta:
    """Node ids by what became of them, each sorted; ids are the later run's, of removed tests the earlier's."""

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


def compare(before: PastRun | RunRecord, after: RunRecord, known_flaky: Collection[str] = ()) -> Delta:
    """Compare two runs; a test that a partial or incomplete run does not show is unknown, never removed or fixed.

    `known_flaky` are ids of either run; a known flaky test neither passes nor fails newly.
    """
    old_names = identity.rebased(before.outcomes, before.rootdir, after.rootdir)
    old = {old_names[nodeid]: said for nodeid, said in before.outcomes.items()}
    new = after.outcomes
    comparable = before.scope == after.scope and _whole(before)
    whole = comparable and _whole(after)
    pairing = identity.pair(old, new, whole=whole)
    known = {old_names.get(nodeid, nodeid) for nodeid in known_flaky} | set(known_flaky)
    shaky = {test.nodeid for test in after.tests if test.reruns and test.outcome in GREEN}
    flaky = shaky | {nodeid for nodeid in new if known and (nodeid in known or pairing.same.get(nodeid) in known)}

    moves = [
        (node, old[earlier], new[node])
        for node, earlier in pairing.same.items()
        if old[earlier] != new[node] or new[node] in RED
    ]
    return Delta(
        newly_passing=_sorted(n for n, was, said in moves if was in RED and said in GREEN and n not in flaky),
        newly_failing=_sorted(n for n, was, said in moves if was not in RED and said in RED and n not in flaky),
        still_failing=_sorted(n for n, was, said in moves if was in RED and said in RED),
        added=_sorted(pairing.fresh) if comparable else (),
        removed=_sorted(pairing.gone - set(after.not_run)) if whole else (),
        newly_skipped=_sorted(n for n, was, said in moves if was != "skipped" and said == "skipped"),
        flaky=_sorted(flaky),
    )


def turned(delta: Delta) -> frozenset[str]:
    """Return the tests that changed between red and green."""
    return frozenset(delta.newly_passing + delta.newly_failing)


def on_the_same_tree(delta: Delta) -> Delta:
    """Return the delta of two runs on one and the same tree, where a test that turned did so without any change."""
    return replace(delta, newly_passing=(), newly_failing=(), flaky=_sorted(turned(delta).union(delta.flaky)))


def _whole(record: PastRun | RunRecord) -> bool:
    return record.complete and not record.partial and not record.collection_errors


def _sorted(nodes: Any) -> tuple[str, ...]:
    return tuple(sorted(nodes))
