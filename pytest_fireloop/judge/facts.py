"""The raw facts of one iteration, as a trace holds them; odd values are read as unknown, never refused."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

SCHEMA = "fireloop.trace/1"
RED = frozenset({"failed", "error"})
GREEN = frozenset({"passed", "xpassed"})
#: Calls that never reached the model say nothing about stagnation.
NO_EVIDENCE = frozenset({"error", "rate_limited"})
#: Other words for a status.
SPELLINGS = {"rate_limit": "rate_limited"}
#: In the name of a file that may hold tests by another pattern than pytest's.
TEST_WORDS = ("test", "spec", "check")
#: The agent's own status that asks for a person.
PERSON_NEEDED = frozenset({"auth", "blocked"})
#: Beyond this a number in a trace is nonsense.
LARGEST = 10**15


@dataclass(frozen=True, slots=True)
class Facts:
    """One iteration; number 0 is the baseline before any agent call. `outcomes` is None where tests could not run.

    `clock_back_at` is when the circuit was asked and the clock had gone back behind its opening, where that happened; `forced` says that the iteration
    runs whatever the circuit says; `agent_back` that a person went on with the loop after its agent could not be called or
    asked for one, `reset` that a person closed the circuit.
    `believed` is False where no test is red and the run is no green one all the same: it was rejected, is incomplete, or ended otherwise.
    """

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
    failure_files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    calls_left: float | None = None
    clock_back_at: float | None = None
    forced: bool = False
    agent_back: bool = False
    reset: bool = False
    believed: bool = True

    @property
    def is_evidence(self) -> bool:
        """Whether the agent was reached and the tests said something, be it that they cannot be collected."""
        ran = self.outcomes is not None or bool(self.collection_errors)
        return self.agent not in NO_EVIDENCE and ran

    @property
    def files_changed(self) -> int:
        """Files with changed lines."""
        return sum(max(0, added) + max(0, removed) > 0 for added, removed in self.changed.values())

    @property
    def lines_changed(self) -> int:
        """Changed lines, added and removed."""
        return sum(max(0, added) + max(0, removed) for added, removed in self.changed.values())

    @property
    def test_lines_changed(self) -> int:
        """Changed lines in files that belong to the tests."""
        pairs = ((path, max(0, added) + max(0, removed)) for path, (added, removed) in self.changed.items())
        return sum(lines for path, lines in pairs if self.touches_tests(path))

    def touches_tests(self, path: str) -> bool:
        """Whether a path belongs to the tests: as the facts say (files or folders), else by its name."""
        if self.test_paths is not None:
            return any(path == each or path.startswith(f"{each.rstrip('/')}/") for each in self.test_paths)
        *folders, name = path.split("/")
        if {"tests", "test"} & set(folders) or name == "conftest.py":
            return True
        if name.startswith("test_") or name.endswith("_test.py"):
            return True
        if not any(word in name.lower() for word in TEST_WORDS):
            return False
        # it may be product or tests: its node ids tell, of which those of doctests stand in files of the product
        own = (node for node in self.outcomes or () if node.startswith(f"{path}::"))
        return any(node.rpartition("::")[2].lower().startswith("test") for node in own)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Facts:
        """Read one iteration of a trace; what is absent or odd is unknown."""
        outcomes = data.get("outcomes")
        done = _mapping(data.get("tasks")).get("done")
        paths = data.get("test_paths")
        return cls(
            iteration=_whole(data.get("iteration")),
            at=_number(data.get("at")) or 0.0,
            agent=SPELLINGS.get(str(data.get("agent")), _word(data.get("agent"))),
            outcomes=_words(outcomes) if isinstance(outcomes, Mapping) else None,
            signatures=_words(data.get("signatures")),
            collection_errors=_words(data.get("collection_errors")),
            changed={str(path): _pair(pair) for path, pair in _mapping(data.get("changed")).items()},
            tree=_word(data.get("tree")) or "",
            approach=_word(data.get("approach")),
            output_lines=max(0, _whole(data.get("output_lines"))),
            permission_denials=max(0, _whole(data.get("permission_denials"))),
            promise=bool(data.get("promise")),
            flaky=frozenset(_list(data.get("flaky"))),
            tasks_done=None if _number(done) is None else _whole(done),
            partial=bool(data.get("partial")),
            test_paths=_list(paths) if isinstance(paths, list | tuple) else None,
            meaningful=data.get("meaningful") is not False,
            confidence=_number(data.get("confidence")),
            reward=_number(data.get("reward")),
            tokens=max(0, _whole(data.get("tokens"))),
            integrity=_list(data.get("integrity")),
            failure_files={str(name): _list(files) for name, files in _mapping(data.get("failure_files")).items()},
            calls_left=_number(data.get("calls_left")),
            clock_back_at=_number(data.get("clock_back_at")),
            forced=data.get("forced") is True,
            agent_back=data.get("agent_back") is True,
            reset=data.get("reset") is True,
            believed=data.get("believed") is not False,
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
        return cls(str(data.get("name") or ""), tuple(map(Facts.from_json, rows)), _mapping(data.get("settings")))


def nodes_with(outcomes: Mapping[str, str], said: Container[str]) -> Iterator[str]:
    """Return the tests with one of some outcomes; without a step in Python for each of ten thousand others."""
    return compress(outcomes, map(said.__contains__, outcomes.values()))


def _number(value: Any) -> float | None:
    if isinstance(value, int) and abs(value) > LARGEST:
        return None
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _whole(value: Any) -> int:
    number = _number(value)
    return int(number) if number is not None and abs(number) <= LARGEST else 0


def _word(value: Any) -> str | None:
    return None if value is None else str(value)


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _words(value: Any) -> dict[str, str]:
    return {str(name): str(said) for name, said in _mapping(value).items()}


def _list(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple | set | frozenset) else ()


def _pair(value: Any) -> tuple[int, int]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return (0, 0)
    return (max(0, _whole(value[0])), max(0, _whole(value[1])))
