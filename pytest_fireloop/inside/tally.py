"""What the tests of one run have said: the running ones one by one, the ended ones as counts, rows and failures."""

from __future__ import annotations

from typing import Any

from . import outcome
from .expected import Expected, numbered
from .failures import Failures
from .running_test import RunningTest


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
            self._open[nodeid] = RunningTest()
        elif test.crashed:
            test.again()

    def take(self, nodeid: str, report: Any) -> None:
        """Take one report of a test."""
        test = self._open.get(nodeid)
        if test is None:
            test = self._open[nodeid] = RunningTest()
        if test.take(report):
            test.failure = self.failures.facts_of(report, report.when or "")
        # unless another attempt follows, or another worker's word on the same test
        if report.when == "teardown" and not (test.waits or self._each):
            del self._open[nodeid]
            self._close(nodeid, test)

    def end(self, *, interrupted: bool) -> str | None:
        """Close the tests that no report closed, and return the one that was cut off."""
        cut_off = [nodeid for nodeid, test in self._open.items() if not test.outcome or interrupted]
        in_flight = next((nodeid for nodeid in cut_off if not self._open[nodeid].crashed), None)
        for nodeid in list(self._open):
            self._close(nodeid, self._open.pop(nodeid))
        return in_flight

    @property
    def in_flight(self) -> str | None:
        """The test that has been running longest."""
        return next((nodeid for nodeid, test in self._open.items() if not test.crashed), None)

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
        counts = self.counts
        return "{" + ", ".join([f'"{name}": {counts[name]}' for name in counts]) + "}"

    def _close(self, nodeid: str, test: RunningTest) -> None:
        if not test.outcome:
            return
        self.expected.settle(nodeid)
        if self.expected.repeated(nodeid):
            self._times[nodeid] = self._times.get(nodeid, 0) + 1
            nodeid = numbered(nodeid, self._times[nodeid])
        self.counts[test.outcome] += 1
        if test.failure is not None:
            self.failures.add(nodeid, test.failure)
        self._rows += "," * bool(self._rows) + test.row(nodeid)
