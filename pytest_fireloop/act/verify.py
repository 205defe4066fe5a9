"""Verifies a green run: the tests of the start, in a clean room, before green counts."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.room import Room
from pytest_fireloop.act.test_run import TestCommand, TestRun, absolute, run_tests
from pytest_fireloop.observe.integrity.compare import compare
from pytest_fireloop.observe.integrity.finding import BLOCKER, Finding
from pytest_fireloop.observe.record import GREEN, RunRecord
from pytest_fireloop.observe.test_files import is_configuration, predicate_of

ALONE = 20
FLAKY_TRIES = 3
HIDDEN = ("PYTEST_", "PYTHON", "COVERAGE_")
#: Outcomes at the baseline that must be a pass in the room.
MUST_PASS = frozenset({"passed", "failed", "error", "xpassed"})


@dataclass(frozen=True, slots=True)
class Verification:
    """What the verification found; `record` is the room's run, where there was one."""

    green: bool
    where: str
    verdict: str
    findings: tuple[Finding, ...]
    record: RunRecord | None
    reason: str


class Verifier:
    """Holds in memory what decides green: the baseline's outcomes, and the blob ids of its files."""

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
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self._checkpoints, self._commit, self._baseline = checkpoints, baseline_commit, baseline_record
        self._expected: Mapping[str, str] = checkpoints.files(baseline_commit)
        uncollected = [error.path for error in baseline_record.collection_errors]
        self._named_test = predicate_of(baseline_record.outcomes, uncollected)
        self._test_sources = b"\n".join(
            checkpoints.read(baseline_commit, path)
            for path in self._expected
            if path.endswith(".py") and self._named_test(path)
        )
        self._test_edits, self._allow = test_edits, tuple(allow_globs)
        self._work, self._stop = work, stop
        self._room = Room(checkpoints, work / "room")
        environment = {key: value for key, value in command.environment.items() if not key.startswith(HIDDEN)}
        origin = str(command.tree)
        self._command = replace(
            command,
            tree=self._room.folder,
            mapped_from=command.tree,
            environment=environment,
            args=tuple(word.replace(origin, str(self._room.folder)) for word in command.args),
        )
        self.where = "room"
        self._whose = (
            "with the tests of the start" if test_edits != "allow" else "with the tests as the agent left them"
        )

    def calibrate(self, known_flaky: Collection[str] = ()) -> None:
        """Run the unchanged baseline in the room; where it gives other outcomes, verification is done in place."""
        self._room.lay(self._commit)
        record = self._run().record
        expected = self._baseline.outcomes
        different = [node for node, said in record.outcomes.items() if expected.get(node) != said]
        missing = expected.keys() - record.outcomes.keys()
        if (missing | set(different)) - set(known_flaky) or record.extra.get("modules_outside"):
            self.where = "in_place"
        self._room.clear()

    def verify(self, candidate: str, known_flaky: Collection[str], in_place: RunRecord) -> Verification:
        """Verify a state whose own run, given as `in_place`, was green."""
        findings = self._findings(candidate, in_place)
        blockers = [finding for finding in findings if finding.severity == BLOCKER]
        if not in_place.sound_but(known_flaky):
            why = in_place.incomplete_reason or f"red tests: {len(in_place.red)}"
            return self._rejected(findings, None, f"the run in the tree is not green: {why}")
        if self.where == "in_place":
            findings = (*findings, *self._unverifiable(candidate))
            blockers = [finding for finding in findings if finding.severity == BLOCKER]
            missing = sorted(self._required(known_flaky) - _passing(in_place))
            if missing and not blockers:
                return self._rejected(findings, None, _not_passing(missing))
            return self._result(findings, None, "verified in place, for the room does not give the baseline's results")
        try:
            self._room.lay(self._commit, candidate, keeps=self._keeps)
            altered = self._room.altered(self._expected, self._keeps)
            if altered:
                return self._rejected(findings, None, f"the stored baseline was altered: {altered[0]}")
            record, fault = self._in_room(known_flaky)
            if fault is not None:
                return self._rejected(findings, record, fault)
            alone = self._alone(known_flaky)
            unstable = self._red_with_its_file(alone)
            if unstable is not None:
                return self._rejected(findings, record, f"{unstable} passes only sometimes")
            return self._result((*findings, *alone), record, f"verified in a clean room {self._whose}")
        finally:
            self._room.clear()

    def _unverifiable(self, candidate: str) -> list[Finding]:
        """Name the edits of tests and configuration that only a room could tell from gaming."""
        new = self._checkpoints.files(candidate)
        edited = [path for path, oid in self._expected.items() if self._keeps(path) and new.get(path) != oid]
        added = [path for path in new.keys() - self._expected.keys() if is_configuration(path) and self._keeps(path)]
        return [Finding.of("edit_unverifiable", path, 0, "there is no room to check it in") for path in edited + added]

    # the room's own run

    def _in_room(self, known_flaky: Collection[str]) -> tuple[RunRecord, str | None]:
        run = self._run()
        record = run.record
        wanted = self._required(known_flaky)
        missing = sorted(wanted - _passing(record))
        tries = 1
        while (flaky := self._flaky_left(record, known_flaky)) and tries < FLAKY_TRIES:
            again = self._run(flaky).record.outcomes
            record = replace(
                record,
                tests=tuple(
                    test._replace(outcome=again[test.nodeid]) if test.nodeid in flaky and test.nodeid in again else test
                    for test in record.tests
                ),
            )
            tries += 1
        outside = record.extra.get("modules_outside")
        if outside:
            return record, f"the room loaded code from the tree itself: {outside[0]}"
        if missing:
            return record, _not_passing(missing)
        if flaky:
            return record, f"a flaky test failed {FLAKY_TRIES} times: {flaky[0]}"
        if not record.complete and not self._strict_xpass(record):
            return record, f"the room's run is not complete: {record.incomplete_reason}"
        hidden = self._newly_hidden(record)
        if hidden is not None:
            return record, hidden
        red = sorted(record.red - self._xfailed() - set(known_flaky))
        if red or record.collection_errors:
            return record, _not_passing(red or [record.collection_errors[0].path])
        if run.exit_code != 0 and not record.red:
            return record, f"the room's run ended with exit code {run.exit_code}"
        return record, None

    def _newly_hidden(self, record: RunRecord) -> str | None:
        """Tell what the product hides from the unchanged tests: a skip of its own, a file that shows no test."""
        before = self._baseline.outcomes
        for node, said in record.outcomes.items():
            if said in {"skipped", "xfailed"} and before.get(node) != said and self._keeps(node.split("::")[0]):
                return f"{node} is {said} now, which it was not at the start"
        for error in self._baseline.collection_errors:
            passing = (node for node, said in record.outcomes.items() if said in GREEN)
            if (
                error.path.endswith(".py")
                and self._keeps(error.path)
                and not any(node.startswith(f"{error.path}::") for node in passing)
            ):
                return f"{error.path}, which could not be collected at the start, shows no passing test"
        return None

    def _alone(self, known_flaky: Collection[str]) -> list[Finding]:
        """Run what failed at the baseline again in fresh processes, one a cause first."""
        failing = [node for node in self._by_cause() if node in self._required(known_flaky)]
        rounds = [[node] for node in failing[:ALONE]] + ([failing[ALONE:]] if failing[ALONE:] else [])
        found = []
        for nodes in rounds:
            red = sorted(set(nodes) - _passing(self._run(nodes).record))
            found += [
                Finding.of("test_alone_fails", node.split("::")[0], 0, f"{node} passes with its file, not alone")
                for node in red
            ]
        return found

    def _red_with_its_file(self, alone: Sequence[Finding]) -> str | None:
        """Tell a test that needs its file from one that passes by luck: run the file again."""
        for path in sorted({finding.path for finding in alone}):
            red = self._run([path]).record.red & self._required(())
            if red:
                return min(red)
        return None

    def _by_cause(self) -> list[str]:
        first: dict[str | None, str] = {}
        red = [test for test in self._baseline.tests if test.nodeid in self._baseline.red]
        for test in red:
            first.setdefault(test.cause, test.nodeid)
        return [*first.values(), *(test.nodeid for test in red if test.nodeid not in first.values())]

    def _run(self, nodes: Sequence[str] = ()) -> TestRun:
        select = absolute(self._room.folder, nodes, self._baseline.outcomes)
        return run_tests(self._command, work=self._work, select=select, stop=self._stop)

    # what is asked for

    def _required(self, known_flaky: Collection[str]) -> set[str]:
        must = {node for node, said in self._baseline.outcomes.items() if said in MUST_PASS} - set(known_flaky)
        if self._test_edits != "allow" and not self._allow:
            return must
        return {node for node in must if self._keeps(node.split("::")[0])}

    def _xfailed(self) -> set[str]:
        return {node for node, said in self._baseline.outcomes.items() if said == "xfailed"}

    def _strict_xpass(self, record: RunRecord) -> bool:
        return bool(record.red) and record.red <= self._xfailed()

    def _flaky_left(self, record: RunRecord, known_flaky: Collection[str]) -> list[str]:
        before = self._baseline.outcomes
        return sorted(node for node in known_flaky if node in before and record.outcomes.get(node) not in GREEN)

    def _is_test(self, path: str) -> bool:
        """Whether a file is the tests' own: by name, or as data that a test of the baseline mentions."""
        if self._named_test(path):
            return True
        name = path.rpartition("/")[2]
        is_data = not name.endswith((".py", ".pyi")) and "." in name
        return is_data and path in self._expected and name.encode("utf-8", "surrogateescape") in self._test_sources

    def _keeps(self, path: str) -> bool:
        """Whether the baseline's file stands in the room: tests and configuration, unless the user opened them."""
        if any(fnmatch.fnmatch(path, glob) for glob in self._allow):
            return False
        if is_configuration(path) and not path.endswith("conftest.py"):
            return True
        return self._is_test(path) and self._test_edits != "allow"

    # what was found

    def _findings(self, candidate: str, in_place: RunRecord) -> tuple[Finding, ...]:
        paths = [
            change.path
            for change in self._checkpoints.changes(self._commit, candidate)
            if not any(fnmatch.fnmatch(change.path, glob) for glob in self._allow)
        ]
        new = self._checkpoints.files(candidate)
        found = compare(
            {path: self._checkpoints.read(self._commit, path) for path in paths if path in self._expected},
            {path: self._checkpoints.read(candidate, path) for path in paths if path in new},
            is_test=self._is_test,
            is_configuration=is_configuration,
            passed=_passing(in_place),
        )
        if self._test_edits == "allow":
            found = tuple(each for each in found if not self._is_test(each.path))
        if self._test_edits == "forbid":
            edited = [path for path in paths if path in self._expected and self._is_test(path)]
            found += tuple(Finding.of("edit_forbidden", path, 0, "tests may not be edited") for path in edited)
        return found

    def _result(self, findings: Sequence[Finding], record: RunRecord | None, reason: str) -> Verification:
        blockers = [finding for finding in findings if finding.severity == BLOCKER]
        if blockers:
            first = blockers[0]
            return self._rejected(findings, record, f"{first.kind.replace('_', ' ')} in {first.path}: {first.detail}")
        return Verification(True, self.where, "warned" if findings else "clean", tuple(findings), record, reason)

    def _rejected(self, findings: Sequence[Finding], record: RunRecord | None, reason: str) -> Verification:
        return Verification(False, self.where, "rejected", tuple(findings), record, reason)


def _passing(record: RunRecord) -> set[str]:
    return {node for node, said in record.outcomes.items() if said in GREEN}


def _not_passing(nodes: Sequence[str]) -> str:
    more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
    return f"with the tests of the start, {nodes[0]}{more} {'do' if more else 'does'} not pass"
