"""How a loop or a run ends, and the exit code that says so."""

from __future__ import annotations

from dataclasses import dataclass

#: Verdict of a loop to exit code; the codes are the product's contract with scripts.
EXIT_CODES = {
    "green": 0,
    "limit": 1,
    "interrupted": 2,
    "error": 3,
    "usage": 4,
    "no_tests": 5,
    "circuit_open": 10,
    "blocked": 11,
    "rest": 12,
    "false_green": 13,
    "agent_unavailable": 14,
}

#: Verdicts after which there is something to go on with; without one the loop was cut off.
GOES_ON = frozenset(
    {None, "limit", "interrupted", "circuit_open", "error", "false_green", "blocked", "agent_unavailable"}
)
#: Reasons of a stop that have a verdict of their own; every other rule ends as circuit_open.
VERDICT_OF_REASON = {"blocked": "blocked", "agent_unavailable": "agent_unavailable"}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a loop ends: a verdict of the table above and one line that says why."""

    verdict: str
    reason: str

    @property
    def exit_code(self) -> int:
        """The process's exit code."""
        return EXIT_CODES[self.verdict]


def verdict_of_stop(reason: str) -> str:
    """Return the verdict of a loop that a rule of the circuit ended."""
    return VERDICT_OF_REASON.get(reason, "circuit_open")
