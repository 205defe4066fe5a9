"""A loop that goes on: what the journal holds of it, made into what the loop knew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fireloop.act.progress import Progress
from pytest_fireloop.act.prompt import Attempt
from pytest_fireloop.act.protected import Violation
from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.judge import State, begin, decide
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.observe.record import RunRecord
from pytest_fireloop.remember.journal import Journal


@dataclass(frozen=True, slots=True)
class Resumed:
    """An earlier loop: its iterations as they are stored, the baseline first, and what is kept beside them."""

    loop_id: str
    rows: Sequence[Mapping[str, Any]]
    data: Mapping[str, Any]
    #: Whether the runner was killed, so that an agent may have been at work.
    cut_off: bool = False
    #: Whether a person closed its circuit since the last iteration.
    was_reset: bool = False

    @classmethod
    def of(cls, journal: Journal, loop_id: str) -> Resumed:
        """Read a loop from the journal."""
        rows, row = journal.iterations(loop_id), journal.loop(loop_id)
        if row is None:
            return cls(loop_id, rows, {})
        return cls(loop_id, rows, row.data, row.verdict is None, journal.was_reset(row))

    @property
    def baseline(self) -> RunRecord:
        """The run before the first agent call."""
        return RunRecord.from_json(self.rows[0]["record"])

    @property
    def generated(self) -> list[str]:
        """The files that a test command of the user's own wrote in its first run."""
        return list(self.rows[0].get("generated") or ())

    @property
    def last(self) -> Mapping[str, Any]:
        """The latest iteration, or the baseline."""
        return self.rows[-1]

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return how the loop was started, with the agent that it goes on with."""
        chosen = {name: given[name] for name in ("agent", "agent_arg", "model") if name in given}
        return {**(self.data.get("options") or {}), **chosen}

    @property
    def loop_rows(self) -> list[str]:
        """The rows of the loop file."""
        return [str(row["loop_row"]) for row in self.rows[1:] if row.get("loop_row")]

    def attempts(self) -> list[Attempt]:
        """Return what was tried, for the prompt."""
        told = [(row["facts"]["iteration"], row["attempt"]) for row in self.rows[1:] if row.get("attempt")]
        return [Attempt(number, tuple(a["files"]), a["result"], tuple(a["findings"])) for number, a in told]

    def fold(self, settings: Settings) -> tuple[State, Progress]:
        """Judge the loop again, and return the state with the progress that it had."""
        first = self.rows[0]
        state = begin(Facts.from_json(first["facts"]), settings)
        progress = Progress()
        progress.begin(self.baseline, frozenset(first["facts"]["flaky"]), str(first["checkpoint"]))
        for row in self.rows[1:]:
            state, decision = decide(state, Facts.from_json(row["facts"]))
            number = int(row["facts"]["iteration"])
            progress.add(number, RunRecord.from_json(row["record"]), str(row["checkpoint"]), decision)
            progress.rotations += decision.rotate is not None
            progress.moves += [(number, str(move)) for move in row.get("moves") or ()]
            progress.protected += [(number, Violation.from_json(each)) for each in row.get("protected") or ()]
            progress.trips += decision.stop is not None
            progress.tokens += int(row["facts"].get("tokens") or 0)
            progress.usd += float(row["facts"].get("usd") or 0.0)
        progress.flaky = frozenset(self.last["facts"]["flaky"])
        # a call that was cut off counts as a call and costs what it did, and is no iteration
        progress.calls = max(int(self.data.get("calls") or 0), len(self.rows) - 1)
        progress.tokens = max(int(self.data.get("tokens") or 0), progress.tokens)
        progress.usd = max(float(self.data.get("usd") or 0.0), progress.usd)
        return state, progress
