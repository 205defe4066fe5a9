"""What is decided after one iteration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_fireloop.judge.circuit import Circuit
from pytest_fireloop.judge.difficulty import Difficulty
from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.metrics import Metric
from pytest_fireloop.judge.reward import Confidence
from pytest_fireloop.judge.risk import Risk


@dataclass(frozen=True, slots=True)
class Decision:
    """`stop` is the reason to halt, `rotate` the strategy of the next prompt, `full_run` asks for all tests next time,
    `green` that nothing is red, hidden or rejected.

    A refused iteration did not run; it, and one that says nothing, has no score.
    """

    iteration: int
    circuit: Circuit
    refused: bool = False
    score: int = 0
    window_score: int | None = None
    health: str = "PROGRESS"
    level: str = "healthy"
    stop: str | None = None
    warning: str | None = None
    rotate: str | None = None
    full_run: bool = False
    green: bool = False
    evidence: tuple[Evidence, ...] = ()
    reward: float | None = None
    confidence: Confidence | None = None
    signals: tuple[str, ...] = ()
    events: Mapping[str, int] = field(default_factory=dict)
    difficulty: Difficulty | None = None
    metrics: tuple[Metric, ...] = ()
    risk: Risk = field(default_factory=Risk)

    def to_json(self) -> dict[str, Any]:
        """Return the decision as JSON."""
        sure = self.confidence
        return {
            "iteration": self.iteration,
            "score": self.score,
            "window_score": self.window_score,
            "health": self.health,
            "level": self.level,
            "circuit": self.circuit.to_json(),
            "refused": self.refused,
            "stop": self.stop,
            "warning": self.warning,
            "rotate": self.rotate,
            "full_run": self.full_run,
            "green": self.green,
            "evidence": [evidence.to_json() for evidence in self.evidence],
            "reward": self.reward,
            "confidence": None if sure is None else sure.adjusted,
            "doubt": None if sure is None else sure.doubt,
            "reflect": sure is not None and sure.reflect,
            "signals": list(self.signals),
            "events": dict(self.events),
            "difficulty": None if self.difficulty is None else self.difficulty.level,
            "parallelism": None if self.difficulty is None else self.difficulty.axis,
            "metrics": [metric.to_json() for metric in self.metrics],
            "risk": self.risk.to_json(),
        }
