"""One iteration of the runner as it was seen and judged, and what is kept of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fireloop.act.prompt import Attempt
from pytest_fireloop.act.protected import Violation
from pytest_fireloop.act.verification import Verification
from pytest_fireloop.agents.agent import Outcome
from pytest_fireloop.judge.judge import Decision
from pytest_fireloop.judge.verdict import Ending, verdict_of_stop
from pytest_fireloop.observe.changes import ChangeSet
from pytest_fireloop.observe.delta import compare
from pytest_fireloop.observe.record import RunRecord
from pytest_fireloop.show.evidence import reason
from pytest_fireloop.show.iteration import iteration_line


@dataclass(frozen=True, slots=True)
class AgentWork:
    """What one call came to, and what it did to the tree, the repository and the protected files."""

    number: int
    prompt: str
    outcome: Outcome
    text: str
    changes: ChangeSet
    moves: Sequence[str]
    violations: Sequence[Violation]

    def promises(self, promise: str) -> bool:
        """Whether the agent said the promise on a line of its own."""
        return any(line.strip() == promise for line in self.text.splitlines())


@dataclass(frozen=True, slots=True)
class Iteration:
    """The agent's work, the run of the tests after it, and the judge's decision; `before` is the run before it."""

    work: AgentWork
    before: RunRecord
    record: RunRecord
    verification: Verification | None
    facts: Mapping[str, Any]
    decision: Decision

    @property
    def line(self) -> str:
        """All of it on one line."""
        return iteration_line(
            self.work.number,
            self.work.outcome,
            before=self.before,
            after=self.record,
            changes=self.work.changes,
            decision=self.decision,
        )

    @property
    def attempt(self) -> Attempt:
        """What the next prompts say of it."""
        findings = self.verification.findings if self.verification else ()
        told = (
            *(f"{each.kind} in {each.path}: {each.detail}" for each in findings),
            *(violation.told for violation in self.work.violations),
        )
        return Attempt(self.work.number, tuple(file.path for file in self.work.changes.files), self.line, told)

    def ending(self, *, wants_promise: bool) -> Ending | None:
        """Return the end that it brings: a believed green, or an agent that cannot go on."""
        verification, outcome = self.verification, self.work.outcome
        if verification is not None and verification.green and (self.facts["promise"] or not wants_promise):
            return Ending("green", verification.reason)
        if outcome.status == "blocked":
            return Ending("blocked", f"the agent says that a person is needed: {outcome.detail}")
        if outcome.status == "auth":
            return Ending("blocked", f"the agent cannot authenticate: {outcome.detail}")
        return None

    @property
    def trip(self) -> Ending | None:
        """The end where the judge says stop."""
        stop = self.decision.stop
        return None if stop is None else Ending(verdict_of_stop(stop), f"{stop}: {reason(self.decision.evidence)}")

    def to_json(self, flaky: Collection[str]) -> dict[str, Any]:
        """Return what the journal keeps, less what the loop itself adds."""
        work, outcome, verification = self.work, self.work.outcome, self.verification
        delta = compare(self.before, self.record, flaky)
        return {
            "facts": self.facts,
            "decision": self.decision.to_json(),
            "record": {**self.record.to_json(), "delta": delta.to_json(), "changes": work.changes.to_json()},
            "prompt": work.prompt,
            "agent": {
                "status": outcome.status,
                "detail": outcome.detail,
                "session": outcome.session,
                "turns": outcome.turns,
                "reset_at": outcome.reset_at,
            },
            "moves": list(work.moves),
            "protected": [each.to_json() for each in work.violations],
            "verification": verification.reason if verification else None,
            "integrity": verification.to_json() if verification else None,
            "attempt": self.attempt.to_json(),
        }
