"""Why a rule spoke, as data; the text for people is made from it in one place."""

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

    def text(self) -> str:
        """Return one line for people."""
        span = f" in iterations {self.iterations[0]} to {self.iterations[-1]}" if self.iterations else ""
        tests = f", as in {self.nodes[0]}" if self.nodes else ""
        return f"{self.rule.replace('_', ' ')}: {self.value:g}, the limit is {self.threshold:g}{span}{tests}"

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
