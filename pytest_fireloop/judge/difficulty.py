"""How hard the failures look, and whether they can be mended apart from each other: by the files they point at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_fireloop.judge.facts import RED, Facts, nodes_with

SIMPLE, MODERATE, COMPLEX = "SIMPLE", "MODERATE", "COMPLEX"
PARALLEL, SEQUENTIAL, MIXED = "PARALLEL", "SEQUENTIAL", "MIXED"
#: Files up to which a task is simple, and moderate (fire-loop, step 6.5).
ONE, SOME = 1, 5


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Both axes of fire-loop's step 6.5, with what they were read from."""

    level: str = SIMPLE
    axis: str = SEQUENTIAL
    files: int = 0
    groups: int = 0


def difficulty(facts: Facts) -> Difficulty | None:
    """Classify the failures of one run; None without any.

    Failures that share a file depend on each other. Groups that share none can be mended side by side; where one of
    several groups holds more than one cause the task is mixed.
    """
    causes = _files_by_cause(facts)
    if not causes:
        return None
    groups = _connected(causes.values())
    files = frozenset[str]().union(*causes.values())
    level = SIMPLE if len(files) <= ONE else MODERATE if len(files) <= SOME else COMPLEX
    apart = PARALLEL if len(groups) == len(causes) else MIXED
    axis = SEQUENTIAL if len(groups) == 1 else apart
    return Difficulty(level, axis, len(files), len(groups))


def _files_by_cause(facts: Facts) -> dict[str, frozenset[str]]:
    """Return the files that each cause points at: its own frames, else the file of the test."""
    if facts.failure_files:
        return {cause: frozenset(files) for cause, files in facts.failure_files.items() if files}
    red = nodes_with(facts.outcomes or {}, RED)
    return {path: frozenset((path,)) for path in {*(node.partition("::")[0] for node in red), *facts.collection_errors}}


def _connected(sets: Iterable[frozenset[str]]) -> list[set[str]]:
    """Return the files in groups, of which no two share a cause."""
    groups: list[set[str]] = []
    for files in sets:
        joined = set(files)
        apart = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return groups
