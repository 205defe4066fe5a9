"""The last trip in a tree: whether it bars a new loop there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fireloop.judge.circuit import CLOSED
from pytest_fireloop.judge.judge import MENDED_BY_A_PERSON
from pytest_fireloop.judge.verdict import Ending
from pytest_fireloop.remember.journal import RUNNER, Journal
from pytest_fireloop.show.refusal import due


@dataclass(frozen=True, slots=True)
class LastTrip:
    """The runner's last loop in this tree, which ended with its circuit open on this content of the tree."""

    loop_id: str
    circuit: Mapping[str, Any]
    tree: str
    pytest_args: tuple[str, ...]

    @classmethod
    def of(cls, journal: Journal, but_for: str) -> LastTrip | None:
        """Read it from the journal, None where the last loop that ran anything was reset, or left no open circuit."""
        loops = (row for row in journal.loops(RUNNER) if row.loop_id != but_for)
        row = next((each for each in loops if journal.count_iterations(each.loop_id)), None)
        if row is None or row.verdict == "green" or journal.was_reset(row):
            return None
        if row.circuit.get("state", CLOSED) == CLOSED:
            return None
        tree = str((row.data.get("summary") or {}).get("tree"))
        return cls(row.loop_id, row.circuit, tree, tuple(row.data.get("pytest_args") or ()))

    @property
    def line(self) -> str:
        """What the banner of a new loop says of it."""
        return f"the last loop here, {self.loop_id}, ended with an open circuit: {self.circuit.get('reason')}"

    def bars(self, tree: str, at: float) -> Ending | None:
        """Refuse the very content of the tree on which the loop tripped, as long as it cools down."""
        retry_at = float(self.circuit.get("retry_at") or 0.0)
        reason = self.circuit.get("reason")
        if self.tree != tree or reason in MENDED_BY_A_PERSON or at >= retry_at:
            return None
        return Ending(
            "circuit_open",
            f"nothing changed since the circuit opened ({reason}) in loop {self.loop_id}: only the files of the tree "
            "count, not the agent, the task or the arguments; change something, `fireloop reset` to begin anew at "
            f"once, or `fireloop resume` {due(retry_at, at)}",
        )

    def was_run_with(self, pytest_args: Sequence[str]) -> bool:
        """Whether its tests were run with these arguments, so that nothing is wrong with them."""
        return self.pytest_args == tuple(pytest_args)
