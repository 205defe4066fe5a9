"""The runs of several environments as one record, in which each test bears its environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_fireloop.inside.signature import FailureFacts, cause, signature
from pytest_fireloop.observe.record import GREEN, RED, Failure, RunRecord, TestResult

#: Between a test and its environment.
ON = " on "
#: Stands for the command itself, where no test tells why it failed, or there are none.
COMMAND = "the test command"
#: Results of one test in several runs of one environment, the last of which is the worst.
WORST = ("skipped", "xfailed", "xpassed", "passed", "error", "failed")
TAIL_LINES = 30


def together(runs: Sequence[RunRecord], *, run_id: str, exit_code: int | None, output: str) -> RunRecord:
    """Return one record of what a command's runs show; it is green only if the command and each of them are."""
    by_name: dict[str, list[RunRecord]] = {}
    for run in runs:
        by_name.setdefault(run.environment, []).append(run)
    joined = {name: _joined(same) for name, same in sorted(by_name.items())}
    named = [_with_name(run, name) for name, run in joined.items()]
    doubts = [f"{name}: {run.incomplete_reason or 'incomplete'}" for name, run in joined.items() if not run.complete]
    doubts += [
        f"{name}: pytest ended with {run.exit_code} and no test is red"
        for name, run in joined.items()
        if run.exit_code and not run.red and not run.collection_errors
    ]
    tests = tuple(test for run in named for test in run.tests)
    failures = tuple(failure for run in named for failure in run.failures)
    errors = tuple(error for run in named for error in run.collection_errors)
    if exit_code != 0 and not errors and not any(test.outcome in RED for test in tests):
        failure = _of_command(exit_code, output)
        tests = (*tests, TestResult(COMMAND, "error", 0.0, failure.signature, failure.cause))
        failures = (*failures, failure)
    elif not runs and exit_code == 0:
        tests = (TestResult(COMMAND, "passed"),)
    red = bool(errors) or any(test.outcome in RED for test in tests)
    return RunRecord(
        run_id=run_id,
        started=min((run.started for run in named), default=""),
        duration_s=max((run.duration_s for run in named), default=0.0),
        exit_code=exit_code if exit_code != 0 else int(red),
        rootdir=named[0].rootdir if named else "",
        python=", ".join(dict.fromkeys(run.python for run in named if run.python)),
        pytest=", ".join(dict.fromkeys(run.pytest for run in named if run.pytest)),
        environment=", ".join(joined),
        scope=", ".join(dict.fromkeys(run.scope for run in named)),
        complete=not doubts and exit_code is not None,
        incomplete_reason=doubts[0]
        if doubts
        else None
        if exit_code is not None
        else "the test command did not end by itself",
        partial=any(run.partial for run in named),
        collected=sum(run.collected for run in named) + sum(test.nodeid == COMMAND for test in tests),
        in_flight=next((run.in_flight for run in named if run.in_flight), None),
        not_run=tuple(node for run in named for node in run.not_run),
        tests=tests,
        collection_errors=errors,
        failures=failures,
        extra={"environments": {name: _told(run, joined) for name, run in joined.items()}} if joined else {},
    )


def plain(record: RunRecord) -> RunRecord:
    """Return a record whose tests bear no environment, each with its worst result, for what compares files of tests."""
    if "environments" not in record.extra:
        return record
    worst: dict[str, TestResult] = {}
    for test in record.tests:
        node = without_name(test.nodeid)
        before = worst.get(node)
        if before is None or WORST.index(test.outcome) > WORST.index(before.outcome):
            worst[node] = test._replace(nodeid=node)
    errors = tuple(replace(error, path=without_name(error.path)) for error in record.collection_errors)
    failures = tuple(
        replace(each, nodeids=tuple(dict.fromkeys(map(without_name, each.nodeids)))) for each in record.failures
    )
    return replace(record, tests=tuple(worst.values()), collection_errors=errors, failures=failures)


def without_command(record: RunRecord) -> RunRecord:
    """Return a record without the row that stands for the command, of which later runs need to show nothing."""
    return replace(record, tests=tuple(test for test in record.tests if test.nodeid != COMMAND))


def without_name(nodeid: str) -> str:
    """Return a test's id as its own environment knows it."""
    return nodeid.rpartition(ON)[0] or nodeid


def _joined(runs: Sequence[RunRecord]) -> RunRecord:
    """Put several runs of one environment together: the worst counts."""
    if len(runs) == 1:
        return runs[0]
    tests: dict[str, TestResult] = {}
    for run in runs:
        for test in run.tests:
            before = tests.get(test.nodeid)
            if before is None or WORST.index(test.outcome) > WORST.index(before.outcome):
                tests[test.nodeid] = test
    codes = [run.exit_code for run in runs]
    return replace(
        runs[0],
        exit_code=None if None in codes else max(code or 0 for code in codes),
        complete=all(run.complete for run in runs),
        incomplete_reason=next((run.incomplete_reason for run in runs if run.incomplete_reason), None),
        partial=any(run.partial for run in runs),
        collected=len(tests) + sum(max(0, run.collected - len(run.tests)) for run in runs),
        tests=tuple(tests.values()),
        not_run=tuple(node for run in runs for node in run.not_run),
        collection_errors=tuple(error for run in runs for error in run.collection_errors),
        failures=tuple(failure for run in runs for failure in run.failures),
    )


def _with_name(run: RunRecord, name: str) -> RunRecord:
    def named(nodeid: str) -> str:
        return f"{nodeid}{ON}{name}"

    return replace(
        run,
        in_flight=None if run.in_flight is None else named(run.in_flight),
        not_run=tuple(map(named, run.not_run)),
        tests=tuple(test._replace(nodeid=named(test.nodeid)) for test in run.tests),
        collection_errors=tuple(replace(error, path=named(error.path)) for error in run.collection_errors),
        failures=tuple(replace(each, nodeids=tuple(map(named, each.nodeids))) for each in run.failures),
    )


def _told(run: RunRecord, all_runs: Mapping[str, RunRecord]) -> dict[str, Any]:
    """Return what one environment came to, with what is red here and green in all others that run it."""
    others = [other.outcomes for other in all_runs.values() if other is not run]
    alone = [
        node
        for node in sorted(run.red)
        if any(node in each for each in others) and all(each.get(node, "passed") in GREEN for each in others)
    ]
    return {
        "green": run.sound,
        "exit_code": run.exit_code,
        "counts": run.counts,
        "collection_errors": len(run.collection_errors),
        "red_only_here": alone,
    }


def _of_command(exit_code: int | None, output: str) -> Failure:
    said = "did not end by itself" if exit_code is None else f"ended with {exit_code} and no red test tells why"
    tail = "\n".join(output.strip().splitlines()[-TAIL_LINES:])
    facts = FailureFacts("call", "CommandFailed", said)
    return Failure(signature(facts), cause(facts), (COMMAND,), "CommandFailed", f"{said}:\n{tail}", COMMAND)
