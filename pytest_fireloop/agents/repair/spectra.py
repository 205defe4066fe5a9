"""Ranks lines by how much their execution goes with failure (Ochiai)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import sqrt

from pytest_fireloop.agents.repair.observation import Line, Observation

#: A line at which a failing test's exception passed by is this much likelier to be at fault.
_ON_THE_WAY = 1.5
#: Lines that run at import belong to every test of their file, which says less about each of them.
_AT_IMPORT = 0.6


@dataclass(frozen=True, slots=True)
class Suspect:
    """One line, its suspiciousness from 0 to 1 and more, and the failing tests that depend on it."""

    path: str
    line: int
    score: float
    failing: frozenset[str]


def ochiai(failing_here: int, passing_here: int, failing: int) -> float:
    """Return failing_here / sqrt(failing * (failing_here + passing_here)), 0 where it is not defined."""
    if not failing or not failing_here:
        return 0.0
    return failing_here / sqrt(failing * (failing_here + passing_here))


def rank(seen: Observation, failing: Collection[str], paths: Collection[str]) -> list[Suspect]:
    """Return the lines of the given files that failing tests depend on, the most suspicious first."""
    wanted = frozenset(failing)
    on_the_way = {line for nodeid in wanted for line in seen.frames.get(nodeid, ())}
    suspects = []
    for (path, number), (tests, factor) in _tests_by_line(seen, paths).items():
        here = tests & wanted
        passing = sum(1 for test in tests - seen.red if test)
        score = factor * ochiai(len(here), passing, len(wanted))
        if (path, number) in on_the_way:
            score = _ON_THE_WAY * max(score, ochiai(1, 0, len(wanted)) / 2)
            here |= {test for test in wanted if (path, number) in seen.frames.get(test, ())}
        if score:
            suspects.append(Suspect(path, number, score, here))
    return sorted(suspects, key=lambda suspect: (-suspect.score, suspect.path, suspect.line))


def _tests_by_line(seen: Observation, paths: Collection[str]) -> dict[Line, tuple[frozenset[str], float]]:
    by_file: Mapping[str, set[str]] = {path: set() for path in paths}
    for (path, _), tests in seen.lines.items():
        if path in by_file:
            by_file[path] |= tests
    found: dict[Line, tuple[frozenset[str], float]] = {}
    for (path, number), tests in seen.lines.items():
        if path in by_file:
            at_import = not tests - {""}
            found[path, number] = (frozenset(by_file[path]), _AT_IMPORT) if at_import else (tests, 1.0)
    for lines in seen.frames.values():
        for path, number in lines:
            if path in by_file:
                found.setdefault((path, number), (frozenset(), 1.0))
    return found
