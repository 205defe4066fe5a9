"""The circuit-breaker skill to the letter, for the strict profile: no flaky tests, no agent outcomes, no regressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_fireloop.judge.facts import Facts

#: The letter looks back six trees, three scores, three outputs and three changing iterations.
TREES, WINDOW = 6, 3
NO_PROGRESS, IDENTICAL, DENIALS, DECLINE, TEST_SHARE = 3, 5, 3, 0.7, 0.8


@dataclass(frozen=True, slots=True)
class Letter:
    """What the letter has counted so far, and the reasons that hold now."""

    last: Facts
    scores: tuple[int, ...] = ()
    idle: int = 0
    same: int = 0
    denied: int = 0
    outputs: tuple[int, ...] = ()
    changing: tuple[tuple[int, int], ...] = ()
    trees: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


def begin(baseline: Facts) -> Letter:
    """Start from the baseline."""
    return Letter(baseline)


def advance(letter: Letter, now: Facts) -> Letter:
    """Count one iteration."""
    before = letter.last
    score = 0
    if now.outcomes is not None and before.outcomes is not None:
        passed = [test for test, said in now.outcomes.items() if said == "passed"]
        score += 3 * sum(before.outcomes.get(test) in {"failed", "error"} for test in passed)
    done = (now.tasks_done or 0) - (before.tasks_done or 0)
    files = sum(1 for added, removed in now.changed.values() if added + removed)
    score += 5 * max(0, done) + (files or -3)
    errors = sorted(now.signatures.values())
    same = letter.same + 1 if errors and errors == sorted(before.signatures.values()) else 0
    score -= 2 if same else 0
    tests = sum(sum(lines) for path, lines in now.changed.items() if path.startswith("tests/"))
    changing = (*letter.changing, (tests, now.lines_changed)) if now.changed else letter.changing
    counted = Letter(
        now,
        (*letter.scores, score)[-WINDOW:],
        letter.idle + 1 if not now.changed and done <= 0 else 0,
        same,
        letter.denied + 1 if now.permission_denials else 0,
        (*letter.outputs, now.output_lines)[-WINDOW:],
        changing[-WINDOW:],
        (*letter.trees, now.tree)[-TREES:],
    )
    return replace(counted, reasons=tuple(_reasons(counted)))


def _reasons(letter: Letter) -> list[str]:
    found = []
    if letter.idle >= NO_PROGRESS:
        found.append("no_progress")
    if letter.same >= IDENTICAL:
        found.append("identical_errors")
    if letter.denied >= DENIALS:
        found.append("permission_denials")
    if len(letter.scores) >= WINDOW and sum(letter.scores) < 0:
        found.append("negative_score")
    if _declines(letter.outputs):
        found.append("output_decline")
    total = sum(lines for _, lines in letter.changing)
    if len(letter.changing) == WINDOW and total and sum(tests for tests, _ in letter.changing) / total > TEST_SHARE:
        found.append("test_fix_loop")
    if _takes_turns(letter.trees):
        found.append("circular_approach")
    return found


def _declines(outputs: Sequence[int]) -> bool:
    return len(outputs) >= WINDOW and outputs[0] > 0 and (outputs[0] - outputs[-1]) / outputs[0] >= DECLINE


def _takes_turns(trees: Sequence[str]) -> bool:
    if len(trees) >= 4 and trees[-2:] == trees[-4:-2] and trees[-1] != trees[-2]:
        return True
    return len(trees) >= TREES and trees[-3:] == trees[-6:-3] and len(set(trees[-3:])) == 3
