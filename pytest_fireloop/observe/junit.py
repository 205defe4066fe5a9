"""A JUnit report as a run record."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_fireloop.observe.junit_case import ATTEMPTS, NOT_RUN, CaseResult, ReadCase, result_of
from pytest_fireloop.observe.junit_document import read_document
from pytest_fireloop.observe.junit_failure import failure_of, root_in
from pytest_fireloop.observe.junit_suite import Doubt, ReadSuite
from pytest_fireloop.observe.record import RED, CollectionError, Failure, RunRecord, TestResult

#: Failures whose whole message is kept; of the rest a line says enough.
TOLD, SHORT = 1_000, 200
#: Where `pytest --fire-loop` leaves what it found.
PREFIX = "fireloop."
STATES = frozenset({"CLOSED", "OPEN", "HALF_OPEN"})
WORDS = frozenset({"PROGRESS", "STALLED", "SPINNING", "DEGRADED", "BLOCKED"})
FAILURES = "failures"
LEVELS = frozenset({"healthy", "warning", "tripped"})


@dataclass(eq=False, slots=True)
class SuiteRun:
    """What one outermost suite of a file shows, or several of them together.

    A test that is there again is another attempt, whose worst result counts, or with `last` its last one.
    """

    last: bool = False
    suites: list[ReadSuite] = field(default_factory=list)
    tests: dict[str, TestResult] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    errors: dict[str, CollectionError] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    doubts: list[Doubt] = field(default_factory=list)
    repeated: set[str] = field(default_factory=set)
    root: str = ""

    def add(self, case: ReadCase) -> None:
        """Take in one case."""
        said = result_of(case)
        failure = self._failure(case, said) if said.outcome in RED else None
        if said.outcome == "error" and not case.classname and failure is not None:
            self.errors[said.nodeid] = CollectionError(
                said.nodeid, failure.signature, failure.message, failure.cause, failure.exception
            )
            return
        signature, cause = (failure.signature, failure.cause) if failure is not None else (None, None)
        test = TestResult(said.nodeid, said.outcome, said.duration_s, signature, cause, said.flaky)
        self._put(test, failure, case.suite.top.name)

    def join(self, other: SuiteRun) -> None:
        """Take in what another suite or file shows of the same environment."""
        self.suites += other.suites
        self.errors |= other.errors
        self.doubts += other.doubts
        self.repeated |= other.repeated
        for node, test in other.tests.items():
            self._put(test, other.failures.get(node), other.owners[node])

    def _put(self, test: TestResult, failure: Failure | None, owner: str) -> None:
        node = test.nodeid
        before = self.tests.get(node)
        if before is not None and self.owners[node] != owner:
            # another suite has a test of this name
            node = f"{owner} > {node}"
            test, before = test._replace(nodeid=node), self.tests.get(node)
            failure = None if failure is None else replace(failure, nodeids=(node,))
        if before is not None:
            self.repeated.add(node)
            kept, other = (before, test) if self._stays(before.outcome, test.outcome) else (test, before)
            if kept is before:
                failure = self.failures.get(node)
            # only an attempt that failed makes a pass a second one
            test = kept._replace(reruns=before.reruns + test.reruns + (other.outcome in RED))
        self.tests[node], self.owners[node] = test, owner
        self.failures.pop(node, None)
        if failure is not None:
            self.failures[node] = failure

    def _stays(self, before: str, said: str) -> bool:
        """Whether an earlier result counts more: the worse one, or with `last` the one that ran beside one that did not."""
        if self.last:
            return said in NOT_RUN and before not in NOT_RUN
        return ATTEMPTS.index(said) < ATTEMPTS.index(before)

    def _failure(self, case: ReadCase, said: CaseResult) -> Failure:
        if not self.root:
            texts = (str(result.text or "") for result in case.results)
            self.root = next(filter(None, (root_in(case, text) for text in texts)), "")
        found = failure_of(case, said.result, said.nodeid, self.root)
        if len(self.failures) < TOLD:
            return found
        return replace(found, message=found.message[:SHORT], statement=found.statement[:SHORT])

    def record(self, name: str, environment: str) -> RunRecord:
        """Return it as the record of one run; what a report claims and does not hold makes it red or incomplete."""
        red = [doubt.reason for doubt in self.doubts if doubt.about == FAILURES]
        doubts = [*red, *(doubt.reason for doubt in self.doubts if doubt.about != FAILURES)]
        claimed = sum(suite.claimed.get("tests", 0) for suite in self.suites)
        return RunRecord(
            run_id=name,
            exit_code=1 if self.failures or self.errors or red else 0,
            environment=environment,
            complete=not doubts,
            incomplete_reason=doubts[0] if doubts else None,
            collected=max(claimed, len(self.tests) + len(self.errors)),
            tests=tuple(self.tests.values()),
            collection_errors=tuple(self.errors.values()),
            failures=_by_signature(self.failures.values()),
            extra=_judged(self.suites),
        )


@dataclass(frozen=True, slots=True)
class JunitReport:
    """One file: what each of its outermost suites shows, and a digest of its content."""

    path: Path
    digest: str
    runs: tuple[SuiteRun, ...]


def read_report(path: Path, *, last: bool = False) -> JunitReport:
    """Read one report; raises RecordError when it is missing, damaged or holds a DOCTYPE."""
    runs: dict[ReadSuite, SuiteRun] = {}

    def take(case: ReadCase) -> None:
        top = case.suite.top
        if top not in runs:
            runs[top] = SuiteRun(last, [top])
        runs[top].add(case)

    read = read_document(path, take)
    for doubt in read.doubts:
        top = doubt.suite.top
        if top is read.root and runs:
            # the file's own counts are those of all of it, and with it of each part
            for run in runs.values():
                run.doubts.append(doubt)
            continue
        runs.setdefault(top, SuiteRun(last, [top])).doubts.append(doubt)
    return JunitReport(path, read.digest, tuple(runs.values()))


def read_junit(path: Path, environment: str = "") -> RunRecord:
    """Read one report as the record of one run, of the environment that is named; raises RecordError when it cannot be read.

    A report that claims more tests than it holds gives an incomplete record.
    """
    return joined(read_report(path).runs).record(path.name, environment or path.name)


def joined(runs: Iterable[SuiteRun], *, last: bool = False) -> SuiteRun:
    """Return what several suites or files of one environment show together."""
    whole = SuiteRun(last)
    for run in runs:
        whole.join(run)
    whole.doubts = list(dict.fromkeys(whole.doubts))
    return whole


def _judged(suites: Iterable[ReadSuite]) -> dict[str, Any]:
    """Return what `pytest --fire-loop` wrote into the report, of the suites the last; odd values are left out."""
    found: dict[str, Any] = {}
    for suite in suites:
        said = {name.removeprefix(PREFIX): text for name, text in suite.properties.items() if name.startswith(PREFIX)}
        for name in ("score", "window_score"):
            number = _number(said.get(name))
            if number is not None:
                found[name] = number
        found |= {name: said[name] for name, known in (("health", WORDS), ("level", LEVELS)) if said.get(name) in known}
        if said.get("circuit") in STATES:
            found["circuit"] = {"state": said["circuit"]}
    return found


def _number(text: str | None) -> int | None:
    try:
        number = float(text or "nan")
    except ValueError:
        return None
    return int(number) if math.isfinite(number) and abs(number) < 10**9 else None


def _by_signature(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    """Put the failures of one signature together, with the first as their representative."""
    found: dict[str, list[Failure]] = {}
    for failure in failures:
        found.setdefault(failure.signature, []).append(failure)
    return tuple(
        replace(same[0], nodeids=tuple(sorted(node for each in same for node in each.nodeids)))
        for _, same in sorted(found.items())
    )
