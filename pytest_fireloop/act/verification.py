"""What a verification came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fireloop.observe.integrity.finding import BLOCKER, Finding
from pytest_fireloop.observe.record import RunRecord


@dataclass(frozen=True, slots=True)
class Verification:
    """What the verification found; `record` is the room's run, where there was one."""

    green: bool
    where: str
    verdict: str
    findings: tuple[Finding, ...]
    record: RunRecord | None
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return what the journal keeps of it."""
        return {
            "verdict": self.verdict,
            "where": self.where,
            "reason": self.reason,
            "findings": [finding.to_json() for finding in self.findings],
        }

    @classmethod
    def of(cls, where: str, findings: Sequence[Finding], record: RunRecord | None, reason: str) -> Verification:
        """Weigh the findings: one blocker rejects, and says so in its own words."""
        first = next((finding for finding in findings if finding.severity == BLOCKER), None)
        if first is not None:
            why = f"{first.kind.replace('_', ' ')} in {first.path}: {first.detail}"
            return cls.rejected(where, findings, record, why)
        return cls(True, where, "warned" if findings else "clean", tuple(findings), _bare(record), reason)

    @classmethod
    def rejected(cls, where: str, findings: Sequence[Finding], record: RunRecord | None, reason: str) -> Verification:
        """Say on one line why a green run is not believed."""
        return cls(False, where, "rejected", tuple(findings), _bare(record), " ".join(reason.split()))


def _bare(record: RunRecord | None) -> RunRecord | None:
    return record.bare() if record is not None else None
