"""Verifies a green run: the tests of the start, in a clean room, before green counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.comparison import Comparison
from pytest_fireloop.act.disguised_runs import DisguisedRuns
from pytest_fireloop.act.environment_record import EnvironmentRecord
from pytest_fireloop.act.expectation import Expectation
from pytest_fireloop.act.ignored_files import IgnoredFiles
from pytest_fireloop.act.room import Room
from pytest_fireloop.act.room_runs import ALONE, RoomRuns
from pytest_fireloop.act.start_of_tests import StartOfTests
from pytest_fireloop.act.test_edits import EditPolicy
from pytest_fireloop.act.test_run import TestCommand
from pytest_fireloop.act.verification import Verification
from pytest_fireloop.observe.integrity.finding import BLOCKER, Finding, after_run_of_start
from pytest_fireloop.observe.integrity.shadowing import own_modules
from pytest_fireloop.observe.matrix_record import plain, without_command
from pytest_fireloop.observe.record import RunRecord

#: How often a product that asks for random numbers has to be right once more.
CHANCES = 8
#: Of the time of a loop that stays red, what may go into looking through the whole environment.
LOOKING_SHARE = 0.05
HIDDEN = ("PYTEST_", "PYTHON", "COVERAGE_")


class Verifier:
    """Holds in memory what decides green: the baseline's outcomes, the blob ids of its files, the environment's hashes."""

    def __init__(
        self,
        checkpoints: Checkpoints,
        baseline_commit: str,
        baseline_record: RunRecord,
        command: TestCommand,
        *,
        work: Path,
        test_edits: str = "review",
        allow_globs: Sequence[str] = (),
        generated: Collection[str] = (),
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self._checkpoints, self._commit = checkpoints, baseline_commit
        self._blobs: Mapping[str, str] = checkpoints.files(baseline_commit)
        start = plain(baseline_record)
        self._policy = EditPolicy.of(
            start,
            test_edits,
            allow_globs,
            held=self._blobs,
            read_all=lambda paths: checkpoints.read_all(baseline_commit, paths),
        )
        own = command.own
        of_start = without_command(baseline_record) if own is not None and own.shows_tests else baseline_record
        self._expectation = Expectation(of_start, self._policy.keeps, self._policy.is_opened)
        self._work = work
        self._whose = (
            "with the tests of the start" if test_edits != "allow" else "with the tests as the agent left them"
        )
        self._ignored = IgnoredFiles(
            checkpoints.tree, self._blobs, self._policy.keeps, work=work, state=checkpoints.repository.parent
        )
        self._lays_ignored = False
        self._room = Room(checkpoints, work / "room")
        environment = {key: value for key, value in command.environment.items() if not key.startswith(HIDDEN)}
        self._environment = EnvironmentRecord.take(command.python, environment)
        # what is installed and no part of the project: a new file of that name would take its place
        foreign = self._environment.modules() - own_modules(self._blobs)
        self._comparison = Comparison(checkpoints, baseline_commit, start, self._policy, foreign)
        origin = str(command.tree)
        self._command = replace(
            command,
            tree=self._room.folder,
            mapped_from=command.tree,
            environment=environment,
            args=tuple(word.replace(origin, str(self._room.folder)) for word in command.args),
        )
        self._runs = RoomRuns(self._room, self._command, self._expectation, work=work, stop=stop)
        self._disguised = DisguisedRuns(self._expectation, self._policy.is_test, work)
        self.where, self.why_in_place = "room", ""
        if own is not None:
            # it may run anything anywhere, so that there is no room for it; without tests there is nothing to verify
            self.where = "in_place" if own.shows_tests else ""
            self.why_in_place = "the tests are run by a command of your own"
        self._start = self._start_of_tests(command)
        #: Files that a test command of the user's own wrote in its first run.
        self._generated = frozenset(generated)
        self._canaries = True
        #: The unchanged baseline's run in the room.
        self._first = RunRecord(run_id="")
        self._seen_changes: tuple[Finding, ...] = ()
        self._next_look = 0.0
        self._written: frozenset[str] = frozenset()
        self._led_out: frozenset[tuple[str, str]] = frozenset()

    def calibrate(self, known_flaky: Collection[str] = ()) -> None:
        """Run the unchanged baseline in the room; where it gives other outcomes, verification is done in place."""
        if self.where != "room":
            return
        self._room.lay(self._commit)
        self._led_out = self._room.leading_out()
        self._room.seal()
        record = self._first = self._runs.run().record
        if self._expectation.not_reproduced(record, known_flaky) is not None and self._ignored.fit:
            # what the project built at the start may be what it lacks here
            self._lays_ignored = True
            self._ignored.lay(self._room.folder, self._blobs)
            self._room.seal()
            record = self._first = self._runs.run().record
        # what the tests of the start write by themselves is no sign of anybody else
        self._written = frozenset(self._room.touched())
        self.why_in_place = self._expectation.not_reproduced(record, known_flaky) or ""
        if self.why_in_place:
            self.where = "in_place"
        else:
            # a project that cannot show a failing test of ours at the start proves nothing by hiding it later
            self._canaries = self._runs.canary_fault() is None
            self._disguised.calibrate(self._runs, record)
        self._room.clear()

    def is_candidate(self, record: RunRecord, flaky: Collection[str] = ()) -> bool:
        """Whether a run in place may be green: sound, but for flaky tests or a strict pass of an expected failure."""
        return self._expectation.discounted(record).sound_but(flaky)

    def discounted(self, record: RunRecord) -> RunRecord:
        """Return a run in which expected failures of the start that pass now have passed, however strict pytest is."""
        return self._expectation.discounted(record)

    def turned(self, record: RunRecord, known_flaky: Collection[str]) -> list[str]:
        """Name the red tests of a run, where all that is red passed at the start: perhaps they only pass at times."""
        turned = self._expectation.turned(self.discounted(record))
        return turned if len(turned) <= ALONE and self.is_candidate(record, {*turned, *known_flaky}) else []

    def verify(
        self, candidate: str, known_flaky: Collection[str], in_place: RunRecord, turned: Collection[str] = ()
    ) -> Verification:
        """Verify a state whose own run, given as `in_place`, was green; `turned` failed in it and passed again."""
        in_place = self.discounted(in_place)
        if not self.is_candidate(in_place, {*known_flaky, *turned}):
            return self.examine(candidate, in_place)
        try:
            # what is verified is what lies in the tree now, whoever wrote it since the agent's call
            left, candidate = candidate, self._checkpoints.take("verification").commit
            now = self._checkpoints.files(candidate)
            if self.where == "room":
                self._room.lay(self._commit, candidate, keeps=self._policy.keeps)
                self._avoid_planted_byte_code()
            built = self._ignored.lay(self._room.folder, now) if self._lays_ignored and self.where == "room" else []
            room = self._room.folder if self.where == "room" else None
            compared = self._comparison.findings(candidate, in_place, room)
            findings = (*compared, *built, *self._ignored.planted(now), *self._environment.changes())
            if self.where != "room":
                findings = (*findings, *self._comparison.unverifiable(candidate), *self._started_otherwise(candidate))
                written = self._generated.intersection(self._comparison.changed(candidate, since=left))
                findings = tuple(each for each in findings if each.path not in written)
                fault = self._expectation.fault(in_place, apart_from={*known_flaky, *turned})
                found = self._in_place(findings, fault)
            else:
                found = self._in_room(findings, candidate, known_flaky)
            fault = self._meanwhile(candidate) if found.green else None
            return found if fault is None else Verification.rejected(self.where, found.findings, None, fault)
        finally:
            self._room.clear()

    def examine(self, candidate: str, in_place: RunRecord) -> Verification:
        """Compare a state whose run is not green, and run nothing: only what no run could excuse is found."""
        compared = self._comparison.findings(candidate, in_place, None)
        found = (*compared, *self._beside_the_tree(candidate))
        # a run that ended early, or could not collect, says nothing of what it did not come to
        told = in_place.complete and not in_place.collection_errors
        grave = [
            each
            for each in after_run_of_start(found)
            if each.severity == BLOCKER and (told or each.kind != "test_not_run")
        ]
        why = in_place.incomplete_reason or f"red tests: {len(in_place.red)}"
        verdict = "rejected" if grave else "clean"
        return Verification(False, "", verdict, tuple(grave), None, f"the run in the tree is not green: {why}")

    def _beside_the_tree(self, candidate: str) -> tuple[Finding, ...]:
        """Look at what no checkpoint holds, the environment and byte code, for a small share of the time at most.

        A green run is held against a look of its own.
        """
        now = time.monotonic()
        if now > self._next_look:
            planted = self._ignored.planted(self._checkpoints.files(candidate))
            self._seen_changes = (*planted, *self._environment.changes())
            took = time.monotonic() - now
            self._next_look = time.monotonic() + took / LOOKING_SHARE
        return self._seen_changes

    def _start_of_tests(self, command: TestCommand) -> StartOfTests | None:
        if command.own is None:
            return None
        return StartOfTests(
            command.own,
            command.tree,
            self._blobs,
            lambda paths: self._checkpoints.read_all(self._commit, paths),
            keeps=self._policy.keeps,
            is_opened=self._policy.is_opened,
        )

    def _started_otherwise(self, candidate: str) -> Iterator[Finding]:
        if self._start is not None:
            now = self._checkpoints.files(candidate)
            yield from self._start.changes(now, lambda path: self._checkpoints.read(candidate, path))

    def _avoid_planted_byte_code(self) -> None:
        """Compile anew what the environment holds where its byte code changed: it need not be of the source beside it."""
        if self._environment.byte_code_changed():
            environment = {**self._command.environment, "PYTHONPYCACHEPREFIX": str(self._work / "byte-code")}
            self._runs.command = self._command = replace(self._command, environment=environment)

    def _written_in_room(self) -> str | None:
        touched = sorted(set(self._room.touched()) - self._written)
        return f"{touched[0]} was written in the clean room while the tests ran" if touched else None

    def _meanwhile(self, candidate: str) -> str | None:
        """Say what somebody wrote while the verification ran: what was verified is not what lies there."""
        now = self._checkpoints.take("after the verification").commit
        written = self._comparison.written_between(candidate, now)
        return f"{written} changed while the run was verified" if written else None

    def _in_place(self, findings: tuple[Finding, ...], fault: str | None) -> Verification:
        if fault is not None and not any(finding.severity == BLOCKER for finding in findings):
            return Verification.rejected(self.where, findings, None, fault)
        if not self.where:
            unseen = "the test command ended with 0; it shows no tests, so nothing is verified"
            return Verification.of(self.where, findings, None, unseen)
        return Verification.of(self.where, findings, None, f"verified in place, for {self.why_in_place}")

    def _in_room(self, findings: tuple[Finding, ...], candidate: str, known_flaky: Collection[str]) -> Verification:
        altered = self._room.altered(self._blobs, self._policy.keeps)
        if altered:
            return Verification.rejected(self.where, findings, None, f"the stored files were altered: {altered[0]}")
        out = sorted(self._room.leading_out() - self._led_out)
        if out:
            path, target = out[0]
            findings = (*findings, Finding.of("link_leads_out", path, 0, f"no such link -> {target}"))
        self._room.seal()
        record, unsteady = self._runs.with_flaky_tries(known_flaky)
        findings = (*findings, *unsteady)
        fault = self._expectation.fault(record)
        if fault is not None:
            return Verification.rejected(self.where, findings, record, f"{fault}{self._comparison.hint(candidate)}")
        fault = self._written_in_room()
        if fault is not None:
            return Verification.rejected(self.where, findings, record, fault)
        weighed = (*after_run_of_start(findings), *self._comparison.replaced(self._first, record, self._room.folder))
        if any(finding.severity == BLOCKER for finding in weighed):
            return Verification.of(self.where, weighed, record, "")
        fault, alone = self._runs.alone(CHANCES if any(each.kind == "chance_used" for each in weighed) else 0)
        if fault is not None:
            return Verification.rejected(self.where, weighed, record, fault)
        looks = any(each.kind == "place_probe" for each in weighed)
        changed = self._comparison.changed(candidate)
        disguised = self._disguised.fault(self._runs, record, changed, elsewhere=looks)
        if disguised is not None:
            return Verification.rejected(self.where, (*weighed, disguised[1]), record, disguised[0])
        fault = self._written_in_room()
        if fault is not None:
            return Verification.rejected(self.where, weighed, record, fault)
        hidden = self._runs.hidden_failures(canaries=self._canaries)
        if hidden is not None:
            return Verification.rejected(self.where, (*weighed, *hidden[1]), record, hidden[0])
        return Verification.of(self.where, (*weighed, *alone), record, f"verified in a clean room {self._whose}")
