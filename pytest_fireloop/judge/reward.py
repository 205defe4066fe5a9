"""The reward of one turn, and the confidence that the next one may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.step import Step

#: Weights of the reward (fire-loop, step 8.8): task completion, approach quality, context efficiency.
COMPLETION, QUALITY, EFFICIENCY = 0.5, 0.3, 0.2
TOKENS_A_POINT = 20_000
BASE = 50.0
#: Signals of confidence; tests as in fire-loop, step 7, the others ours: the seed's own are what an agent feels.
SIGNALS: Mapping[str, float] = {
    "tests_available": 25.0,
    "no_tests": -15.0,
    "newly_passing": 15.0,
    "newly_failing": -20.0,
    "same_failures": -20.0,
}
#: How much of an iteration's doubt is left one, two and three iterations later; the seed asks for a decay, gives none.
DECAY = (0.3, 0.2, 0.1)
#: Below this, or above this much doubt, the last iterations are to be looked at again (fire-loop, step 7).
REFLECT_BELOW, REFLECT_DOUBT = 40.0, 30.0


@dataclass(frozen=True, slots=True)
class Confidence:
    """0 to 100: as it is, what earlier doubt takes off it, and what is left."""

    raw: float
    doubt: float
    adjusted: float

    @property
    def reflect(self) -> bool:
        """Whether the last iterations should be looked at before going on."""
        return self.adjusted < REFLECT_BELOW or self.doubt > REFLECT_DOUBT


def turn_reward(step: Step, facts: Facts) -> float:
    """Return the reward of an iteration, 0 to 5; a reward that the facts bring is taken as it is."""
    if facts.reward is not None:
        return facts.reward
    total = step.passing + len(step.failing)
    completion = 5.0 * step.passing / total if total else 0.0
    quality = 5.0 - min(4, int(step.same_failures) + int(not step.changed) + len(step.newly_failing))
    efficiency = 5.0 - min(4, facts.tokens // TOKENS_A_POINT)
    return round(COMPLETION * completion + QUALITY * quality + EFFICIENCY * efficiency, 2)


def signals(step: Step, facts: Facts) -> tuple[str, ...]:
    """Return the names of the signals that speak for or against confidence."""
    holds = {
        "tests_available": bool(facts.outcomes),
        "no_tests": not facts.outcomes,
        "newly_passing": bool(step.newly_passing),
        "newly_failing": bool(step.newly_failing),
        "same_failures": step.same_failures,
    }
    return tuple(name for name in SIGNALS if holds[name])


def raw_confidence(step: Step, facts: Facts) -> float:
    """Return the confidence of one iteration by itself; one that the facts bring is only clamped."""
    value = facts.confidence
    if value is None:
        value = BASE + sum(SIGNALS[name] for name in signals(step, facts))
    return min(100.0, max(0.0, value))


def confidence(steps: Sequence[Step]) -> Confidence:
    """Return the last confidence with the doubt that the three iterations before it left."""
    raw = steps[-1].confidence
    earlier = [step.confidence for step in reversed(steps[-4:-1])]
    doubt = sum(max(0.0, BASE - value) * weight for value, weight in zip(earlier, DECAY, strict=False))
    return Confidence(raw, round(doubt, 2), round(max(0.0, raw - doubt), 2))
