"""Why a rule spoke, as data; `show/evidence.py` makes the text for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rule, the value that was measured, its threshold, the iterations it was measured over, and the tests."""

    rule: str
    value: float
    threshold: float
    iterations: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Evidence:
        """Read what `to_json` returned."""
        return cls(
            str(data["rule"]),
            float(data["value"]),
            float(data["threshold"]),
            tuple(data["iterations"]),
            tuple(data["nodes"]),
            dict(data["numbers"]),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the evidence as JSON."""
        return {
            "rule": self.rule,
            "value": self.value,
            "threshold": self.threshold,
            "iterations": list(self.iterations),
            "nodes": list(self.nodes),
            "numbers": dict(self.numbers),
        }
