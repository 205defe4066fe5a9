"""A process by more than its number, which the system gives out again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Owner:
    """A process id and when it started, in ticks since the machine's start; empty where the system does not tell."""

    pid: int
    started: str = ""

    @classmethod
    def of(cls, pid: int) -> Owner:
        """Return a process that lives, or one that never did."""
        return cls(pid, _started(pid))

    @classmethod
    def from_json(cls, data: Any) -> Owner:
        """Read what `to_json` returned."""
        return cls(int(data["pid"]), str(data["started"]))

    def to_json(self) -> dict[str, Any]:
        """Return the process as JSON."""
        return {"pid": self.pid, "started": self.started}

    @property
    def lives(self) -> bool:
        """Whether that very process still runs."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass
        return not self.started or _started(self.pid) == self.started


def _started(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # the name in the second field may hold spaces and brackets
            return file.read().rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError):
        return ""
