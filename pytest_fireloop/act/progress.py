"""What a loop has come to so far, and the summary of its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_fireloop.act.protected import Violation
from pytest_fireloop.act.verification import Verification
from pytest_fireloop.agents.agent import Outcome
from pytest_fireloop.judge.circuit import Circuit
from pytest_fireloop.judge.judge import Decision
from pytest_fireloop.judge.verdict import Ending
from pytest_fireloop.observe.record import GREEN, RED, RunRecord

SCHEMA = "fireloop.loop/1"
NOTHING = RunRecord(run_id="")


@dataclass(slots=True)
class Progress:
    """Grows with each iteration; the best is the earliest with the most passing tests, the baseline included."""

    baseline: RunRecord = NOTHING
    record: RunRecord = NOTHING
    flaky: frozenset[str] = frozenset()
    iterations: int = 0
    calls: int = 0
    rotations: int = 0
    trips: int = 0
    best: int = 0
    tokens: int = 0
    usd: float = 0.0
    commits: list[str] = field(default_factory=list)
    passing: list[int] = field(default_factory=list)
    health: Counter[str] = field(default_factory=Counter)
    circuit: Mapping[str, Any] | None = None
    tree: str = ""
    #: What agents moved in the user's repository or took from under the loop, by iteration.
    moves: list[tuple[int, str]] = field(default_factory=list)
    protected: list[tuple[int, Violation]] = field(default_factory=list)

    def begin(self, record: RunRecord, flaky: frozenset[str], commit: str) -> None:
        """Start from the baseline."""
        self.baseline = self.record = record
        self.flaky = flaky
        self.commits.append(commit)
        self.passing.append(_passing(record))

    def spend(self, outcome: Outcome) -> None:
        """Add what one call cost, where the agent tells."""
        self.tokens += outcome.tokens or 0
        self.usd += outcome.usd or 0.0

    def add(self, number: int, record: RunRecord, commit: str, decision: Decision) -> None:
        """Add one judged iteration."""
        self.iterations = number
        self.record = record
        self.commits.append(commit)
        self.passing.append(_passing(record))
        if self.passing[-1] > self.passing[self.best]:
            self.best = len(self.passing) - 1
        self.health[decision.health] += 1
        self.circuit = decision.circuit.to_json()


def summarise(
    *,
    loop_id: str | None,
    ending: Ending,
    progress: Progress,
    verification: Verification | None,
    duration_s: float,
    files_changed: int,
    at_best: bool = False,
    loop_file: str | None,
) -> dict[str, Any]:
    """Return the summary as `fireloop.loop/1`; `at_best` where the tree is in its best state already."""
    before, after = progress.baseline.outcomes, progress.record.outcomes
    started = bool(progress.commits)
    return {
        "schema": SCHEMA,
        "loop_id": loop_id,
        "verdict": ending.verdict,
        "exit_code": ending.exit_code,
        "reason": ending.reason,
        "iterations": progress.iterations,
        "agent_calls": progress.calls,
        "baseline": progress.baseline.counts if started else {},
        "final": progress.record.counts if started else {},
        "environments": progress.record.extra.get("environments") or {},
        "fixed": sorted(node for node, said in before.items() if said in RED and after.get(node) in GREEN),
        "broken": sorted(node for node, said in after.items() if said in RED and before.get(node, "") not in RED),
        "still_failing": sorted(node for node, said in after.items() if said in RED and before.get(node) in RED),
        "flaky": sorted(progress.flaky),
        "integrity": {
            "verdict": verification.verdict if verification else "clean",
            "where": (verification.where or None) if verification else None,
            "findings": [finding.to_json() for finding in verification.findings] if verification else [],
        },
        "circuit": progress.circuit or Circuit().to_json(),
        "best": {"iteration": progress.best, "commit": progress.commits[progress.best] if started else None},
        "at_best": at_best,
        "health_profile": {
            **{state: progress.health[state] for state in ("PROGRESS", "STALLED", "SPINNING", "DEGRADED", "BLOCKED")},
            "rotations": progress.rotations,
            "trips": progress.trips,
        },
        "lessons": [],
        "moves": [{"iteration": number, "what": what} for number, what in progress.moves],
        "protected": [{"iteration": number, **each.to_json()} for number, each in progress.protected],
        "cost": {"tokens": progress.tokens, "usd": round(progress.usd, 6)},
        "duration_s": round(duration_s, 3),
        "files_changed": files_changed,
        "tree": progress.tree,
        "loop_file": loop_file,
        "report": None,
    }


def _passing(record: RunRecord) -> int:
    return sum(test.outcome in GREEN for test in record.tests)
