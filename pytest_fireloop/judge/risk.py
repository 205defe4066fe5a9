"""How near the loop is to being stopped; the circuit-breaker skill names the three levels and gives no formula."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import Rule

LOW, MEDIUM, HIGH = "LOW", "MEDIUM", "HIGH"
#: The share of the way to a rule's threshold from which on the risk is more than low; ours.
HALF_WAY = 0.5


@dataclass(frozen=True, slots=True)
class Risk:
    """The level, the rule that is nearest to opening the circuit, and the share of the way to its threshold, 0 to 1."""

    level: str = LOW
    rule: str | None = None
    share: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the risk as JSON."""
        return {"level": self.level, "rule": self.rule, "share": self.share}


def risk(measured: Iterable[tuple[Rule, Evidence]], *, warned: bool) -> Risk:
    """Take the nearest rule: half way is medium; a warning, or a rule that opens, is high."""
    shares = [
        (min(1.0, max(0.0, evidence.value / evidence.threshold)), rule.reason)
        for rule, evidence in measured
        if rule.opens and evidence.threshold > 0
    ]
    share, reason = max(shares, key=lambda pair: pair[0], default=(0.0, None))
    level = HIGH if warned or share >= 1 else MEDIUM if share >= HALF_WAY else LOW
    return Risk(level, reason if share else None, round(share, 3))
