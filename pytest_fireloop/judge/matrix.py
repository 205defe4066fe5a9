"""One decision from the runs of a matrix: green only if each is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fireloop.judge.verdict import EXIT_CODES
from pytest_fireloop.observe.record import RunRecord

#: From worst to best; the matrix is as its worst environment.
ORDER = ("false_green", "limit", "no_tests", "green")
WORDS = {"false_green": "incomplete", "limit": "red", "no_tests": "no tests", "green": "green"}


@dataclass(frozen=True, slots=True)
class MatrixDecision:
    """The verdict of each environment, in the order given, and of all together."""

    verdict: str
    environments: tuple[tuple[str, str, str], ...]

    @property
    def exit_code(self) -> int:
        """Return the exit code of the whole matrix."""
        return EXIT_CODES[self.verdict]

    def to_json(self) -> dict[str, Any]:
        """Return the decision as JSON."""
        rows = [
            {"environment": name, "verdict": WORDS[verdict], "reason": reason}
            for name, verdict, reason in self.environments
        ]
        return {"verdict": WORDS[self.verdict], "exit_code": self.exit_code, "environments": rows}


def decide_matrix(records: Sequence[RunRecord]) -> MatrixDecision:
    """Judge the runs of a matrix; without any run there are no tests."""
    rows = tuple((record.environment, *_verdict(record)) for record in records)
    return MatrixDecision(min((row[1] for row in rows), key=ORDER.index, default="no_tests"), rows)


def _verdict(record: RunRecord) -> tuple[str, str]:
    red = len(record.red) + len(record.collection_errors)
    if red:
        return "limit", f"{red} of {len(record.tests) + len(record.collection_errors)} tests are red"
    if not record.complete:
        return "false_green", record.incomplete_reason or "incomplete"
    if not record.sound:
        return "no_tests", "no test passed"
    return "green", f"{len(record.tests)} tests"
