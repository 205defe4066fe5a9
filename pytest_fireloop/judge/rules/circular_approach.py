"""Trees, approaches or failing sets take turns."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import SKILL, Rule, Threshold, View

PERIODS = (2, 3)


def measure(view: View) -> Evidence | None:
    """Look for two or three values in turns, or for one tree that is returned to again and again.

    One rollback is no circle, nor is a way on which more tests pass than at its start.
    """
    rounds = view.count("circular_rounds")
    kinds: tuple[tuple[str, list[Hashable]], ...] = (
        ("trees", _turns(step.tree or None for step in view.steps)),
        ("approaches", [step.approach for step in view.acts if step.approach is not None]),
        ("failing sets", _turns(frozenset(step.failing.items()) or None for step in view.acts)),
    )
    if not view.now.changed and not view.now.lines:
        return None
    for number, (_, values) in enumerate(kinds):
        for period in PERIODS:
            if takes_turns(values, period, rounds) and not view.gained(rounds * period):
                return _evidence(view, rounds, rounds * period, {"period": period, "kind": number})
    returns = _returns(view)
    if returns > rounds and not view.gained(len(view.acts)):
        return _evidence(view, rounds, 2 * returns, {"returns": returns})
    return None


def takes_turns(values: Sequence[Hashable], period: int, rounds: int = 2) -> bool:
    """Whether the last values are the same `period` different known values, so many times in the same order."""
    tail = list(values[-rounds * period :])
    if len(tail) < rounds * period or None in tail:
        return False
    return tail == tail[:period] * rounds and len(set(tail[:period])) == period


def _turns(values: Iterable[Hashable]) -> list[Hashable]:
    """Return the values without immediate repetitions: a pause within a circle is part of it."""
    return [value for value, _ in itertools.groupby(values)]


def _returns(view: View) -> int:
    """Count how often the tree of now was come back to."""
    tree = view.now.tree
    if not tree or tree == view.steps[-2].tree:
        return 0
    return _turns(step.tree for step in view.steps).count(tree) - 1


def _evidence(view: View, rounds: int, span: int, numbers: dict[str, float]) -> Evidence:
    return Evidence("circular_approach", rounds, rounds, view.last(span), numbers=numbers)


RULE = Rule(
    70,
    "circular_approach",
    "the same states take turns, twice round",
    (Threshold("circular_rounds", balanced=2, strict=2, aggressive=2),),
    measure,
    f"{SKILL}; seen in trees, approaches or failing sets",
)
