"""The same judge over a recorded loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_fireloop.judge.facts import Trace
from pytest_fireloop.judge.judge import Decision, begin, decide
from pytest_fireloop.judge.settings import Settings


@dataclass(frozen=True, slots=True)
class Replay:
    """All decisions of a loop; it goes on after the first stop, so that cooldown and probe can be followed."""

    name: str
    decisions: tuple[Decision, ...]

    @property
    def stop(self) -> Decision | None:
        """The first decision after which the loop would have been halted."""
        return next((decision for decision in self.decisions if decision.stop is not None), None)

    def to_json(self) -> dict[str, Any]:
        """Return the replay as one object."""
        stop = self.stop
        return {
            "name": self.name,
            "stop": None if stop is None else {"iteration": stop.iteration, "reason": stop.stop},
            "iterations": [_row(decision) for decision in self.decisions],
        }


def _row(decision: Decision) -> dict[str, Any]:
    return {
        "iteration": decision.iteration,
        "score": decision.score,
        "window_score": decision.window_score,
        "health": decision.health,
        "level": decision.level,
        "circuit": decision.circuit.state,
        "refused": decision.refused,
        "stop": decision.stop,
    }


def replay(trace: Trace, settings: Settings) -> Replay:
    """Judge a recorded loop anew."""
    state = begin(trace.iterations[0], settings)
    decisions = []
    for facts in trace.iterations[1:]:
        state, decision = decide(state, facts)
        decisions.append(decision)
    return Replay(trace.name, tuple(decisions))
