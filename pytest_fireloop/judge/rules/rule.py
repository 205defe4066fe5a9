"""What a rule is, and what it sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.step import Step

SKILL, FIRE_LOOP, OURS = "circuit-breaker skill, phase 2", "fire-loop", "ours"
Unit = Literal["count", "share", "seconds"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A named limit in the three profiles; None where the profile has no such rule."""

    name: str
    balanced: float
    strict: float | None
    aggressive: float
    unit: Unit = "count"


@dataclass(frozen=True, slots=True)
class View:
    """What the rules see: the baseline or the step that the circuit closed at, then the steps since, oldest first.

    `first` holds output lines and semantic progress of the loop's first iterations, the last of which is `first_until`.
    """

    limits: Mapping[str, float]
    steps: tuple[Step, ...]
    crashes: int = 0
    since_best: int = 0
    first: tuple[tuple[int, float], ...] = ()
    first_until: int = 0

    @property
    def now(self) -> Step:
        """The iteration that is judged."""
        return self.steps[-1]

    @property
    def acts(self) -> tuple[Step, ...]:
        """All iterations but the one that the view begins with."""
        return self.steps[1:]

    def count(self, name: str) -> int:
        """Return a limit that counts iterations."""
        return int(self.limits[name])

    def last(self, number: int) -> tuple[int, ...]:
        """Return the numbers of the last iterations."""
        return tuple(step.iteration for step in self.acts[-number:]) if number > 0 else ()

    def run(self, holds: Callable[[Step], bool]) -> int:
        """Count the iterations at the end for which something holds."""
        return run_length(self.acts, holds)

    def gained(self, number: int) -> bool:
        """Whether more tests pass now than before the last iterations."""
        return self.now.passing > self.steps[-min(number, len(self.steps) - 1) - 1].passing


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table: `measure` returns a value with its evidence, which opens the circuit at its threshold.

    Rules are asked by `order`, and the first that holds gives the reason. `sentence` is for people, with the places
    `value` and `threshold`. `warns_at` is the value that warns before, None for a rule without warning. A rule of stagnation has nothing to say
    about a green run that is believed.
    """

    order: int
    reason: str
    sentence: str
    thresholds: tuple[Threshold, ...]
    measure: Callable[[View], Evidence | None]
    source: str
    warns_at: Callable[[View], float] | None = None
    stagnation: bool = True
    opens: bool = True


def one_step_earlier(name: str) -> Callable[[View], float]:
    """Return a warning that comes one iteration before a counting rule opens, and never before the first."""
    return lambda view: max(1.0, view.limits[name] - 1)


def run_length(steps: Sequence[Step], holds: Callable[[Step], bool]) -> int:
    """Count the steps at the end for which something holds."""
    count = 0
    for step in reversed(steps):
        if not holds(step):
            break
        count += 1
    return count
