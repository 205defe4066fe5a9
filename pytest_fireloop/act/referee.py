"""The referee of `pytest --fire-loop`: each run is one iteration of the loop in this tree."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fireloop.act.checkpoints import Checkpoint, Checkpoints
from pytest_fireloop.act.retention import is_due, prune
from pytest_fireloop.inside.scope import OVERRIDES, PATHS
from pytest_fireloop.observe.changes import ChangeSet
from pytest_fireloop.observe.delta import Delta, compare, on_the_same_tree, turned
from pytest_fireloop.observe.past_run import PastRun, stored
from pytest_fireloop.observe.record import RecordError, RunRecord
from pytest_fireloop.observe.test_files import predicate_of, with_data
from pytest_fireloop.remember.journal import PLUGIN, Journal

if TYPE_CHECKING:
    from pytest_fireloop.act.open_loop import OpenLoop
    from pytest_fireloop.judge.decision import Decision
    from pytest_fireloop.observe.integrity.finding import Finding

#: Codes of a run that showed nothing about the tree: interrupted, an internal error, a wrong option.
NO_EVIDENCE = frozenset({None, 2, 3, 4})


@dataclass(frozen=True, slots=True)
class Judged:
    """What one run came to; without a loop there is no decision, without an earlier run no delta."""

    record: RunRecord
    loop_id: str | None = None
    iteration: int | None = None
    delta: Delta | None = None
    changes: ChangeSet | None = None
    since_start: ChangeSet | None = None
    coverage: Mapping[str, Any] | None = None
    decision: Decision | None = None
    findings: tuple[Finding, ...] = ()
    forbidden: bool = False

    @property
    def tripped(self) -> bool:
        """Whether this run opens the circuit."""
        return self.decision is not None and self.decision.stop is not None

    def integrity(self) -> dict[str, Any]:
        """Return what the comparison with the loop's first run came to, as the journal keeps it."""
        verdict = "warned" if self.findings else "clean"
        findings = [finding.to_json() for finding in self.findings]
        return {"verdict": "rejected" if self.forbidden else verdict, "where": "", "reason": "", "findings": findings}

    def additions(self) -> dict[str, Any]:
        """Return what the judgement adds to the run record."""
        added: dict[str, Any] = {}
        if self.delta is not None:
            added["delta"] = self.delta.to_json()
        if self.changes is not None:
            added["changes"] = self.changes.to_json()
        if self.since_start is not None:
            added["changes_since_start"] = self.since_start.to_json()
        if self.coverage is not None:
            added["coverage"] = dict(self.coverage)
        if self.decision is not None:
            said = self.decision.to_json()
            added |= {name: said[name] for name in ("score", "window_score", "health", "level", "circuit")}
        return added


