"""What one run of the tests showed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RED = frozenset({"failed", "error"})
Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Observation:
    """Outcomes by node id, and where traced the tests by line; a path that could not be collected is a red test.

    `lines` maps a file's relative path and a line number to the tests that executed it; the empty name stands for
    the time before and between tests. `exit_code` is None where pytest did not come to its end.
    """

    outcomes: Mapping[str, str] = field(default_factory=dict)
    durations: Mapping[str, float] = field(default_factory=dict)
    frames: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    lines: Mapping[Line, frozenset[str]] = field(default_factory=dict)
    collected_only_as_doctests: frozenset[str] = frozenset()
    positional: tuple[str, ...] = ()
    plugins: frozenset[str] = frozenset()
    modules: tuple[str, ...] = ()
    exit_code: int | None = None
    timed_out: bool = False

    @property
    def red(self) -> frozenset[str]:
        """Node ids that failed or broke."""
        return frozenset(nodeid for nodeid, outcome in self.outcomes.items() if outcome in RED)

    @property
    def test_files(self) -> frozenset[str]:
        """Files that hold tests, other than examples in docstrings."""
        every = {nodeid for nodeid in self.outcomes if nodeid not in self.collected_only_as_doctests}
        return frozenset(nodeid.partition("::")[0] for nodeid in every)


def worse_than(after: Observation, before: Observation) -> frozenset[str]:
    """Return the tests that were not red before and are red, gone or no longer run after."""
    return frozenset(
        nodeid
        for nodeid, outcome in before.outcomes.items()
        if outcome not in RED and after.outcomes.get(nodeid) not in {outcome, "passed"}
    )


def read_events(file: Path, tree: Path, *, timed_out: bool) -> Observation:
    """Return what a run wrote, as far as it came."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    events: list[list[Any]] = []
    for line in lines:
        try:
            events.append(json.loads(line))
        except ValueError:  # the run was killed while it wrote this line
            break
    outcomes: dict[str, str] = {}
    durations: dict[str, float] = {}
    last: dict[str, Any] = {}
    frames: dict[str, tuple[Line, ...]] = {}
    for name, *values in events:
        if name == "collect":
            outcomes[values[0]] = "error"
        elif name == "phase":
            nodeid, when, outcome, expected, duration = values
            durations[nodeid] = durations.get(nodeid, 0.0) + duration
            outcomes[nodeid] = _outcome(outcomes.get(nodeid), when, outcome, expected=expected)
        elif name == "frames":
            frames[values[0]] = tuple((_relative(path, tree), line) for path, line in values[1])
        else:
            last[name] = values[0]
    return Observation(
        outcomes=outcomes,
        durations=durations,
        frames=frames,
        lines={
            (_relative(path, tree), int(line)): frozenset(tests)
            for path, found in last.get("lines", {}).items()
            for line, tests in found.items()
        },
        collected_only_as_doctests=frozenset(last.get("doctests", ())),
        positional=tuple(last.get("positional", ())),
        plugins=frozenset(last.get("plugins", ())),
        modules=tuple(last.get("modules", ())),
        exit_code=last.get("end"),
        timed_out=timed_out,
    )


def _outcome(former: str | None, when: str, outcome: str, *, expected: bool) -> str:
    """Return the outcome of a test after one more phase of it."""
    if outcome == "failed":
        return "failed" if when == "call" else "error"
    if former in RED and when == "teardown":
        return former or outcome
    if outcome == "skipped":
        return "xfailed" if expected else "skipped"
    if when == "call":
        return "xpassed" if expected else "passed"
    return former or "unfinished"


def _relative(path: str, tree: Path) -> str:
    return os.path.relpath(path, tree).replace(os.sep, "/")
