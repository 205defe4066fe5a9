"""The table of rules: each names what opens the circuit, from which threshold, with which evidence, and its source."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.judge.step import Step


@dataclass(frozen=True, slots=True)
class View:
    """What the rules see: the baseline or the step that the circuit closed at, then the steps since, oldest first."""

    settings: Settings
    steps: tuple[Step, ...]
    crashes: int = 0
    since_best: int = 0

    @property
    def now(self) -> Step:
        """The iteration that is judged."""
        return self.steps[-1]

    @property
    def acts(self) -> tuple[Step, ...]:
        """All iterations but the one that the view begins with."""
        return self.steps[1:]

    def last(self, number: int) -> tuple[int, ...]:
        """Return the numbers of the last iterations."""
        return tuple(step.facts.iteration for step in self.acts[-number:])


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `measure` returns a value with its evidence, at or above `limit` it opens, at `warning` it warns."""

    reason: str
    measure: Callable[[View], Evidence | None]
    warns_at: Callable[[Settings], float] | None
    source: str


def run_length(steps: Sequence[Step], holds: Callable[[Step], bool]) -> int:
    """Count the steps at the end for which something holds."""
    count = 0
    for step in reversed(steps):
        if not holds(step):
            break
        count += 1
    return count


def agent_unavailable(view: View) -> Evidence | None:
    """Measure: the agent crashed again and again and left nothing."""
    limit = view.settings.agent_crashes
    return Evidence("agent_unavailable", view.crashes, limit, view.last(view.crashes))


def blocked(view: View) -> Evidence | None:
    """Measure: the agent cannot authenticate, or says itself that a person is needed."""
    return Evidence("blocked", float(view.now.facts.agent in {"auth", "blocked"}), 1, view.last(1))


def integrity(view: View) -> Evidence | None:
    """Measure: the tests were tampered with in a way that no later run can make good."""
    return Evidence("integrity", float(len(view.now.facts.integrity)), 1, view.last(1), view.now.facts.integrity[:5])


def no_progress(view: View) -> Evidence | None:
    """Measure: nothing meaningful changed and no test got better."""
    count = run_length(view.acts, lambda step: step.idle)
    return Evidence("no_progress", count, view.settings.no_progress, view.last(count))


def permission_denials(view: View) -> Evidence | None:
    """Measure: a tool was refused again and again; an iteration in which a test got better is no such case."""
    count = run_length(view.acts, lambda step: step.facts.permission_denials > 0 and not step.newly_passing)
    return Evidence("permission_denials", count, view.settings.permission_denials, view.last(count))


def test_fix_loop(view: View) -> Evidence | None:
    """Measure: nearly all changed lines are in tests, and tests still fail."""
    number = view.settings.test_iterations
    changing = [step for step in view.acts if step.facts.lines_changed][-number:]
    if len(changing) < number or not view.now.failing or not view.now.facts.lines_changed:
        return None
    total = sum(step.facts.lines_changed for step in changing)
    tests = sum(
        added + removed
        for step in changing
        for path, (added, removed) in step.facts.changed.items()
        if step.facts.touches_tests(path)
    )
    share = tests / total
    numbers = tuple(step.facts.iteration for step in changing)
    limit = view.settings.test_share
    # the limit itself is still allowed
    return Evidence("test_fix_loop", share, limit, numbers) if share > limit else None


def circular_approach(view: View) -> Evidence | None:
    """Measure: trees, approaches or failing sets take turns, twice round; one rollback is no circle."""
    acts = view.acts
    kinds: tuple[tuple[str, list[Hashable]], ...] = (
        ("tree", [step.facts.tree or None for step in view.steps]),
        ("approach", [step.facts.approach for step in acts]),
        ("failing set", [frozenset(step.failing.items()) or None for step in acts]),
    )
    for _, values in kinds:
        for period in (2, 3):
            if takes_turns(values, period):
                return Evidence("circular_approach", 2, 2, view.last(2 * period), numbers={"period": period})
    return None


