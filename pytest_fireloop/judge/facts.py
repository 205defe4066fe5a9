"""The raw facts of one iteration, as a trace holds them; odd values are read as unknown, never refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SCHEMA = "fireloop.trace/1"
RED = frozenset({"failed", "error"})
GREEN = frozenset({"passed", "xpassed"})
#: Calls that never reached the model say nothing about stagnation.
NO_EVIDENCE = frozenset({"error", "rate_limited"})


@dataclass(frozen=True, slots=True)
class Facts:
    """One iteration; number 0 is the baseline before any agent call. `outcomes` is None where tests could not run."""

    iteration: int
    at: float = 0.0
    agent: str | None = None
    outcomes: Mapping[str, str] | None = None
    signatures: Mapping[str, str] = field(default_factory=dict)
    collection_errors: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    tree: str = ""
    approach: str | None = None
    output_lines: int = 0
    permission_denials: int = 0
    promise: bool = False
    flaky: frozenset[str] = frozenset()
    tasks_done: int | None = None
    partial: bool = False
    test_paths: tuple[str, ...] | None = None
    meaningful: bool = True
    confidence: float | None = None
    reward: float | None = None
    tokens: int = 0
    integrity: tuple[str, ...] = ()

    @property
    def is_evidence(self) -> bool:
        """Whether the agent was reached and the tests said something, be it that they cannot be collected."""
        ran = self.outcomes is not None or bool(self.collection_errors)
        return self.agent not in NO_EVIDENCE and ran

    @property
    def lines_changed(self) -> int:
        """Changed lines, added and removed."""
        return sum(added + removed for added, removed in self.changed.values())

    def touches_tests(self, path: str) -> bool:
        """Whether a path belongs to the tests: as the facts say, else by its name."""
        if self.test_paths is not None and path in self.test_paths:
            return True
        parts = path.split("/")
        return bool({"tests", "test"} & set(parts[:-1])) or parts[-1].startswith("test_") or parts[-1] == "conftest.py"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Facts:
        """Read one iteration of a trace; what is absent or odd is unknown."""
        outcomes = data.get("outcomes")
        tasks = data.get("tasks") or {}
        paths = data.get("test_paths")
        return cls(
            iteration=_whole(data.get("iteration")),
            at=_number(data.get("at")) or 0.0,
            agent=data.get("agent"),
            outcomes={str(node): str(said) for node, said in outcomes.items()} if outcomes is not None else None,
            signatures={str(node): str(text) for node, text in (data.get("signatures") or {}).items()},
            collection_errors={str(path): str(text) for path, text in (data.get("collection_errors") or {}).items()},
            changed={str(path): _pair(pair) for path, pair in (data.get("changed") or {}).items()},
            tree=str(data.get("tree") or ""),
            approach=data.get("approach"),
            output_lines=max(0, _whole(data.get("output_lines"))),
            permission_denials=max(0, _whole(data.get("permission_denials"))),
            promise=bool(data.get("promise")),
            flaky=frozenset(map(str, data.get("flaky") or ())),
            tasks_done=_whole(tasks.get("done")) if "done" in tasks else None,
            partial=bool(data.get("partial")),
            test_paths=tuple(map(str, paths)) if paths is not None else None,
            meaningful=data.get("meaningful") is not False,
            confidence=_number(data.get("confidence")),
            reward=_number(data.get("reward")),
            tokens=max(0, _whole(data.get("tokens"))),
            integrity=tuple(map(str, data.get("integrity") or ())),
        )


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded loop."""

    name: str
    iterations: tuple[Facts, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trace:
        """Read one line of a trace file; raises ValueError for a line that is no trace."""
        rows = data.get("iterations")
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows) or not rows:
            raise ValueError("a trace needs a list of iterations")
        return cls(str(data.get("name") or ""), tuple(map(Facts.from_json, rows)), data.get("settings") or {})


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and value == value else None  # noqa: PLR0124 - not a number


def _whole(value: Any) -> int:
    number = _number(value)
    return int(number) if number is not None and abs(number) < 1e15 else 0


def _pair(value: Any) -> tuple[int, int]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return (0, 0)
    return (max(0, _whole(value[0])), max(0, _whole(value[1])))
