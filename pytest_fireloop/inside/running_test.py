"""What the reports of one test have said so far."""

from __future__ import annotations

from json.encoder import encode_basestring_ascii
from typing import Any

from . import outcome

#: What a report of pytest itself says; other words, such as `rerun`, stand for an attempt that does not count.
FINAL = frozenset({"passed", "failed", "skipped"})
CRASH = "???"
LONGEST_S = 1e9


class RunningTest:
    """Takes the reports of one test in their order; a new attempt forgets what the one before said."""

    __slots__ = ("crashed", "duration", "failure", "nodeid", "outcome", "reruns", "waits")

    def __init__(self, nodeid: str) -> None:
        self.nodeid = nodeid
        self.outcome = ""
        self.duration = 0.0
        self.failure: dict[str, Any] | None = None
        self.reruns = 0
        self.crashed = False
        self.waits = False

    def take(self, report: Any) -> bool:
        """Take one report; return whether it is the failure that the test is known by from now on."""
        when, said = report.when, report.outcome
        if isinstance(report.duration, float):
            self.duration += report.duration
        if when == "setup":
            self.waits = False
        if said == "passed" and when != "call":
            return False
        if said not in FINAL:
            self.reruns += not self.waits
            self._forget(waits=True)
            return False
        self.crashed = self.crashed or when == CRASH
        said = outcome.of_report(report)
        if not said:
            return False
        worst = outcome.worse(self.outcome, said)
        decides = said in outcome.RED and worst != self.outcome
        self.outcome = worst
        return decides

    def again(self) -> None:
        """Begin another attempt after a crash of the worker."""
        self.reruns += 1
        self.crashed = False
        self._forget(waits=False)

    def row(self, nodeid: str) -> str:
        """Return the test's entry in the record, as JSON."""
        duration = self.duration if 0 <= self.duration < LONGEST_S else 0.0
        if self.failure is None:
            hashes = '"signature": null, "cause": null'
        else:
            hashes = f'"signature": "{self.failure["signature"]}", "cause": "{self.failure["cause"]}"'
        return (
            f'{{"nodeid": {encode_basestring_ascii(nodeid)}, "outcome": "{self.outcome}", '
            f'"duration_s": {duration:.6f}, {hashes}, "reruns": {self.reruns}}}'
        )

    def _forget(self, *, waits: bool) -> None:
        self.outcome, self.failure, self.waits = "", None, waits