class Referee:
    """Judges one finished run; opened for it and closed after it."""

    def __init__(self, tree: Path, state: Path, *, profile: str, forbid: bool, outputs: Collection[str] = ()) -> None:
        self._forbid, self._outputs = forbid, frozenset(outputs)
        self._profile, self._state = profile, state
        self.journal = Journal(state / "journal.sqlite")
        self._checkpoints = Checkpoints.open(state / "checkpoints.git", tree)
        # one run asks for the same difference more than once
        self._difference = cache(self._checkpoints.changes)

    def close(self) -> None:
        """Close the journal."""
        self.journal.close()

    def judge(self, record: RunRecord, *, forced: bool) -> Judged:
        """Compare, score and remember one run, and return what it came to."""
        earlier = self._earlier(record)
        current = self._open_loop(record.environment)
        if current is None:
            self._checkpoints.refresh_rules()
        checkpoint = self._without_outputs(self._checkpoints.take(f"run {record.run_id}"))
        delta, flakiness = _delta(earlier, record, checkpoint)
        findings = self._findings(current, record, checkpoint)
        weakened = any(finding.severity == "blocker" for finding in findings)
        judged = Judged(
            record,
            delta=delta,
            coverage=_coverage(earlier, record),
            findings=findings,
            forbidden=self._forbid and weakened,
        )
        if current is not None:
            judged = replace(
                judged,
                changes=self._changes(str(current.last["checkpoint"]), record, checkpoint),
                since_start=self._changes(current.start, record, checkpoint),
            )
            if not forced and self._is_iteration(current, record, checkpoint):
                judged = self._iterate(current, judged, checkpoint)
            if not weakened and _ends(current, record):
                self.journal.end_loop(current.loop_id, "green", {"iterations": len(current.rows)})
        elif not record.green and (record.red or record.collection_errors):
            judged = replace(judged, loop_id=self._begin(record, checkpoint), iteration=0)
        kept = stored(record, {**judged.additions(), **flakiness, "tree": checkpoint.tree})
        self.journal.add_run(record.environment, record.scope, *kept)
        if is_due(self.journal, self._checkpoints):
            self._prune()
        return judged

    def _prune(self) -> None:
        """Drop old loops, unless a loop works on this tree: what it is about to store looks like what nobody wants."""
        from pytest_fireloop.act.lock import LockedError, TreeLock

        try:
            lock = TreeLock(self._state)
        except LockedError:
            return
        try:
            prune(self._state, self.journal, self._checkpoints)
        finally:
            lock.release()

    def _iterate(self, current: OpenLoop, judged: Judged, checkpoint: Checkpoint) -> Judged:
        number = len(current.rows)
        assert judged.changes is not None
        flaky = judged.delta.flaky if judged.delta else ()
        facts = _facts(number, judged.record, judged.changes, checkpoint, flaky)
        if current.clock_back_at is not None:
            facts["clock_back_at"] = current.clock_back_at
        # another scope shows other tests, and those of the loop's own are not gone; a whole run after parts shows all
        other = judged.record.scope != current.scope and not current.shows_parts
        facts["partial"] = facts["partial"] or other
        decision = current.decide(facts)
        row = {
            "facts": facts,
            "decision": decision.to_json(),
            "checkpoint": checkpoint.commit,
            "scope": judged.record.scope,
            "integrity": judged.integrity(),
        }
        self.journal.add_iteration(current.loop_id, number, row)
        return replace(judged, decision=decision, iteration=number, loop_id=current.loop_id)

    def _begin(self, record: RunRecord, checkpoint: Checkpoint) -> str:
        loop_id = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(2).hex()}"
        facts = _facts(0, record, ChangeSet.of(()), checkpoint, ())
        data = {"environment": record.environment, "profile": self._profile}
        self.journal.begin_loop(loop_id, PLUGIN, data)
        row = {"facts": facts, "decision": None, "checkpoint": checkpoint.commit, "scope": record.scope}
        self.journal.add_iteration(loop_id, 0, row)
        return loop_id

    def _open_loop(self, environment: str) -> OpenLoop | None:
        row = self.journal.open_loop(PLUGIN, environment)
        if row is None:
            return None
        # imported where there is something to judge: most runs of a good suite have no loop
        from pytest_fireloop.act.open_loop import fold

        return fold(self.journal, row, self._profile)

    def _is_iteration(self, current: OpenLoop, record: RunRecord, checkpoint: Checkpoint) -> bool:
        """Whether the run says something new: it ran, and does not only look at an unchanged tree from another side.

        From the same side is what the run before showed too; of parts, only those that the loop is about.
        """
        if record.exit_code in NO_EVIDENCE and not record.collection_errors:
            return False
        if current.last["facts"]["tree"] != checkpoint.tree:
            return True
        if record.partial and record.scope not in current.scopes:
            return False
        return self.journal.last_scope(record.environment) == record.scope

    def _earlier(self, record: RunRecord) -> PastRun | None:
        """Return the last run of this environment and scope, else its last run of any scope."""
        found = self.journal.last_run(record.environment, record.scope) or self.journal.last_run(record.environment)
        try:
            return PastRun.from_json(*found) if found else None
        except RecordError:
            return None

    def _without_outputs(self, checkpoint: Checkpoint) -> Checkpoint:
        """Name the tree by what an agent can have changed: reports that the run itself writes are left out."""
        if not self._outputs:
            return checkpoint
        files = self._checkpoints.files(checkpoint.commit)
        if self._outputs.isdisjoint(files):
            return checkpoint
        import hashlib

        rest = sorted(item for item in files.items() if item[0] not in self._outputs)
        return replace(checkpoint, tree=hashlib.sha1(repr(rest).encode("utf-8", "surrogatepass")).hexdigest())  # noqa: S324 - as git names trees

    def _changes(self, since: str, record: RunRecord, checkpoint: Checkpoint) -> ChangeSet:
        found = [each for each in self._difference(since, checkpoint.commit) if each.path not in self._outputs]
        if not found:
            return ChangeSet.of(())
        is_test = predicate_of(record.outcomes, [error.path for error in record.collection_errors])
        return ChangeSet.of(found, with_data(is_test, record.outcomes, self._checkpoints.files(checkpoint.commit)))

    def _findings(self, current: OpenLoop | None, record: RunRecord, checkpoint: Checkpoint) -> tuple[Finding, ...]:
        if current is None:
            return ()
        from pytest_fireloop.act.loop_comparison import compare_with_start

        paths = [change.path for change in self._difference(current.start, checkpoint.commit)]
        return compare_with_start(self._checkpoints, current, record, checkpoint.commit, paths, forbid=self._forbid)


