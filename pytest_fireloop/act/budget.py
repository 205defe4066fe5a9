"""What a loop may spend: calls an hour of all the user's loops, money of its own, and the waits between calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pytest_fireloop.agents.agent import Outcome
from pytest_fireloop.judge.allowance import HOUR, Allowance, allowance, pause
from pytest_fireloop.judge.verdict import Ending
from pytest_fireloop.remember.ledger import Ledger
from pytest_fireloop.show.display import Display

POLL_S = 0.2


@dataclass
class Budget:
    """Asked before each call and told after it; `time_left` and `stopped` are the loop's.

    Without `metered` the calls ask no model, and are neither counted nor waited for.
    """

    ledger: Ledger
    loop_id: str
    calls_per_hour: int
    max_usd: float | None
    display: Display
    time_left: Callable[[], float]
    stopped: Callable[[], bool]
    metered: bool = True
    usd: float = 0.0
    in_a_row: int = 0
    last: Allowance = field(default_factory=lambda: Allowance(0, 1))
    _pause_until: float = 0.0
    _why: str = ""
    _warned: bool = False

    def before_call(self) -> Ending | None:
        """Wait until a call is allowed, and return why the loop ends where it never will be."""
        if self.max_usd is not None and self.usd >= self.max_usd:
            spent = f"the cost limit of {self.max_usd:g} USD was reached: {self.usd:.2f} USD are spent"
            return Ending("limit", f"{spent}; `fireloop resume --max-cost` sets a higher one")
        ended = self.wait(self._pause_until, self._why)
        if ended is not None or not self.metered:
            return ended
        now = time.time()
        self.last = allowance(self.ledger.since(now - HOUR, now), self.calls_per_hour, now)
        if self.last.wait_until is not None:
            why = f"{self.last.used} of {self.last.limit} calls of the last hour are used (--max-calls-per-hour)"
            return self.wait(self.last.wait_until, why) or self.before_call()
        if self.last.warns:
            self.display.line(f"warning: {self.last.used} of {self.last.limit} calls of the last hour are used")
        return None

    def call(self) -> None:
        """Note a call that is about to be made."""
        if not self.metered:
            return
        self.ledger.note(time.time(), self.loop_id)
        self.last = replace(self.last, used=self.last.used + 1)
        if self.ledger.problem is not None:
            self.display.line(f"warning: {self.ledger.problem}")

    def spent(self, outcome: Outcome) -> None:
        """Take in what a call came to."""
        self.usd += outcome.usd or 0.0
        if self.max_usd is not None and outcome.usd is None and outcome.status == "ok" and not self._warned:
            self._warned = True
            self.display.always("warning: this agent does not tell what it costs, so that --max-cost cannot hold it")
        now = time.time()
        reached = outcome.status not in {"rate_limited", "error"}
        self.in_a_row = 0 if reached else self.in_a_row + 1
        wait = pause(outcome.status, self.in_a_row, outcome.reset_at, now)
        self._pause_until = now + wait if wait else 0.0
        self._why = f"the agent did not reach its model ({outcome.status}: {outcome.detail})"

    def wait(self, until: float, why: str, verdict: str = "limit") -> Ending | None:
        """Wait until a time, and return why the loop ends: the verdict where it is too far off, or a stop."""
        seconds = until - time.time()
        if seconds <= 0:
            return None
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(until))
        if seconds > self.time_left():
            return Ending(verdict, f"{why}; the next call would be at {when}, after the time limit of the loop")
        self.display.always(f"waiting until {when}: {why}")
        # by the clock that no one sets back
        end = time.monotonic() + seconds
        with self.display.countdown("waiting for the next call", seconds):
            while (left := end - time.monotonic()) > 0:
                if self.stopped():
                    return Ending("interrupted", "stopped by `fireloop stop`")
                time.sleep(min(POLL_S, left))
        return None
