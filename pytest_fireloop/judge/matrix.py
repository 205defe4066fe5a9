"""One decision from the runs of a matrix: green only if each is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fireloop.judge.circuit import CLOSED
from pytest_fireloop.judge.verdict import EXIT_CODES
from pytest_fireloop.observe.delta import Delta
from pytest_fireloop.observe.lost import LostFailures
from pytest_fireloop.observe.record import GREEN, RunRecord

#: From worst to best; the matrix is as its worst environment, but for those that are stuck while others get on.
ORDER = ("usage", "false_green", "limit", "blocked", "circuit_open", "no_tests", "green")
WORDS = {
    "usage": "missing",
    "false_green": "incomplete",
    "blocked": "blocked",
    "circuit_open": "stuck",
    "limit": "red",
    "no_tests": "no tests",
    "green": "green",
}
STUCK = frozenset({"blocked", "circuit_open"})


@dataclass(frozen=True, slots=True)
class EnvironmentDecision:
    """What one environment came to; without a record its report is missing, without history there is no delta."""

    name: str
    verdict: str
    reason: str
    record: RunRecord | None = None
    files: int = 0
    delta: Delta | None = None
    score: int | None = None
    health: str | None = None
    circuit: str | None = None
    lost: LostFailures | None = None

    @property
    def flaky(self) -> list[str]:
        """Tests that passed after they had failed."""
        tests = self.record.tests if self.record else ()
        return sorted(test.nodeid for test in tests if test.reruns and test.outcome in GREEN)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "environment": self.name,
            "verdict": WORDS[self.verdict],
            "reason": self.reason,
            "files": self.files,
            "counts": self.record.counts if self.record else None,
            "collection_errors": len(self.record.collection_errors) if self.record else 0,
            "flaky": self.flaky,
            "delta": self.delta.to_json() if self.delta else None,
            "lost_failures": self.lost.to_json() if self.lost is not None else None,
            "score": self.score,
            "health": self.health,
            "circuit": self.circuit,
        }


@dataclass(frozen=True, slots=True)
class History:
    """What the judge says of a matrix and its environments against the runs before; a stop is a reason of a rule.

    Environments that were red and neither have a report nor must have one are left out.
    """

    stop: str | None = None
    loop_id: str | None = None
    iteration: int | None = None
    decision: Mapping[str, Any] | None = None
    reason: str | None = None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatrixDecision:
    """The verdict of each environment, in the order given, and of all together."""

    verdict: str
    environments: tuple[EnvironmentDecision, ...]
    history: History | None = None

    @property
    def exit_code(self) -> int:
        """Return the exit code of the whole matrix."""
        return EXIT_CODES[self.verdict]

    def to_json(self) -> dict[str, Any]:
        """Return the decision as JSON."""
        past = self.history
        return {
            "verdict": WORDS[self.verdict],
            "exit_code": self.exit_code,
            "environments": [each.to_json() for each in self.environments],
            "history": None
            if past is None
            else {
                "loop_id": past.loop_id,
                "iteration": past.iteration,
                "stop": past.stop,
                "reason": past.reason,
                "decision": past.decision,
                "left_out": list(past.left_out),
            },
        }


def decide_environment(record: RunRecord, files: int = 1) -> EnvironmentDecision:
    """Judge the run of one environment, by what its own referee wrote into its report too, which never makes it green."""
    verdict, reason = _verdict(record)
    referee = record.extra.get("circuit", {}).get("state")
    health = record.extra.get("health")
    if verdict == "limit" and health == "BLOCKED":
        verdict, reason = "blocked", f"{reason}; its own referee says that only a person can help"
    elif verdict == "limit" and referee not in {None, CLOSED}:
        verdict, reason = "circuit_open", f"{reason}; its own circuit is {referee}"
    return EnvironmentDecision(
        record.environment, verdict, reason, record, files, None, record.extra.get("score"), health, referee
    )


def missing(name: str, known: Collection[str], history: str = "") -> EnvironmentDecision:
    """Return the decision on an environment that is expected, by a list or a folder with a history, and has no report."""
    there = f"there are reports of {', '.join(sorted(known)[:10])}" if known else "there are no others"
    why = f", which was red in the last run of the history in {history!r}" if history else ""
    what = (
        "; give its report too, say with --expect which environments there must be, or keep one history for each "
        "group of environments with a --fire-loop-dir of its own"
        if history
        else ""
    )
    return EnvironmentDecision(name, "usage", f"no report of this environment{why}{what}; {there}")


def undecided(environments: Sequence[EnvironmentDecision], why: str) -> MatrixDecision:
    """Return the decision where the history is there and cannot be read: nothing is green, for its circuit may be open."""
    return MatrixDecision("circuit_open", tuple(environments), History(reason=why))


def decide_matrix(environments: Sequence[EnvironmentDecision], history: History | None = None) -> MatrixDecision:
    """Judge the environments of a matrix together; without any there are no tests.

    It stops when the history says so, or when each red environment is stuck by itself; while one gets on, it goes on.
    """
    verdict = min((each.verdict for each in environments), key=ORDER.index, default="no_tests")
    if verdict == "limit" and history is not None and history.stop is not None:
        verdict = "blocked" if history.stop == "blocked" else "circuit_open"
    return MatrixDecision(verdict, tuple(environments), history)


def _verdict(record: RunRecord) -> tuple[str, str]:
    red = len(record.red) + len(record.collection_errors)
    if red:
        return "limit", f"{red} of {len(record.tests) + len(record.collection_errors)} tests are red"
    if record.exit_code:
        return "limit", record.incomplete_reason or "the report claims failures"
    if not record.complete:
        return "false_green", record.incomplete_reason or "incomplete"
    if not record.sound:
        return "no_tests", "no test passed"
    return "green", f"{len(record.tests)} tests"
