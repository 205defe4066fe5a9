"""The five health states, and the numbers that go with them: reward and confidence."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules import View, output_decline, run_length
from pytest_fireloop.judge.step import Step

BLOCKED, SPINNING, DEGRADED, STALLED, PROGRESS = "BLOCKED", "SPINNING", "DEGRADED", "STALLED", "PROGRESS"
#: What one iteration's low confidence still weighs one, two and three iterations later; the seed asks for a decay and
#: gives none.
DECAY = (0.3, 0.2, 0.1)


def health(view: View) -> str:
    """Return the state of highest priority: BLOCKED, SPINNING, DEGRADED, STALLED, else PROGRESS."""
    settings = view.settings
    if view.now.facts.agent in {"auth", "blocked"}:
        return BLOCKED
    same = run_length(view.acts, lambda step: step.same_errors)
    if same >= settings.spinning and any(step.changed for step in view.acts[-settings.spinning :]):
        return SPINNING
    decline = output_decline(view)
    if decline is not None and decline.value >= settings.output_warning:
        return DEGRADED
    return STALLED if run_length(view.acts, lambda step: step.idle) >= settings.stalled else PROGRESS


def turn_reward(step: Step) -> float:
    """Return 0.5 task completion + 0.3 approach quality + 0.2 context efficiency, each 0 to 5 (fire-loop, step 8.8)."""
    if step.facts.reward is not None:
        return step.facts.reward
    total = step.passing + len(step.failing)
    completion = 5.0 * step.passing / total if total else 0.0
    quality = 5.0 - min(4, int(step.same_errors) + int(not step.changed) + len(step.newly_failing))
    efficiency = 5.0 - min(4, step.facts.tokens // 20_000)
    return round(0.5 * completion + 0.3 * quality + 0.2 * efficiency, 2)


def confidence(step: Step) -> float:
    """Return 0 to 100: 50, and 25 for tests that can verify, less what this iteration gives reason to doubt."""
    if step.facts.confidence is not None:
        return min(100.0, max(0.0, step.facts.confidence))
    value = 50.0 + (25.0 if step.facts.outcomes else -15.0)
    value += 15.0 if step.newly_passing else 0.0
    value -= 20.0 if step.newly_failing else 0.0
    value -= 20.0 if step.same_errors else 0.0
    return min(100.0, max(0.0, value))


def adjusted_confidence(steps: Sequence[Step]) -> float:
    """Return the last confidence less the uncertainty of the three before it, which decays (fire-loop, step 7)."""
    earlier = [confidence(step) for step in steps[-4:-1]]
    doubt = sum(max(0.0, 50.0 - value) * weight for value, weight in zip(reversed(earlier), DECAY, strict=False))
    return max(0.0, confidence(steps[-1]) - doubt)


def divergence(view: View) -> Evidence | None:
    """Return evidence when confidence rises while reward falls over three iterations (fire-loop, step 7)."""
    last = view.acts[-3:]
    if len(last) < 3:
        return None
    sure, paid = [confidence(step) for step in last], [turn_reward(step) for step in last]
    if sure[0] < sure[2] and paid[0] > paid[2]:
        return Evidence("divergence", sure[2] - sure[0], 0, view.last(3), numbers={"reward": paid[2] - paid[0]})
    return None
