"""One iteration measured against the ones before: what got better, what stayed, and its score."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from pytest_fireloop.judge.facts import GREEN, RED, Facts

#: Points of each event; the first six are the skill's, the last two ours, for without them fixing one test and breaking
#: another scores well for ever.
POINTS = {
    "newly_passing": 3,
    "task_done": 5,
    "file_changed": 1,
    "error_gone": 2,
    "same_error": -2,
    "no_file_changed": -3,
    "taken_back": -1,
    "newly_failing": -3,
    "new_approach": 1,
}
FILES_COUNTED = 3
REGRESSIONS_COUNTED = 2


@dataclass(frozen=True, slots=True)
class Step:
    """What one iteration with evidence came to."""

    facts: Facts
    known: Mapping[str, str]
    newly_passing: frozenset[str] = frozenset()
    newly_failing: frozenset[str] = frozenset()
    failing: Mapping[str, str] = field(default_factory=dict)
    failing_before: int = 0
    passing: int = 0
    changed: bool = False
    same_errors: bool = False
    score: int = 0
    events: Mapping[str, int] = field(default_factory=dict)

    @property
    def idle(self) -> bool:
        """Whether nothing meaningful changed and no test got better."""
        return not self.changed and not self.newly_passing


def first_step(facts: Facts) -> Step:
    """Return the baseline as a step without a score."""
    known = dict(facts.outcomes or {})
    return Step(facts, known, failing=_failing(facts, known, facts.flaky), passing=_passing(known, facts.flaky))


def next_step(
    before: Step, facts: Facts, *, flaky: Collection[str], seen: Mapping[str, int], approaches: Collection[str]
) -> Step:
    """Measure an iteration; `seen` maps earlier trees to the passing tests they had, `approaches` are earlier ones."""
    old = before.known
    new = _merged(old, facts)
    passing = frozenset(n for n, said in new.items() if said in GREEN and old.get(n) in RED and n not in flaky)
    failing = frozenset(n for n, said in new.items() if said in RED and old.get(n) in GREEN and n not in flaky)
    errors = _failing(facts, new, flaky, before.failing)
    errors_before = {node: text for node, text in before.failing.items() if node not in flaky}
    changed = facts.meaningful and facts.lines_changed > 0
    gone = {path for path in before.facts.collection_errors if path not in facts.collection_errors}
    done = max(0, (facts.tasks_done or 0) - (before.facts.tasks_done or 0))
    same = bool(errors) and not set(errors_before.items()) - set(errors.items())
    taken_back = facts.tree in seen and facts.tree != before.facts.tree and seen[facts.tree] <= before.passing
    events = {
        "newly_passing": len(passing),
        "task_done": done if passing or changed else 0,
        "file_changed": min(FILES_COUNTED, sum(a + r > 0 for a, r in facts.changed.values())) if changed else 0,
        "error_gone": len(gone) if facts.outcomes is not None else 0,
        "same_error": int(same),
        "no_file_changed": int(not changed),
        "taken_back": int(taken_back),
        "newly_failing": min(REGRESSIONS_COUNTED, len(failing)),
        "new_approach": int(changed and facts.approach is not None and facts.approach not in approaches),
    }
    return Step(
        facts,
        new,
        passing,
        failing,
        errors,
        len(errors_before),
        _passing(new, flaky),
        changed,
        bool(errors) and errors == errors_before,
        sum(POINTS[name] * number for name, number in events.items()),
        {name: number for name, number in events.items() if number},
    )


def _merged(old: Mapping[str, str], facts: Facts) -> dict[str, str]:
    """Return what is known of each test now; where a file could not be collected or a run was partial, as before."""
    if facts.outcomes is None:
        return dict(old)
    new = dict(facts.outcomes)
    hidden = tuple(facts.collection_errors)
    for node, said in old.items():
        if node not in new and (facts.partial or (hidden and node.split("::")[0] in hidden)):
            new[node] = said
    return new


def _failing(
    facts: Facts, known: Mapping[str, str], flaky: Collection[str], before: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return what is red with its signature; a failure that is skipped now, or that hides, is no fix."""
    before = before or {}
    errors = {node: facts.signatures.get(node, before.get(node, "")) for node, said in known.items() if said in RED}
    errors |= {node: text for node, text in before.items() if known.get(node) in {"skipped", "xfailed"}}
    errors |= {f"collect {path}": text for path, text in facts.collection_errors.items()}
    return {node: text for node, text in errors.items() if node not in flaky}


def _passing(known: Mapping[str, str], flaky: Collection[str]) -> int:
    return sum(said in GREEN and node not in flaky for node, said in known.items())
