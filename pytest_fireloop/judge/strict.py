"""The circuit-breaker skill to the letter, for the strict profile: no flaky tests, no agent outcomes, no regressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.facts import RED, Facts, nodes_with
from pytest_fireloop.judge.score import EVENTS
from pytest_fireloop.judge.settings import Settings

#: Trees that the letter looks back at: twice round with the longest period.
TREES = 6


@dataclass(frozen=True, slots=True)
class Letter:
    """What the letter has counted so far, and what holds now; each count with the iterations it stands for."""

    last: Facts
    scores: tuple[int, ...] = ()
    idle: int = 0
    same: int = 0
    denied: int = 0
    outputs: tuple[int, ...] = ()
    changing: tuple[tuple[int, int, int], ...] = ()
    trees: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    found: tuple[Evidence, ...] = ()


def begin(baseline: Facts) -> Letter:
    """Start from the baseline, or from a probe that closed the circuit."""
    return Letter(baseline)


def advance(letter: Letter, now: Facts, settings: Settings) -> Letter:
    """Count one iteration."""
    before = letter.last
    done = (now.tasks_done or 0) - (before.tasks_done or 0)
    errors = sorted(now.signatures.values())
    same = letter.same + 1 if errors and errors == sorted(before.signatures.values()) else 0
    tests = sum(sum(lines) for path, lines in now.changed.items() if path.startswith("tests/"))
    changing = (now.iteration, tests, now.lines_changed)
    longest = int(max(TREES, settings["no_progress"], settings["identical_errors"], settings["permission_denials"]))
    counted = Letter(
        now,
        (*letter.scores, _score(before, now, done, same))[-int(settings["window"]) :],
        letter.idle + 1 if not now.changed and done <= 0 else 0,
        same,
        letter.denied + 1 if now.permission_denials else 0,
        (*letter.outputs, now.output_lines)[-int(settings["output_iterations"]) :],
        ((*letter.changing, changing) if now.changed else letter.changing)[-int(settings["test_iterations"]) :],
        (*letter.trees, now.tree)[-TREES:],
        (*letter.numbers, now.iteration)[-longest:],
    )
    return replace(counted, found=tuple(_holding(counted, settings)))


def _score(before: Facts, now: Facts, done: int, same: int) -> int:
    score = 0
    if now.outcomes is not None and before.outcomes is not None:
        was_red = nodes_with(before.outcomes, RED)
        score += EVENTS["newly_passing"].points * sum(now.outcomes.get(test) == "passed" for test in was_red)
    score += EVENTS["task_done"].points * max(0, done)
    score += EVENTS["file_changed"].points * now.files_changed or EVENTS["no_file_changed"].points
    return score + EVENTS["same_error"].points * bool(same)


def _holding(letter: Letter, settings: Settings) -> list[Evidence]:
    """Return what is at its threshold, in the order of the skill's table."""
    drop = _drop(letter.outputs) if len(letter.outputs) >= settings["output_iterations"] else 0.0
    lines = sum(total for *_, total in letter.changing)
    share = sum(tests for _, tests, _ in letter.changing) / lines if lines else 0.0
    full = len(letter.changing) == settings["test_iterations"]
    changing = tuple(number for number, *_ in letter.changing)
    loss = -sum(letter.scores) if len(letter.scores) >= settings["window"] else 0
    rows: tuple[tuple[str, float, float, tuple[int, ...]], ...] = (
        ("no_progress", letter.idle, settings["no_progress"], _last(letter, letter.idle)),
        ("identical_errors", letter.same, settings["identical_errors"], _last(letter, letter.same)),
        ("output_decline", drop, settings["output_decline"], _last(letter, len(letter.outputs))),
        ("permission_denials", letter.denied, settings["permission_denials"], _last(letter, letter.denied)),
        ("circular_approach", 2 * _takes_turns(letter.trees), 2, _last(letter, TREES)),
        ("negative_score", loss, 1, _last(letter, len(letter.scores))),
    )
    found = [Evidence(*row) for row in rows if row[1] >= row[2]]
    if full and share > settings["test_share"]:
        found.append(Evidence("test_fix_loop", share, settings["test_share"], changing))
    return found


def _last(letter: Letter, number: int) -> tuple[int, ...]:
    return letter.numbers[-number:] if number else ()


def _drop(outputs: Sequence[int]) -> float:
    return (outputs[0] - outputs[-1]) / outputs[0] if outputs[0] > 0 else 0.0


def _takes_turns(trees: Sequence[str]) -> bool:
    if len(trees) >= 4 and trees[-2:] == trees[-4:-2] and trees[-1] != trees[-2]:
        return True
    return len(trees) >= TREES and trees[-3:] == trees[-6:-3] and len(set(trees[-3:])) == 3
