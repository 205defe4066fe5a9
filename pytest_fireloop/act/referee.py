"""The referee of `pytest --fire-loop`: each run is one iteration of the loop in this tree."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_fireloop.act.checkpoints import Checkpoint, Checkpoints
from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.judge import Admission, Decision, State, admit, begin, decide
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.judge.verdict import exit_code_of_run
from pytest_fireloop.observe.changes import ChangeSet
from pytest_fireloop.observe.delta import Delta, compare
from pytest_fireloop.observe.integrity.compare import compare as compare_tests
from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.record import GREEN, RecordError, RunRecord
from pytest_fireloop.observe.test_files import is_configuration, predicate_of
from pytest_fireloop.remember.journal import Journal

KIND = "plugin"


@dataclass(frozen=True, slots=True)
class Judged:
    """What one run came to; without a loop there is no decision, without an earlier run no delta."""

    exit_code: int
    record: RunRecord
    loop_id: str | None = None
    iteration: int | None = None
    delta: Delta | None = None
    changes: ChangeSet | None = None
    decision: Decision | None = None
    findings: tuple[Finding, ...] = ()

    def additions(self) -> dict[str, Any]:
        """Return what the judgement adds to the run record."""
        added: dict[str, Any] = {}
        if self.delta is not None:
            added["delta"] = self.delta.to_json()
        if self.changes is not None:
            added["changes"] = self.changes.to_json()
        if self.decision is not None:
            said = self.decision.to_json()
            added |= {name: said[name] for name in ("score", "window_score", "health", "level", "circuit")}
        return added


@dataclass(slots=True)
class _Current:
    """The open loop of this environment, folded again from its facts."""

    loop_id: str
    started_at: str
    state: State
    rows: list[dict[str, Any]] = field(default_factory=list)


class Referee:
    """Opened for one run; `admission` is asked before the tests, `judge` after them."""

    def __init__(self, tree: Path, state: Path, *, profile: str, forbid: bool) -> None:
        self._tree, self._forbid = tree, forbid
        self._settings = Settings.for_profile(profile)
        self.journal = Journal(state / "journal.sqlite")
        self._checkpoints = Checkpoints.open(state / "checkpoints.git", tree)

    def close(self) -> None:
        """Close the journal."""
        self.journal.close()

    def admission(self, environment: str) -> Admission | None:
        """Return the circuit's word before a run, or None without an open loop."""
        current = self._current(environment)
        return admit(current.state, time.time()) if current else None

    def judge(self, data: Mapping[str, Any], *, forced: bool) -> Judged:
        """Compare, score and remember one run, and return what it came to."""
        record = RunRecord.from_json(data)
        previous = self._previous(record.environment)
        current = self._current(record.environment)
        if current is None:
            self._checkpoints.refresh_rules()
        checkpoint = self._checkpoints.take(f"run {record.run_id}")
        delta = compare(previous, record) if previous else None
        changes = self._changes(current, record, checkpoint)
        findings = self._findings(current, record, checkpoint)
        believable = record.complete or record.exit_code != 0
        weakened = any(finding.severity == "blocker" for finding in findings)
        blocked = self._forbid and weakened
        decision = number = loop_id = None
        if current is not None and not forced and not self._other_view(current, record, checkpoint):
            number, loop_id = len(current.rows), current.loop_id
            facts = _facts(number, record, changes, checkpoint, delta)
            _, decision = decide(current.state, Facts.from_json(facts))
            row = {
                "facts": facts,
                "decision": decision.to_json(),
                "checkpoint": checkpoint.commit,
                "scope": record.scope,
            }
            self.journal.add_iteration(loop_id, number, row)
        elif current is None and not record.green and (record.red or record.collection_errors):
            loop_id, number = self._begin(record, checkpoint), 0
        if current is not None and record.green and not weakened:
            self.journal.end_loop(current.loop_id, "green", {"iterations": len(current.rows)})
        tripped = decision is not None and decision.stop is not None
        exit_code = exit_code_of_run(record.exit_code or 0, believable=believable, forbidden=blocked, tripped=tripped)
        judged = Judged(exit_code, record, loop_id, number, delta, changes if previous else None, decision, findings)
        self.journal.add_run(record.environment, record.scope, {**record.to_json(), **judged.additions()})
        return judged

    def _begin(self, record: RunRecord, checkpoint: Checkpoint) -> str:
        loop_id = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
        facts = _facts(0, record, ChangeSet.of(()), checkpoint, None)
        data = {"environment": record.environment, "profile": self._settings.profile}
        self.journal.begin_loop(loop_id, KIND, data)
        row = {"facts": facts, "decision": None, "checkpoint": checkpoint.commit, "scope": record.scope}
        self.journal.add_iteration(loop_id, 0, row)
        return loop_id

    def _current(self, environment: str) -> _Current | None:
        for row in self.journal.loops(KIND):
            if row.data.get("environment") != environment:
                continue
            if row.verdict is not None:
                return None
            rows = self.journal.iterations(row.loop_id)
            state = begin(Facts.from_json(rows[0]["facts"]), self._settings)
            for each in rows[1:]:
                state, _ = decide(state, Facts.from_json(each["facts"]))
            return _Current(row.loop_id, rows[0]["checkpoint"], state, rows)
        return None

    def _previous(self, environment: str) -> RunRecord | None:
        data = self.journal.last_run(environment)
        try:
            return RunRecord.from_json(data) if data else None
        except RecordError:
            return None

    def _changes(self, current: _Current | None, record: RunRecord, checkpoint: Checkpoint) -> ChangeSet:
        if current is None:
            return ChangeSet.of(())
        found = self._checkpoints.changes(current.rows[-1]["checkpoint"], checkpoint.commit)
        return ChangeSet.of(found, is_test=predicate_of(record.outcomes))

    def _findings(self, current: _Current | None, record: RunRecord, checkpoint: Checkpoint) -> tuple[Finding, ...]:
        if current is None:
            return ()
        paths = [change.path for change in self._checkpoints.changes(current.started_at, checkpoint.commit)]
        old, new = self._checkpoints.files(current.started_at), self._checkpoints.files(checkpoint.commit)
        is_test = predicate_of(record.outcomes, [error.path for error in record.collection_errors])
        edited = [path for path in paths if self._forbid and path in old and is_test(path)]
        forbidden = [Finding.of("edit_forbidden", path, 0, "tests may not be edited") for path in edited]
        found = compare_tests(
            {path: self._checkpoints.read(current.started_at, path) for path in paths if path in old},
            {path: self._checkpoints.read(checkpoint.commit, path) for path in paths if path in new},
            is_test=is_test,
            is_configuration=is_configuration,
            passed=[node for node, said in record.outcomes.items() if said in GREEN],
        )
        return (*found, *forbidden)

    @staticmethod
    def _other_view(current: _Current, record: RunRecord, checkpoint: Checkpoint) -> bool:
        """Whether this run only looks at an unchanged tree from another side, which is no iteration."""
        last = current.rows[-1]
        return bool(last["facts"]["tree"] == checkpoint.tree and last["scope"] != record.scope)


def _facts(
    number: int, record: RunRecord, changes: ChangeSet, checkpoint: Checkpoint, delta: Delta | None
) -> dict[str, Any]:
    from pytest_fireloop.act.measure import Observation, trace_iteration
    from pytest_fireloop.agents.agent import Outcome

    outcome = Outcome("ok") if number else None
    flaky = delta.flaky if delta else ()
    return trace_iteration(Observation(number, time.time(), outcome, record, changes, checkpoint.tree, flaky))
