"""The loop of `pytest --fire-loop` that is open in this tree and environment, folded again from its facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_fireloop.act.owner import Owner
from pytest_fireloop.judge.decision import Decision
from pytest_fireloop.judge.facts import RED, Facts
from pytest_fireloop.judge.judge import Admission, State, admit, begin, decide, notice_clock
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.remember.journal import Journal, LoopRow


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """What the next run of this loop is judged by; a row is one iteration as the journal holds it."""

    loop_id: str
    state: State
    rows: list[dict[str, Any]] = field(default_factory=list)
    clock_back_at: float | None = None

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
        """The scope of the first whole run, by which later ones are told; of the first run where all show a part."""
        whole = (row for row in self.rows if not row["facts"].get("partial"))
        return str(next(whole, self.rows[0])["scope"])

    @property
    def scopes(self) -> set[str]:
        """The scopes of which each ends the loop when it is green: that of its first run, and of its first whole one."""
        return {str(self.rows[0]["scope"]), self.scope}

    @property
    def shows_parts(self) -> bool:
        """Whether no whole run is among its iterations."""
        return all(row["facts"].get("partial") for row in self.rows)

    def decide(self, facts: Mapping[str, Any]) -> Decision:
        """Judge one more iteration, given as it stands in a trace."""
        return decide(self.state, Facts.from_json(facts))[1]

    def covered_by(self, outcomes: Mapping[str, str]) -> bool:
        """Whether a run shows each test that is known to be red."""
        known = self.state.suite.known
        return all(node in outcomes for node, said in known.items() if said in RED)


def fold(journal: Journal, row: LoopRow, profile: str) -> OpenLoop:
    """Judge a loop again from what the journal holds of it."""
    settings = Settings.for_profile(profile)
    rows = journal.iterations(row.loop_id)
    state = begin(Facts.from_json(rows[0]["facts"]), settings)
    for each in rows[1:]:
        state, _ = decide(state, Facts.from_json(each["facts"]))
    noted, at = row.data.get("clock_back") or (None, None)
    if noted != len(rows) or at is None:
        return OpenLoop(row.loop_id, state, rows)
    # seen since the last iteration, and kept: each look would else begin the cooldown anew
    return OpenLoop(row.loop_id, notice_clock(state, at), rows, at)


def ask(loop: OpenLoop, journal: Journal, at: float, asker: Owner) -> Admission:
    """Ask the circuit for a run, and keep what the answer depends on: a clock that went back, a probe under way."""
    state = notice_clock(loop.state, at)
    if state is not loop.state:
        journal.note(loop.loop_id, clock_back=[len(loop.rows), at])
    admission = admit(state, at)
    if admission.probe:
        number, holder = (journal.loop_data(loop.loop_id).get("probe") or (None, None))[:2]
        other = Owner.from_json(holder) if number == len(loop.rows) and holder else asker
        if other != asker and other.lives:
            return replace(admission, refused=True, under_way=True)
        journal.note(loop.loop_id, probe=[len(loop.rows), asker.to_json()])
    return admission
