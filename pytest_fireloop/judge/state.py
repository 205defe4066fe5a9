"""What the next decision needs; bounded, however long the loop is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pytest_fireloop.judge.circuit import Circuit
from pytest_fireloop.judge.settings import THRESHOLDS, Settings
from pytest_fireloop.judge.step import Step
from pytest_fireloop.judge.strict import Letter
from pytest_fireloop.judge.suite import Suite

#: Steps that are kept at least; a flaky test that is learned late is taken out of these.
KEPT = 32
#: More files than any project has.
MANY = 10**9


@dataclass(frozen=True, slots=True)
class State:
    """The loop so far; it is rebuilt by folding the facts, never stored."""

    settings: Settings
    suite: Suite
    steps: tuple[Step, ...]
    flaky: frozenset[str] = frozenset()
    circuit: Circuit = field(default_factory=Circuit)
    best_before: int = -1
    fewest_before: int = MANY
    since_before: int = 0
    crashes: int = 0
    tasks: int = 0
    first: tuple[tuple[int, float], ...] = ()
    first_until: int = 0
    unsteady: Mapping[str, int] = field(default_factory=dict)
    rotations: Mapping[str, int] = field(default_factory=dict)
    health: str = "PROGRESS"
    letter: Letter | None = None

    @property
    def since_best(self) -> int:
        """Iterations since the most tests passed or the fewest files could not be collected, the earliest of equals.

        Tests that a mended file brings to light may be red: that is a gain, too.
        """
        best, fewest, since = self.best_before, self.fewest_before, self.since_before
        for step in self.steps:
            better = step.passing > best or step.uncollected < fewest
            best, fewest = max(best, step.passing), min(fewest, step.uncollected)
            since = 0 if better else since + 1
        return since

    @property
    def kept(self) -> int:
        """How many steps the rules can ask for."""
        counts = (limit for name, limit in self.settings.limits.items() if THRESHOLDS[name].unit == "count")
        return max(KEPT, 2 * int(max(counts)) + 2)


def remember(state: State, step: Step) -> State:
    """Add a step and let the oldest one go, of which only the best count of passing tests is kept."""
    steps = (*state.steps, step)
    if len(steps) <= state.kept:
        return replace(state, steps=steps)
    oldest = steps[0]
    better = oldest.passing > state.best_before or oldest.uncollected < state.fewest_before
    return replace(
        state,
        steps=steps[1:],
        best_before=max(state.best_before, oldest.passing),
        fewest_before=min(state.fewest_before, oldest.uncollected),
        since_before=0 if better else state.since_before + 1,
    )


def forget(state: State, step: Step) -> State:
    """Begin anew at a step."""
    return replace(state, steps=(step,), best_before=-1, fewest_before=MANY, since_before=0, crashes=0, rotations={})
