"""Whether a run showed all that it was asked to show, and in one line what is missing."""

from __future__ import annotations

from typing import NamedTuple

INTERRUPTED = 2
#: Codes of pytest under which no result of the whole can be believed: internal error, usage error.
BROKEN = frozenset({3, 4})


class Ending(NamedTuple):
    """How a run ended: its exit code, what went wrong in it, and how many tests were red and have no result."""

    exit_code: int
    red: int
    collected: int
    not_run: int
    first_not_run: str
    uncollected: int
    problem: str | None
    interrupted: str | None


def reason(ending: Ending) -> str | None:
    """Return why the run is incomplete, the gravest reason first, or None for a complete one."""
    if ending.problem:
        return ending.problem
    if ending.interrupted and ending.exit_code != INTERRUPTED:
        return f"ended early: {ending.interrupted}"
    if ending.uncollected:
        return f"{_count(ending.uncollected, 'file')} could not be collected"
    if ending.not_run:
        of = f"{ending.not_run} of {ending.collected} collected tests"
        return f"{of} have no result, the first is {ending.first_not_run}"
    if ending.exit_code == 0 and not ending.collected:
        return "exit code 0 without any test"
    if ending.exit_code == 0 and ending.red:
        return f"exit code 0 with {_count(ending.red, 'red test')}"
    if ending.exit_code == INTERRUPTED:
        return f"interrupted: {ending.interrupted or 'exit code 2'}"
    if ending.exit_code in BROKEN:
        return f"exit code {ending.exit_code}"
    return None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
