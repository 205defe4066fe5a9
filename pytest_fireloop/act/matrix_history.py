"""What earlier decisions on a matrix say about this one: the same judge, over the runs of each environment and of all."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_fireloop.act.measure import Observation, trace_iteration
from pytest_fireloop.act.open_loop import OpenLoop, fold
from pytest_fireloop.agents.agent import Outcome
from pytest_fireloop.judge.circuit import CLOSED
from pytest_fireloop.judge.facts import RED, Facts
from pytest_fireloop.judge.judge import Decision, begin, decide
from pytest_fireloop.judge.matrix import STUCK, EnvironmentDecision, History
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.observe.changes import ChangeSet
from pytest_fireloop.observe.delta import compare
from pytest_fireloop.observe.lost import lost_failures
from pytest_fireloop.observe.past_run import PastRun, stored
from pytest_fireloop.observe.record import RecordError
from pytest_fireloop.remember.journal import MATRIX, Journal
from pytest_fireloop.remember.journal_error import JournalDamagedError
from pytest_fireloop.show.evidence import reason

#: The one matrix that a folder holds.
NAME = "matrix"
#: Between an environment's name and a test's; names hold none.
BETWEEN = ": "
#: Stands for what changed between two revisions, of which nobody here knows more.
SOMETHING = {"(what changed since)": [1, 0]}
#: Ended loops that are kept.
KEPT = 50


class MatrixHistory:
    """Opened for one decision in one folder, and closed after it."""

    def __init__(self, folder: Path, profile: str) -> None:
        self._profile = profile
        self._journal = Journal(folder / "journal.sqlite")
        try:
            self._journal.check()
            row = self._journal.open_loop(MATRIX, NAME)
            self._loop: OpenLoop | None = fold(self._journal, row, profile) if row is not None else None
            self.red = self._red()
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            self._journal.close()
            raise self._journal.damaged(f"{type(error).__name__}: {error}") from error
        except JournalDamagedError:
            self._journal.close()
            raise

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def _red(self) -> list[str]:
        """Environments that were red in the last run of the open loop: without their reports nothing is green."""
        if self._loop is None:
            return []
        facts = self._loop.last["facts"]
        red = [node for node, said in (facts["outcomes"] or {}).items() if said in RED]
        return sorted({node.partition(BETWEEN)[0] for node in (*red, *facts["collection_errors"])})

    def compared(self, environments: Sequence[EnvironmentDecision]) -> list[EnvironmentDecision]:
        """Return the decisions with what changed in each environment since its last run."""
        return [self._compared(each) for each in environments]

    def judge(
        self, environments: Sequence[EnvironmentDecision], *, digest: str, revision: str, at: float
    ) -> tuple[list[EnvironmentDecision], History]:
        """Judge a run of the matrix whose reports are all there, and remember it.

        Reports that were judged already, by their digest, are no further iteration.
        """
        red = any(each.verdict in STUCK or each.verdict == "limit" for each in environments)
        if self._loop is not None and self._loop.last["digest"] == digest:
            return self._again(environments)
        if not red:
            if self._loop is not None and all(each.verdict == "green" for each in environments):
                self._journal.end_loop(self._loop.loop_id, "green", {"iterations": len(self._loop.rows)})
            self._store(environments)
            return list(environments), History()
        facts = self._facts(environments, revision, at)
        if self._loop is None:
            loop_id = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
            self._journal.begin_loop(loop_id, MATRIX, {"environment": NAME, "profile": self._profile})
            self._remember(loop_id, 0, facts, decision=None, digest=digest, revision=revision)
            self._store(environments)
            self._drop_old()
            return list(environments), History(None, loop_id, 0)
        decision = self._loop.decide(facts)
        number = len(self._loop.rows)
        alone = {each.name: self._alone(each, facts) for each in environments}
        if not decision.refused:
            self._remember(self._loop.loop_id, number, facts, decision=decision, digest=digest, revision=revision)
            self._store(environments)
        return self._told(environments, decision, alone, number)

    def _again(self, environments: Sequence[EnvironmentDecision]) -> tuple[list[EnvironmentDecision], History]:
        assert self._loop is not None
        said = self._loop.last["decision"]
        stop = (
            said["stop"] or (said["circuit"]["reason"] if said["circuit"]["state"] != CLOSED else None)
            if said
            else None
        )
        why = "these reports were judged already"
        return list(environments), History(stop, self._loop.loop_id, len(self._loop.rows) - 1, said, why)

    def _told(
        self,
        environments: Sequence[EnvironmentDecision],
        decision: Decision,
        alone: Mapping[str, Decision | None],
        number: int,
    ) -> tuple[list[EnvironmentDecision], History]:
        assert self._loop is not None
        told = []
        for each in environments:
            own = alone[each.name]
            if own is not None:
                each = replace(each, score=own.score, health=own.health, circuit=own.circuit.state)  # noqa: PLW2901
                if each.verdict == "limit" and (own.stop is not None or own.refused):
                    alone_why = reason(own.evidence) if own.evidence else f"its circuit is open: {own.circuit.reason}"
                    each = replace(each, verdict="circuit_open", reason=f"{each.reason}; {alone_why}")  # noqa: PLW2901
            told.append(each)
        stop = decision.stop or (decision.circuit.reason if decision.refused else None)
        why = reason(decision.evidence) if decision.evidence else None
        if decision.refused:
            why = "nothing is judged while the circuit cools down"
        return told, History(stop, self._loop.loop_id, number, decision.to_json(), why)

    def _alone(self, each: EnvironmentDecision, facts: Mapping[str, Any]) -> Decision | None:
        """Judge one environment since it was last green; None where there is nothing to compare a red run with."""
        assert self._loop is not None
        since: list[dict[str, Any]] = []
        for row in (*(row["facts"] for row in self._loop.rows), facts):
            part = _part(row, each.name)
            if part["outcomes"] or part["collection_errors"]:
                bad = part["collection_errors"] or not RED.isdisjoint(part["outcomes"].values())
                since = [*since, part] if bad else []
        if len(since) < 2:
            return None
        state = begin(Facts.from_json({**since[0], "iteration": 0}), Settings.for_profile(self._profile))
        decision = None
        for number, part in enumerate(since[1:], start=1):
            state, decision = decide(state, Facts.from_json({**part, "iteration": number}))
        return decision

    def _facts(self, environments: Sequence[EnvironmentDecision], revision: str, at: float) -> dict[str, Any]:
        number = len(self._loop.rows) if self._loop is not None else 0
        waits = [each.verdict == "blocked" for each in environments if each.verdict != "green"]
        status = "blocked" if all(waits) and waits else "ok"
        facts: dict[str, Any] = {
            **trace_iteration(
                Observation(number, at, Outcome(status) if number else None, None, ChangeSet.of(()), revision)
            ),
            "outcomes": {},
            "flaky": [],
            "changed": {} if revision and self._last_revision == revision else dict(SOMETHING),
            "test_paths": [],
            "meaningful": True,
        }
        for each in environments:
            if each.record is None:
                continue
            own = trace_iteration(Observation(number, at, None, each.record, ChangeSet.of(()), "", each.flaky))
            for name in ("outcomes", "signatures", "collection_errors"):
                facts[name] |= {f"{each.name}{BETWEEN}{node}": said for node, said in own[name].items()}
            facts["flaky"] += [f"{each.name}{BETWEEN}{node}" for node in own["flaky"]]
        shown = {each.name for each in environments}
        facts["partial"] = self._loop is not None and not set(self._loop.last["environments"]) <= shown
        return facts

    @property
    def _last_revision(self) -> str | None:
        return str(self._loop.last["revision"]) if self._loop is not None else None

    def _remember(
        self, loop_id: str, number: int, facts: dict[str, Any], *, decision: Decision | None, digest: str, revision: str
    ) -> None:
        names = sorted({node.partition(BETWEEN)[0] for node in (*facts["outcomes"], *facts["collection_errors"])})
        row = {
            "facts": facts,
            "decision": decision.to_json() if decision else None,
            "checkpoint": None,
            "scope": "",
            "digest": digest,
            "revision": revision,
            "environments": names,
        }
        self._journal.add_iteration(loop_id, number, row)

    def _compared(self, each: EnvironmentDecision) -> EnvironmentDecision:
        found = self._journal.last_run(f"{NAME}{BETWEEN}{each.name}")
        if found is None or each.record is None:
            return each
        try:
            before = PastRun.from_json(*found)
        except RecordError:
            return each
        known = replace(before, outcomes={**self._known(each.name), **before.outcomes})
        return replace(each, delta=compare(before, each.record), lost=lost_failures(known, each.record))

    def _known(self, name: str) -> dict[str, str]:
        """Return what tests of an environment came to, those too that a run could not show whose files broke."""
        known: dict[str, str] = {}
        for row in self._loop.rows if self._loop is not None else ():
            part = _part(row["facts"], name)
            if part["outcomes"] or part["collection_errors"]:
                known = {**(known if part["collection_errors"] else {}), **part["outcomes"]}
        return known

    def _store(self, environments: Sequence[EnvironmentDecision]) -> None:
        for each in environments:
            if each.record is not None:
                self._journal.add_run(f"{NAME}{BETWEEN}{each.name}", "", *stored(each.record, {}))

    def _drop_old(self) -> None:
        for row in self._journal.loops(MATRIX)[KEPT:]:
            if row.verdict is not None:
                self._journal.forget(row.loop_id)


def _part(facts: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return one environment's share of the facts of a matrix."""
    start = f"{name}{BETWEEN}"
    part = dict(facts)
    for key in ("outcomes", "signatures", "collection_errors"):
        part[key] = {node[len(start) :]: said for node, said in (facts[key] or {}).items() if node.startswith(start)}
    part["flaky"] = [node[len(start) :] for node in facts["flaky"] if node.startswith(start)]
    part["agent"] = "ok" if facts["agent"] else None
    return part
