"""The loop of `pytest --fire-loop` that is open in this tree and environment, folded again from its facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_fireloop.judge.decision import Decision
from pytest_fireloop.judge.facts import RED, Facts
from pytest_fireloop.judge.judge import State, begin, decide
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.remember.journal import PLUGIN, Journal


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """What the next run of this loop is judged by; a row is one iteration as the journal holds it."""

    loop_id: str
    state: State
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def start(self) -> str:
        """The checkpoint at which the loop began."""
        return str(self.rows[0]["checkpoint"])

    @property
    def last(self) -> Mapping[str, Any]:
        """The latest iteration."""
        return self.rows[-1]

    @property
    def scope(self) -> str:
        """The scope of the run with which the loop began."""
        return str(self.rows[0]["scope"])

    def decide(self, facts: Mapping[str, Any]) -> Decision:
        """Judge one more iteration, given as it stands in a trace."""
        return decide(self.state, Facts.from_json(facts))[1]

    def covered_by(self, outcomes: Mapping[str, str]) -> bool:
        """Whether a run shows each test that is known to be red."""
        known = self.state.suite.known
        return all(node in outcomes for node, said in known.items() if said in RED)


def find(journal: Journal, environment: str, profile: str) -> OpenLoop | None:
    """Return the open loop of an environment, or None."""
    row = journal.open_loop(PLUGIN, environment)
    if row is None:
        return None
    settings = Settings.for_profile(profile)
    rows = journal.iterations(row.loop_id)
    state = begin(Facts.from_json(rows[0]["facts"]), settings)
    for each in rows[1:]:
        state, _ = decide(state, Facts.from_json(each["facts"]))
    return OpenLoop(row.loop_id, state, rows)
