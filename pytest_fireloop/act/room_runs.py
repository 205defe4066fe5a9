"""The runs of a verification in the clean room: all tests, those that failed at the start, and tests that must fail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_fireloop.act.canary import canary
from pytest_fireloop.act.changed_tests import changed_to_fail
from pytest_fireloop.act.expectation import Expectation
from pytest_fireloop.act.room import Room
from pytest_fireloop.act.test_run import TestCommand, TestRun, absolute, run_tests
from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.record import GREEN, RunRecord

#: How many of the tests that failed at the start are run again alone, each in a process of its own.
ALONE = 20
FLAKY_TRIES = 3
#: Seconds that the tests took together which are made to fail again.
BUDGET_S = 1.0


class RoomRuns:
    """Runs tests in a room that is laid; the command may be changed between runs."""

    def __init__(
        self,
        room: Room,
        command: TestCommand,
        expectation: Expectation,
        *,
        work: Path,
        stop: Callable[[], bool] | None,
    ) -> None:
        self.command = command
        self._room, self._expectation = room, expectation
        self._work, self._stop = work, stop

    def run(self, nodes: Sequence[str] = (), files: Sequence[Path] = ()) -> TestRun:
        """Run the tests with these ids and files, all of them where none are given."""
        select = [*absolute(self._room.folder, nodes, self._expectation.known), *map(str, files)]
        return run_tests(self.command, work=self._work, select=select, stop=self._stop)

    def with_flaky_tries(self, known_flaky: Collection[str]) -> tuple[RunRecord, list[Finding]]:
        """Run everything; a known flaky test that fails may try again, and one that passed at the start with all others."""
        record, unsteady = self._steadied(self._expectation.discounted(self.run().record), known_flaky)
        for _ in range(FLAKY_TRIES - 1):
            failing = sorted(record.red & set(known_flaky))
            if not failing:
                break
            again = self.run(failing).record.outcomes
            tests = tuple(test._replace(outcome=again.get(test.nodeid, test.outcome)) for test in record.tests)
            retried = replace(record, tests=tests)
            record = replace(retried, exit_code=0) if record.exit_code == 1 and not retried.red else retried
        return record, unsteady

    def _steadied(self, record: RunRecord, known_flaky: Collection[str]) -> tuple[RunRecord, list[Finding]]:
        """Repeat a run in which nothing is red but what passed at the start; what passes in one of three is flaky."""
        turned = set(self._expectation.turned(record)) - set(known_flaky)
        if not turned or len(turned) > ALONE or not record.sound_but({*turned, *known_flaky}):
            return record, []
        passed: set[str] = set()
        for _ in range(FLAKY_TRIES - 1):
            again = self._expectation.discounted(self.run().record)
            if not again.sound_but({*turned, *known_flaky}):
                return again, []
            passed |= {node for node in turned if again.outcomes.get(node) in GREEN}
            if passed == turned:
                break
        tests = tuple(test._replace(outcome="passed") if test.nodeid in passed else test for test in record.tests)
        retried = replace(record, tests=tests)
        found = [
            Finding.of("test_unsteady", node.split("::", 1)[0], 0, f"{node} passed at the start -> passes at times")
            for node in sorted(passed)
        ]
        return (replace(retried, exit_code=0) if not retried.red else retried), found

    def alone(self, chances: int) -> tuple[str | None, list[Finding]]:
        """Run what failed at the start again in fresh processes; red alone but green with its file is a warning.

        A product that asks for random numbers runs some more times, for it may be right at times.
        """
        failing = self._expectation.failed_before
        for _ in range(chances if failing else 0):
            missing = self._expectation.not_passing(failing, self.run(failing).record)
            if missing:
                return f"{missing[0]} passed in the whole run, and fails when it is run again", []
        rounds = [[node] for node in failing[:ALONE]] + ([list(failing[ALONE:])] if failing[ALONE:] else [])
        found = []
        for nodes in rounds:
            for node in self._expectation.not_passing(nodes, self.run(nodes).record):
                path = node.split("::", 1)[0]
                if self._expectation.not_passing([node], self.run([path]).record):
                    return f"{node} passed in the whole run, and fails when it is run again", []
                found.append(Finding.of("test_alone_fails", path, 0, f"{node} passes with its file -> not alone"))
        return None, found

    def canary_fault(self) -> str | None:
        """Say what is wrong with a run of tests that must fail."""
        with canary(self._room.folder) as file:
            return file.fault(self.run((), [file.path]).record)

    def hidden_failures(self, *, canaries: bool) -> tuple[str, list[Finding]] | None:
        """Ask for failures: tests of ours that must fail, and what failed at the start made to fail again."""
        wanted = self._expectation.short_failures(BUDGET_S) or self._expectation.failed_before[:1]
        nodes = changed_to_fail(self._room.folder, wanted, self._expectation.failed_at)
        with canary(self._room.folder) as file:
            record = self.run(nodes, [file.path]).record
            if record.collection_errors or not nodes:
                record = self.run((), [file.path]).record
            fault = file.fault(record) if canaries else None
        if fault is not None:
            return fault, []
        passed = [node for node in nodes if record.outcomes.get(node) in GREEN]
        if not passed:
            return None
        path = passed[0].split("::", 1)[0]
        detail = f"{passed[0]}: must fail, for what it expects was changed -> passed"
        return f"{passed[0]} passes whatever it expects", [Finding.of("expectation_ignored", path, 0, detail)]
