"""What the tests of one run have said: the running ones one by one, the ended ones as counts, rows and failures."""

from __future__ import annotations

from typing import Any

from . import outcome
from .expected import Expected, numbered
from .failures import Failures
from .running_test import RunningTest

#: The counts as JSON, to be filled in: they are written anew with each test.
COUNTS = "{" + ", ".join(f'"{name}": %d' for name in outcome.OUTCOMES) + "}"


class Tally:
    """Takes reports by id; a test that ends becomes a row of JSON and is forgotten."""

    def __init__(self, failures: Failures, *, each: bool) -> None:
        self.expected = Expected()
        self.failures = failures
        self.counts = dict.fromkeys(outcome.OUTCOMES, 0)
        self._each = each
        self._open: dict[str, RunningTest] = {}
        self._times: dict[str, int] = {}
        self._rows = ""

    def start(self, nodeid: str) -> None:
        """Note that a test starts; after a crash of its worker that is another attempt."""
        test = self._open.get(nodeid)
        if test is None:
            self._open[nodeid] = RunningTest(nodeid)
        elif test.crashed:
            test.again()

    def take(self, nodeid: str, report: Any) -> None:
        """Take one report of a test."""
        key = nodeid
        test = self._open.get(key)
        worker = getattr(report, "worker_id", None)
        if worker is not None and self.expected.repeated(nodeid):
            # two workers may run two tests of one id at the same time
            key = f"{nodeid} on {worker}"
            test = self._open.get(key)
            if test is None:
                self._open.pop(nodeid, None)
        elif test is None and worker is None and len(self._open) == 1 and not self.expected.knows(nodeid):
            # a conftest has renamed the report; the test is the one that runs
            ((key, test),) = self._open.items()
        if test is None:
            test = self._open[key] = RunningTest(nodeid)
        if test.take(report):
            test.failure = self.failures.facts_of(report, report.when or "")
        # unless another attempt follows, or another worker's word on the same test
        if report.when == "teardown" and not (test.waits or self._each):
            del self._open[key]
            self._close(test)

    def end(self, *, interrupted: bool) -> str | None:
        """Close the tests that no report closed, and return the one that was cut off."""
        cut_off = [test for test in self._open.values() if not test.outcome or interrupted]
        in_flight = next((test.nodeid for test in cut_off if not test.crashed), None)
        for key in list(self._open):
            self._close(self._open.pop(key))
        return in_flight

    @property
    def in_flight(self) -> str | None:
        """The test that has been running longest."""
        for test in self._open.values():
            if not test.crashed:
                return test.nodeid
        return None

    @property
    def rows_waiting(self) -> int:
        """Characters of rows that nobody has taken yet."""
        return len(self._rows)

    def take_rows(self) -> str:
        """Return the rows of the tests that ended since the last time."""
        rows, self._rows = self._rows, ""
        return rows

    def counts_as_json(self) -> str:
        """Return the counts by outcome."""
        return COUNTS % tuple(self.counts.values())

    def _close(self, test: RunningTest) -> None:
        if not test.outcome:
            return
        nodeid = test.nodeid
        self.expected.settle(nodeid)
        if self.expected.repeated(nodeid):
            self._times[nodeid] = self._times.get(nodeid, 0) + 1
            nodeid = numbered(nodeid, self._times[nodeid])
        self.counts[test.outcome] += 1
        if test.failure is not None:
            self.failures.add(nodeid, test.failure)
        self._rows += "," * bool(self._rows) + test.row(nodeid)
