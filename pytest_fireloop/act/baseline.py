"""The run before the first agent call, and which tests are flaky from the first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_fireloop.act.test_run import TestCommand, TestRun, absolute, run_tests
from pytest_fireloop.judge.verdict import Ending
from pytest_fireloop.observe.matrix_record import without_command
from pytest_fireloop.observe.record import GREEN, RunRecord
from pytest_fireloop.observe.text import one_line

NO_TESTS = 5
USAGE = 4
#: Beyond this many failures a second run of them costs more than it tells.
RERUN_LIMIT = 200
#: Whole runs in which a test that passed alone may show that it is flaky.
CONFIRMATIONS = 2


@dataclass(frozen=True, slots=True)
class Baseline:
    """The first run; `problem` ends the loop before any agent is called."""

    record: RunRecord
    flaky: frozenset[str] = frozenset()
    problem: Ending | None = None


def take_baseline(command: TestCommand, work: Path) -> Baseline:
    """Run the tests as they are, and what failed once more."""
    run = run_tests(command, work=work)
    record = run.record
    if run.problem is not None and not run.timed_out:
        return Baseline(record, problem=Ending("usage", run.problem))
    if command.own is not None:
        if command.own.shows_tests and not without_command(record).tests and not record.collection_errors:
            return Baseline(record, problem=Ending("no_tests", f"the test command runs no test; {_ended(run)}"))
        return Baseline(record, _flaky(command, work, record))
    if run.exit_code == USAGE and not record.collection_errors:
        return Baseline(record, problem=Ending("usage", f"pytest refuses its options: {_last_error(run.output)}"))
    if run.exit_code == NO_TESTS or (not record.tests and not record.collected and record.exit_code == 0):
        return Baseline(record, problem=Ending("no_tests", f"pytest collected no tests in {str(command.tree)!r}"))
    return Baseline(record, _flaky(command, work, record))


def _flaky(command: TestCommand, work: Path, record: RunRecord) -> frozenset[str]:
    reruns = {test.nodeid for test in record.tests if test.reruns and test.outcome in GREEN}
    failing = [test.nodeid for test in record.tests if test.nodeid in record.red]
    if not failing or len(failing) > RERUN_LIMIT:
        return frozenset(reruns)
    again = run_tests(command, work=work, select=absolute(record.rootdir, failing, record.outcomes)).record
    suspects = {node for node, outcome in again.outcomes.items() if outcome in GREEN} & set(failing)
    if suspects:
        # passing without its neighbours is no flake; passing in the very same run is
        runs = [run_tests(command, work=work).record.outcomes for _ in range(CONFIRMATIONS)]
        suspects = {node for node in suspects if any(outcomes.get(node) in GREEN for outcomes in runs)}
    return frozenset(reruns | suspects)


def _ended(run: TestRun) -> str:
    return f"it ended with {run.exit_code}" if run.exit_code is not None else "it did not end by itself"


def _last_error(output: Path) -> str:
    lines = output.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    errors = [line for line in lines if "error:" in line.lower()]
    return one_line((errors or lines or ["no output"])[-1], 300)
