"""One iteration measured against the ones before: what got better, what stayed, and its score."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_fireloop.judge.facts import GREEN, RED, Facts, nodes_with
from pytest_fireloop.judge.score import counted, score
from pytest_fireloop.judge.suite import Moves, Suite

#: Outcomes by which a failure hides instead of being mended.
HIDDEN = frozenset({"skipped", "xfailed"})
#: Marks a collection error among the failures; no node id begins so.
COLLECT = "collect "


@dataclass(frozen=True, slots=True)
class Step:
    """What one iteration with evidence came to; flaky tests give and take nothing in any of it."""

    iteration: int
    agent: str | None = None
    tree: str = ""
    approach: str | None = None
    changed: bool = False
    lines: int = 0
    test_lines: int = 0
    output_lines: int = 0
    permission_denials: int = 0
    integrity: tuple[str, ...] = ()
    failing: Mapping[str, str] = field(default_factory=dict)
    newly_passing: frozenset[str] = frozenset()
    newly_failing: frozenset[str] = frozenset()
    moves: Moves = field(default_factory=Moves)
    failing_before: int = 0
    passing: int = 0
    green: bool = False
    same_failures: bool = False
    taken_back: bool = False
    seen: Mapping[str, int] = field(default_factory=dict)
    score: int = 0
    confidence: float = 0.0
    reward: float = 0.0
    files: int = 0
    tasks: int | None = None
    uncollected: int = 0

    @property
    def idle(self) -> bool:
        """Whether nothing meaningful changed and no test got better."""
        return not self.changed and not self.newly_passing

    @property
    def crashed(self) -> bool:
        """Whether the agent died and left nothing."""
        return self.agent == "crash" and not self.lines

    @property
    def events(self) -> dict[str, int]:
        """The events that count, by name."""
        return counted(self.seen)


def first_step(facts: Facts, suite: Suite, flaky: Collection[str]) -> Step:
    """Return the baseline as a step without a score."""
    return Step(
        facts.iteration,
        tree=facts.tree,
        failing=_failing(suite, facts, {}, Moves(), flaky),
        passing=suite.passing(flaky),
        green=suite.green and facts.believed,
        uncollected=len(facts.collection_errors),
    )


def next_step(
    steps: Sequence[Step], facts: Facts, suite: Suite, moves: Moves, *, flaky: Collection[str], tasks: int
) -> Step:
    """Measure an iteration against the steps before it; `tasks` were ticked off since, as the agent claims."""
    before = steps[-1]
    failing = _failing(suite, facts, before.failing, moves, flaky)
    changed = facts.meaningful and (
        facts.lines_changed > 0 or (bool(facts.changed) and bool(facts.tree) and facts.tree != before.tree)
    )
    trees = {step.tree: step.passing for step in steps if step.tree}
    back = facts.tree in trees and facts.tree != before.tree
    approach = facts.approach or (facts.tree if changed else None)
    step = Step(
        facts.iteration,
        facts.agent,
        facts.tree,
        facts.approach,
        changed,
        facts.lines_changed,
        facts.test_lines_changed,
        facts.output_lines,
        facts.permission_denials,
        facts.integrity,
        failing,
        moves=moves,
        passing=suite.passing(flaky),
        green=suite.green and not failing and facts.believed,
        taken_back=back and trees[facts.tree] <= before.passing,
        files=facts.files_changed,
        uncollected=len(facts.collection_errors),
        tasks=None if facts.tasks_done is None else tasks,
        seen={
            "task_done": tasks,
            "file_changed": max(1, facts.files_changed) if changed else 0,
            "error_gone": len(moves.collection_mended),
            "no_file_changed": int(not changed),
            "taken_back": int(back and trees[facts.tree] <= before.passing),
            "new_approach": int(changed and approach not in {each for s in steps for each in (s.approach, s.tree)}),
        },
    )
    return measured(before, step, flaky)


def measured(before: Step, step: Step, flaky: Collection[str]) -> Step:
    """Work out what depends on which tests are known to be flaky."""
    failing = {node: text for node, text in step.failing.items() if node not in flaky}
    changed = {node: said for node, said in step.moves.changed.items() if node not in flaky}
    passing = frozenset(
        node for node, (old, new) in changed.items() if new in GREEN and (old in RED or node in before.failing)
    )
    broken = frozenset(node for node, (old, new) in changed.items() if new in RED and old in GREEN)
    seen = {
        **step.seen,
        "newly_passing": len(passing),
        "newly_failing": len(broken),
        "same_error": int(bool(before.failing) and before.failing.items() <= failing.items()),
        "task_done": step.seen["task_done"] if passing or step.changed else 0,
    }
    return replace(
        step,
        failing=before.failing if failing == before.failing else failing,
        newly_passing=passing,
        newly_failing=broken,
        failing_before=len(before.failing),
        same_failures=bool(failing) and failing == before.failing,
        seen=seen,
        score=score(counted(seen)),
    )


def without(steps: Sequence[Step], suite: Suite, learned: Collection[str], flaky: Collection[str]) -> tuple[Step, ...]:
    """Take tests that turned out flaky out of the past too."""
    passing = [step.passing for step in steps]
    for node in learned:
        said = suite.known.get(node)
        for index in reversed(range(len(steps))):
            passing[index] -= said in GREEN and node not in suite.added
            said = steps[index].moves.changed.get(node, (said, None))[0]
    first = replace(
        steps[0],
        failing={node: text for node, text in steps[0].failing.items() if node not in flaky},
        passing=passing[0],
    )
    kept = [first]
    for step, number in zip(steps[1:], passing[1:], strict=True):
        kept.append(measured(kept[-1], replace(step, passing=number), flaky))
    return tuple(kept)


def _failing(
    suite: Suite, facts: Facts, before: Mapping[str, str], moves: Moves, flaky: Collection[str]
) -> dict[str, str]:
    """Return what is red with its signature; a failure that is skipped, deleted or cannot be collected is no fix."""
    known = suite.known
    errors = {node: facts.signatures.get(node, before.get(node, "")) for node in nodes_with(known, RED)}
    for node, text in before.items():
        if known.get(node) in HIDDEN or node in moves.lost or (node not in known and node not in moves.changed):
            errors.setdefault(node, text)
    errors = {node: text for node, text in errors.items() if not node.startswith(COLLECT)}
    errors |= {f"{COLLECT}{path}": text for path, text in facts.collection_errors.items()}
    return {node: text for node, text in errors.items() if node not in flaky}


def window_sum(steps: Sequence[Step], number: int) -> int | None:
    """Return the score of the last iterations together, None before there are so many."""
    return sum(step.score for step in steps[-number:]) if len(steps) >= number else None