def takes_turns(values: Sequence[Hashable], period: int) -> bool:
    """Whether the last values are the same `period` different known values twice in the same order."""
    tail = list(values[-2 * period :])
    if len(tail) < 2 * period or None in tail:
        return False
    return tail[:period] == tail[period:] and len(set(tail)) == period


def identical_errors(view: View) -> Evidence | None:
    """Measure: the failing set with its signatures does not change."""
    count = run_length(view.acts, lambda step: step.same_errors)
    nodes = tuple(sorted(view.now.failing))[:5]
    return Evidence("identical_errors", count, view.settings.identical_errors, view.last(count), nodes)


def output_decline(view: View) -> Evidence | None:
    """Measure: output and semantic progress together fall away from the mean of the first three iterations."""
    first = [step for step in view.acts if step.facts.output_lines][:3]
    if len(first) < 3 or len(view.acts) < 4 or view.now.facts.iteration <= first[-1].facts.iteration:
        return None
    weight = view.settings.output_weight
    lines = sum(step.facts.output_lines for step in first) / 3
    semantic = sum(semantic_progress(step) for step in first) / 3
    base = max(weight, weight + (1 - weight) * semantic)
    now = weight * view.now.facts.output_lines / lines + (1 - weight) * semantic_progress(view.now)
    decline = (base - now) / base
    return Evidence("output_decline", decline, view.settings.output_decline, view.last(1), numbers={"base": base})


def semantic_progress(step: Step) -> float:
    """Return newly passing tests as a share of what failed before, 0 to 1."""
    return min(1.0, len(step.newly_passing) / step.failing_before) if step.failing_before else 0.0


def negative_score(view: View) -> Evidence | None:
    """Measure: the window of the last iterations sums up below zero without a net gain of passing tests."""
    number = view.settings.window
    if len(view.acts) < number:
        return None
    total = sum(step.score for step in view.acts[-number:])
    gained = view.now.passing - view.steps[-number - 1].passing
    if total >= 0 or gained > 0:
        return None
    return Evidence("negative_score", -total, 1, view.last(number), numbers={"window_score": total})


def no_net_progress(view: View) -> Evidence | None:
    """Measure: the errors move, but the best count of passing tests is not beaten."""
    return Evidence("no_net_progress", view.since_best, view.settings.no_net_progress, view.last(view.since_best))


SKILL, FIRE_LOOP, OURS = "circuit-breaker skill, phase 2", "fire-loop, step 9", "ours"

#: In the order in which they are asked; the first that holds gives the reason.
RULES = (
    Rule("agent_unavailable", agent_unavailable, None, f"{OURS}: a dead agent is no stagnation"),
    Rule("blocked", blocked, None, FIRE_LOOP),
    Rule("integrity", integrity, None, f"{OURS}: a green that is forged is worth nothing"),
    Rule("no_progress", no_progress, lambda settings: settings.no_progress - 1, SKILL),
    Rule("permission_denials", permission_denials, lambda settings: settings.permission_denials - 1, SKILL),
    Rule("test_fix_loop", test_fix_loop, None, f"{SKILL}, as the share of changed lines in test files"),
    Rule("circular_approach", circular_approach, None, f"{SKILL}, as trees, approaches or failing sets in turns"),
    Rule("identical_errors", identical_errors, lambda settings: settings.identical_errors - 1, SKILL),
    Rule("output_decline", output_decline, lambda settings: settings.output_warning, f"{SKILL} and {FIRE_LOOP}"),
    Rule("negative_score", negative_score, None, SKILL),
    Rule("no_net_progress", no_net_progress, lambda settings: settings.no_net_progress - 1, f"{OURS}: moving errors"),
)


def opening(view: View) -> tuple[Evidence, ...]:
    """Return the evidence of every rule that opens the circuit, in the order of the table."""
    found = (rule.measure(view) for rule in RULES)
    return tuple(evidence for evidence in found if evidence is not None and evidence.value >= evidence.threshold)


def warning(view: View) -> Evidence | None:
    """Return the first rule that is one step from opening."""
    for rule in RULES:
        evidence = rule.measure(view) if rule.warns_at else None
        if evidence is not None and rule.warns_at is not None and evidence.value >= rule.warns_at(view.settings):
            return evidence
    return None
