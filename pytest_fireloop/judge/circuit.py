"""The circuit: closed, open with a cooldown, half open for exactly one probe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pytest_fireloop.judge.settings import Settings

CLOSED, OPEN, HALF_OPEN = "CLOSED", "OPEN", "HALF_OPEN"


@dataclass(frozen=True, slots=True)
class Circuit:
    """Times in seconds; `watching` counts the iterations left in which a relapse opens it at once."""

    state: str = CLOSED
    reason: str | None = None
    opened_at: float | None = None
    cooldown_s: float = 0.0
    watching: int = 0

    @property
    def retry_at(self) -> float | None:
        """When one probe is allowed."""
        return None if self.opened_at is None else self.opened_at + self.cooldown_s

    def to_json(self) -> dict[str, Any]:
        """Return the circuit as it stands in records and summaries."""
        return {
            "state": self.state,
            "reason": self.reason,
            "opened_at": self.opened_at,
            "retry_at": self.retry_at,
        }


@dataclass(frozen=True, slots=True)
class Admission:
    """The circuit's word before an iteration."""

    refused: bool
    probe: bool = False
    reason: str | None = None
    retry_at: float | None = None


def ask(circuit: Circuit, at: float) -> Admission:
    """Say whether an iteration may run at a time; a clock that went back does not lengthen a cooldown."""
    if circuit.state == CLOSED or circuit.opened_at is None:
        return Admission(refused=False)
    waited = at - circuit.opened_at
    if waited >= circuit.cooldown_s:
        return Admission(refused=False, probe=True, reason=circuit.reason, retry_at=circuit.retry_at)
    return Admission(refused=True, reason=circuit.reason, retry_at=circuit.retry_at)


def trip(circuit: Circuit, reason: str, at: float, settings: Settings) -> Circuit:
    """Open the circuit; a relapse while it is watched doubles the last cooldown."""
    again = reason == "relapse" and circuit.cooldown_s > 0
    cooldown = min(settings.cooldown_cap_s, circuit.cooldown_s * 2 if again else settings.cooldown_s)
    return Circuit(OPEN, reason, at, cooldown)


def probed(circuit: Circuit, score: int | None, at: float, settings: Settings) -> Circuit:
    """Close on a positive score, else open again with the cooldown doubled; without a score the probe did not run."""
    if score is None:
        return circuit
    if score > 0:
        return Circuit(CLOSED, cooldown_s=circuit.cooldown_s, watching=settings.watch)
    return replace(circuit, opened_at=at, cooldown_s=min(settings.cooldown_cap_s, circuit.cooldown_s * 2))


def watched(circuit: Circuit) -> Circuit:
    """Count one iteration after closing."""
    return replace(circuit, watching=max(0, circuit.watching - 1)) if circuit.watching else circuit