def _delta(
    earlier: PastRun | None, record: RunRecord, checkpoint: Checkpoint
) -> tuple[Delta | None, dict[str, list[str]]]:
    """Return the delta, and what is known of flaky tests after it.

    One turn on an unchanged tree may have a cause outside the tree; a test that turns twice is flaky from then on.
    """
    if earlier is None:
        return None, {}
    delta = compare(earlier, record, earlier.flaky)
    if earlier.tree != checkpoint.tree or earlier.scope != record.scope:
        return delta, {"known_flaky": sorted(earlier.flaky.union(delta.flaky)), "suspects": sorted(earlier.suspects)}
    suspects = turned(delta)
    known = earlier.flaky.union(delta.flaky, suspects & earlier.suspects)
    return on_the_same_tree(delta), {"known_flaky": sorted(known), "suspects": sorted(suspects | earlier.suspects)}


def _ends(current: OpenLoop, record: RunRecord) -> bool:
    """Whether a run shows what the loop wants green: its own scope, or each test that was red in it.

    A loop that began with some paths or settings ends with the same ones; other partial runs end none.
    """
    same = record.scope in current.scopes
    narrowed = set(record.extra.get("narrowed_by") or ())
    if narrowed and narrowed <= {PATHS, OVERRIDES}:
        return record.sound and same
    return record.green and (same or current.covered_by(record.outcomes))


def _coverage(earlier: PastRun | None, record: RunRecord) -> dict[str, Any] | None:
    """Return the total and, where the run before of the same scope had one, the difference in percent points."""
    now = record.extra.get("coverage")
    if now is None:
        return None
    before = earlier.coverage if earlier and earlier.scope == record.scope else None
    delta = None if before is None else round(now["total"] - before["total"], 2)
    return {"total": now["total"], "delta": delta}


def _facts(
    number: int, record: RunRecord, changes: ChangeSet, checkpoint: Checkpoint, flaky: tuple[str, ...]
) -> dict[str, Any]:
    # imported where there is a loop: most runs of a good suite have none
    from pytest_fireloop.act.measure import Observation, trace_iteration
    from pytest_fireloop.agents.agent import Outcome

    outcome = Outcome("ok") if number else None
    return trace_iteration(Observation(number, time.time(), outcome, record, changes, checkpoint.tree, flaky))
