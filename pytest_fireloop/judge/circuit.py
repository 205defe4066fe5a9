"""The circuit: closed, open with a cooldown, half open for exactly one probe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pytest_fireloop.judge.settings import Settings

CLOSED, OPEN, HALF_OPEN = "CLOSED", "OPEN", "HALF_OPEN"


@dataclass(frozen=True, slots=True)
class Circuit:
    """Times in seconds; `watching` counts the iterations left in which a relapse opens it at once.

    It is half open while a probe that was due could not run.
    """

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
    """The circuit's word before an iteration; `under_way` where another process runs the one probe."""

    refused: bool
    probe: bool = False
    reason: str | None = None
    retry_at: float | None = None
    under_way: bool = False


def ask(circuit: Circuit, at: float) -> Admission:
    """Say whether an iteration may run at a time, and whether it is the probe."""
    if circuit.state == CLOSED or circuit.retry_at is None:
        return Admission(refused=False)
    due = circuit.state == HALF_OPEN or at >= circuit.retry_at
    return Admission(refused=not due, probe=due, reason=circuit.reason, retry_at=circuit.retry_at)


def at_time(circuit: Circuit, at: float) -> Circuit:
    """Start the cooldown anew when the clock went back behind its start, or it would last as long as the clock erred."""
    if circuit.state == OPEN and circuit.opened_at is not None and at < circuit.opened_at:
        return replace(circuit, opened_at=at)
    return circuit


def trip(circuit: Circuit, reason: str, at: float, settings: Settings) -> Circuit:
    """Open the circuit; a relapse doubles the cooldown that it came out of."""
    cooldown = settings["cooldown_s"]
    if reason == "relapse":
        cooldown = max(cooldown, circuit.cooldown_s * 2)
    return Circuit(OPEN, reason, at, min(settings["cooldown_cap_s"], cooldown))


def close(circuit: Circuit, settings: Settings) -> Circuit:
    """Close after a good probe, and watch what comes next."""
    return Circuit(CLOSED, cooldown_s=circuit.cooldown_s, watching=int(settings["watch"]))


def reopen(circuit: Circuit, reason: str | None, at: float, settings: Settings, *, doubled: bool = True) -> Circuit:
    """Open again after a probe, with the cooldown doubled up to its cap."""
    cooldown = min(settings["cooldown_cap_s"], circuit.cooldown_s * (2 if doubled else 1))
    return Circuit(OPEN, reason or circuit.reason, at, cooldown)


def wait_for_probe(circuit: Circuit) -> Circuit:
    """Stay half open: a probe that could not run is no failed probe."""
    return replace(circuit, state=HALF_OPEN)


def watched(circuit: Circuit) -> Circuit:
    """Count one iteration after closing."""
    return replace(circuit, watching=circuit.watching - 1) if circuit.watching else circuit
