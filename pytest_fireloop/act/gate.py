"""What is asked before each call of the agent: a request to stop, the limits, the circuit, the budget."""

from __future__ import annotations

import time
from typing import Any

from pytest_fireloop.act.budget import Budget
from pytest_fireloop.act.settings import LoopSettings
from pytest_fireloop.act.time_limit import TimeLimit
from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.judge import (
    Admission,
    Decision,
    State,
    admit,
    agent_back,
    begin,
    decide,
    notice_clock,
    reset,
)
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.judge.verdict import Ending
from pytest_fireloop.observe.text import plural
from pytest_fireloop.remember.journal import Journal
from pytest_fireloop.remember.ledger import Ledger
from pytest_fireloop.remember.paths import state_root
from pytest_fireloop.show.display import Display
from pytest_fireloop.show.refusal import waiting_text


class Gate:
    """Holds the judge's state; `first` is the number of the first iteration since the loop began or went on."""

    def __init__(self, settings: LoopSettings, journal: Journal, loop_id: str, display: Display) -> None:
        self.thresholds = Settings.for_profile(
            settings.profile, **{"cooldown_s": settings.cooldown_s, **settings.thresholds}
        )
        self.state: State | None = None
        self.first = 1
        self._settings, self._journal = settings, journal
        self.time = TimeLimit(settings.max_time_s)
        self._clock_back_at: float | None = None
        #: What a person did to the loop since its last iteration, as facts say it.
        self._by_a_person: dict[str, bool] = {}
        self.budget = Budget(
            Ledger(state_root(settings.environment)),
            loop_id,
            settings.max_calls_per_hour,
            settings.max_cost_usd,
            display,
            time_left=lambda: self.time.left,
            stopped=self._stop_requested,
            metered=settings.agent.metered,
        )

    def begin(self, facts: dict[str, Any]) -> None:
        """Start from the baseline's facts."""
        self.state = begin(Facts.from_json(facts), self.thresholds)

    def take_up(self, state: State, usd: float, *, was_reset: bool) -> None:
        """Go on from the judge's state and the cost of an earlier loop; an agent that could not be called may be there now."""
        self.state = reset(state) if was_reset else agent_back(state)
        if self.state is not state:
            self._by_a_person = {"reset" if was_reset else "agent_back": True}
        self.budget.usd = usd

    def complete(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Add to the facts of an iteration what was asked for before it."""
        facts["calls_left"] = self.budget.last.left
        if not self._settings.circuit_breaker:
            facts["forced"] = True
        if self._clock_back_at is not None:
            facts["clock_back_at"], self._clock_back_at = self._clock_back_at, None
        facts |= self._by_a_person
        self._by_a_person = {}
        return facts

    def decide(self, facts: dict[str, Any]) -> Decision:
        """Judge one iteration."""
        assert self.state is not None
        self.state, decision = decide(self.state, Facts.from_json(facts))
        return decision

    def before(self, number: int) -> Ending | None:
        """Ask all of it, wait where that helps, and return why the loop ends."""
        settings = self._settings
        if self._stop_requested():
            return Ending("interrupted", "stopped by `fireloop stop`")
        if number >= self.first + settings.max_iterations:
            return Ending(
                "limit",
                f"the limit of {plural(settings.max_iterations, 'iteration')} was reached and the tests are not green",
            )
        return self.out_of_time() or (self._closed() if settings.circuit_breaker else None) or self.budget.before_call()

    def out_of_time(self) -> Ending | None:
        """Return the end where the time is over."""
        return Ending("limit", f"the time limit of {self.time.seconds:g} s was reached") if self.time.over else None

    def refusal(self) -> Ending | None:
        """Return why nothing runs now, where the circuit is asked and not waited for."""
        if not self._settings.circuit_breaker or self._settings.wait:
            return None
        admission = self._admission()
        return Ending("circuit_open", waiting_text(admission, time.time())) if admission.refused else None

    def _closed(self) -> Ending | None:
        refused = self.refusal()
        if refused is not None:
            return refused
        while (admission := self._admission()).refused:
            why = f"the circuit is open: {admission.reason}"
            ended = self.budget.wait(admission.retry_at or 0.0, why, verdict="circuit_open")
            if ended is not None:
                return ended
        return None

    def _admission(self) -> Admission:
        """Ask the circuit, and keep it when the clock went back: each look would else begin the cooldown anew."""
        assert self.state is not None
        now = time.time()
        noticed = notice_clock(self.state, now)
        if noticed is not self.state:
            self.state, self._clock_back_at = noticed, now
        return admit(self.state, now)

    def _stop_requested(self) -> bool:
        """Whether somebody asked for the end; the request is met with that."""
        if not self._journal.requested("stop"):
            return False
        self._journal.clear_request("stop")
        return True
