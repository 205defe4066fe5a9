"""The time that a loop may take, and what is left of it for a call and for a run of the tests."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

#: What a run of the tests may take at least, so that the work of a call that was cut is still judged, seconds.
LAST_RUN_S = 30.0
#: And how often as long as the run at the start.
LAST_RUN_RATIO = 2.0


@dataclass(slots=True)
class TimeLimit:
    """Begins when it is made; `run_s` is how long the tests took at the start, None until that is known."""

    seconds: float
    run_s: float | None = None
    started: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the loop began or went on."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds that are left, 0 when the time is over."""
        return max(0.0, self.seconds - self.elapsed)

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self.elapsed > self.seconds

    def for_call(self, wanted: float) -> float:
        """Return the limit of a call of the agent: its own, or what is left."""
        return min(wanted, self.left)

    def for_tests(self, wanted: float) -> float:
        """Return the limit of a run of the tests: what the agent did is judged, also when the time is over.

        The first run has no more than what is left.
        """
        needed = 0.0 if self.run_s is None else max(LAST_RUN_S, LAST_RUN_RATIO * self.run_s)
        return min(wanted, max(self.left, needed))
