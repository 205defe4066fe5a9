"""How many calls of an agent are left in a rolling hour, and how long to wait after a call that never reached its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HOUR = 3600.0
#: From this share of the limit on the loop warns, and asks for the most valuable step first (circuit-breaker skill, phase 4).
WARN_AT = 0.8
#: Seconds before a call is tried again, doubled with each in a row up to the cap; ours.
FIRST_WAIT_S = {"rate_limited": 60.0, "error": 5.0}
LONGEST_WAIT_S = {"rate_limited": HOUR, "error": 300.0}
#: An agent's own word on when its limit ends is believed within these bounds.
NEAREST_RESET_S, FARTHEST_RESET_S = 1.0, 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """Calls of the last hour against their limit; `wait_until` is when the next one is allowed, None for now."""

    used: int
    limit: int
    wait_until: float | None = None

    @property
    def left(self) -> float:
        """The share that is left, 0 to 1."""
        return max(0.0, 1 - self.used / self.limit)

    @property
    def warns(self) -> bool:
        """Whether most of the calls are used."""
        return self.used >= WARN_AT * self.limit


def allowance(times: Sequence[float], limit: int, now: float) -> Allowance:
    """Count the calls of the last hour; a call that seems to lie ahead was made before the clock went back, and counts."""
    recent = sorted(min(at, now) for at in times if at > now - HOUR)
    if len(recent) < limit:
        return Allowance(len(recent), limit)
    return Allowance(len(recent), limit, recent[len(recent) - limit] + HOUR)


def pause(status: str, in_a_row: int, reset_at: float | None, now: float) -> float:
    """Return the seconds to wait after so many calls in a row that never reached the model, 0 for any other status."""
    if status not in FIRST_WAIT_S:
        return 0.0
    if status == "rate_limited" and reset_at is not None:
        return min(FARTHEST_RESET_S, max(NEAREST_RESET_S, reset_at - now))
    return min(LONGEST_WAIT_S[status], FIRST_WAIT_S[status] * 2.0 ** min(60, in_a_row - 1))
