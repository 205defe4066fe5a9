"""Loops of further kinds, each told in a few words, with what an engineer would want."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from pytest_fireloop.judge.facts import Trace
from pytest_fireloop.judge.replay import Replay, replay
from pytest_fireloop.judge.settings import Settings

BASE = "base"
MINUTES = 60.0


class Loop:
    """Builds a trace; all tests live in tests/test_shop.py unless their name holds a file."""

    def __init__(self, passing: int = 12, red: Iterable[str] = ("a", "b", "c"), **first: Any) -> None:
        self.ids = itertools.count()
        self.outcomes = {node(f"p{number}"): "passed" for number in range(passing)}
        self.outcomes |= {node(name): "failed" for name in red}
        self.signatures = {node(name): f"{name}-0" for name in red}
        self.at = 0.0
        self.tree = BASE
        self.rows: list[dict[str, Any]] = []
        self._add({}, None, first)

    def step(
        self,
        *,
        fix: Iterable[str] = (),
        broken: Iterable[str] = (),
        gone: Iterable[str] = (),
        outcomes: Mapping[str, str] = {},
        move: bool = False,
        files: Mapping[str, Any] | None = None,
        tree: str | None = None,
        after: float = 3 * MINUTES,
        **facts: Any,
    ) -> Loop:
        """Add an iteration; `move` gives each failure another signature, `files` None edits one source file."""
        self.at += after
        for name in fix:
            self.outcomes[node(name)] = "passed"
            self.signatures.pop(node(name), None)
        for name in broken:
            self.outcomes[node(name)] = "failed"
            self.signatures[node(name)] = f"{name}-0"
        for name in gone:
            self.outcomes.pop(node(name))
            self.signatures.pop(node(name), None)
        for name, said in outcomes.items():
            self.outcomes[node(name)] = said
            self.signatures.pop(node(name), None)
        if move:
            self.signatures = {name: f"{name}-{next(self.ids)}" for name in self.signatures}
        changed = {"shop/cart.py": [7, 3]} if files is None else files
        if changed:
            self.tree = tree or f"tree-{next(self.ids)}"
        self._add(changed, f"idea-{next(self.ids)}" if changed else None, facts)
        return self

    def idle(self, **facts: Any) -> Loop:
        return self.step(files={}, **facts)

    def times(self, number: int, act: Callable[[Loop], object]) -> Loop:
        for _ in range(number):
            act(self)
        return self

    def _add(self, changed: Mapping[str, Any], approach: str | None, facts: Mapping[str, Any]) -> None:
        self.rows.append(
            {
                "iteration": len(self.rows),
                "at": self.at,
                "agent": "ok" if self.rows else None,
                "outcomes": dict(self.outcomes),
                "signatures": dict(self.signatures),
                "changed": dict(changed),
                "tree": self.tree,
                "approach": approach,
                "output_lines": 200 if self.rows else 0,
                **facts,
            }
        )

    def replay(self, profile: str = "balanced") -> Replay:
        return replay(Trace.from_json({"name": "loop", "iterations": self.rows}), Settings.for_profile(profile))


def node(name: str) -> str:
    return name if "::" in name else f"tests/test_shop.py::test_{name}"


def names(number: int, prefix: str = "r") -> list[str]:
    return [f"{prefix}{each}" for each in range(number)]


TESTS_ONLY = {"tests/test_shop.py": [6, 2]}
NOTHING: dict[str, str] = {}


def timeouts_that_leave_fixes() -> Loop:
    loop = Loop(red=names(5))
    for name in names(5):
        loop.step(move=True, agent="timeout").step(fix=[name], agent="timeout")
    return loop


def crashes_between_fixes() -> Loop:
    loop = Loop(red=names(4))
    for name in names(4):
        loop.idle(agent="crash", output_lines=2).idle(agent="crash", output_lines=2).step(fix=[name])
    return loop


def denied_but_fixing() -> Loop:
    loop = Loop(red=names(4))
    for name in names(4):
        loop.step(move=True, permission_denials=1).step(fix=[name], permission_denials=2)
    return loop


def long_climb_after_a_refactor() -> Loop:
    loop = Loop(passing=60, red=["a", "b"])
    loop.step(broken=[f"p{number}" for number in range(40)])
    for number in range(0, 40, 4):
        loop.step(fix=[f"p{each}" for each in range(number, number + 4)])
    return loop.step(fix=["a", "b"])


def wrong_ways_taken_back() -> Loop:
    loop = Loop()
    for _ in range(2):
        loop.step().step(tree=BASE)
    return loop.step(fix=["a"]).step(fix=["b", "c"])


def wrong_ways_that_break_taken_back() -> Loop:
    loop = Loop(red=names(3))
    for name in names(3):
        tree = loop.tree
        loop.step(broken=["p1", "p2"]).step(fix=["p1", "p2"], tree=tree).step(fix=[name])
    return loop


def plateaus_of_seven() -> Loop:
    loop = Loop(red=names(3))
    for name in names(3):
        loop.times(6, lambda each: each.step(move=True)).step(fix=[name])
    return loop


def clock_goes_back_while_closed() -> Loop:
    loop = Loop(red=names(6))
    for name in names(6):
        loop.step(fix=[name], after=-40 * MINUTES)
    return loop


def nothing_collected_then_found() -> Loop:
    loop = Loop(passing=0, red=(), outcomes={}, collection_errors={"pytest.ini": "usage"})
    loop.step(outcomes=dict.fromkeys([*names(8, "p")], "passed"), broken=["a", "b"])
    return loop.step(fix=["a"]).step(move=True).step(fix=["b"])


def whitespace_between_fixes() -> Loop:
    loop = Loop(red=names(4))
    for name in names(4):
        loop.step(meaningful=False).step(fix=[name])
    return loop


def own_tests_along_with_fixes() -> Loop:
    loop = Loop(red=names(4))
    for name in names(4):
        files = {"shop/cart.py": [20, 3], "tests/test_shop.py": [8, 0]}
        loop.step(outcomes={f"own_{name}": "passed"}, move=True, files=files).step(fix=[name])
    return loop


def renamed_while_fixing() -> Loop:
    loop = Loop(red=names(6))
    for number in range(6):
        files = {"shop/cart.py": [20, 3], "tests/test_shop.py": [4, 4]}
        loop.step(gone=[f"r{number}"], outcomes={f"renamed{number}": "passed"}, files=files)
    return loop


def conftest_broken_for_two() -> Loop:
    loop = Loop(red=names(4)).step(fix=["r0"])
    for each in ("first", "second"):
        loop.step(outcomes=NOTHING, collection_errors={"tests/conftest.py": each})
        loop.rows[-1] |= {"outcomes": {}, "signatures": {}}
    return loop.step().step(fix=["r1"]).step(fix=["r2"]).step(fix=["r3"])


def unsteady_on_an_unchanged_tree() -> Loop:
    loop = Loop(red=names(3))
    loop.idle(broken=["p1"]).idle(fix=["p1"])
    return loop.step(fix=["r0"], broken=["p1"]).step(fix=["p1"], move=True).step(fix=["r1"]).step(fix=["r2"])


def green_and_waiting_for_a_word() -> Loop:
    return Loop(red=["a"]).step(fix=["a"]).times(6, lambda each: each.idle())


def two_approaches_in_turns_that_both_fix() -> Loop:
    loop = Loop(red=names(8))
    for number, name in enumerate(names(8)):
        loop.step(fix=[name])
        loop.rows[-1]["approach"] = ("route", "model")[number % 2]
    return loop


def one_short_answer() -> Loop:
    loop = Loop(red=names(2)).times(4, lambda each: each.step(move=True))
    return loop.step(move=True, output_lines=9).step(move=True).step(fix=["r0"]).step(fix=["r1"])


def outage_without_tests() -> Loop:
    loop = Loop().step(fix=["a"])
    loop.times(12, lambda each: each.idle(agent="error", outcomes=NOTHING))
    for row in loop.rows[2:]:
        row["outcomes"] = None
    return loop.step(fix=["b"]).step(fix=["c"])


def runs_killed_from_outside() -> Loop:
    loop = Loop().step(fix=["a"])
    for _ in range(5):
        loop.step()
        loop.rows[-1] |= {"outcomes": None, "signatures": {}}
    return loop.step(fix=["b"]).step(fix=["c"])


def partial_runs_with_fixes() -> Loop:
    loop = Loop(passing=30, red=names(5))
    for name in names(5):
        for fix in ((), [name]):
            loop.step(fix=fix, move=not fix, partial=True)
            row = loop.rows[-1]
            row["outcomes"] = {key: said for key, said in row["outcomes"].items() if "test_r" in key}
    return loop


def resumed_in_the_middle() -> Loop:
    loop = Loop(red=names(4))
    for name in names(4):
        loop.step(move=True, after=9 * 60 * MINUTES).step(fix=[name])
    for number, row in enumerate(loop.rows[1:], start=17):
        row["iteration"] = number
    return loop


def an_installed_dependency() -> Loop:
    loop = Loop(passing=4, red=names(6))
    return loop.idle().idle(fix=["r0", "r1", "r2"]).idle().step(fix=["r3"]).step(fix=["r4", "r5"])


def moved_test_files() -> Loop:
    loop = Loop(passing=0, red=())
    for number in range(8):
        loop.outcomes[f"tests/test_old.py::test_{number}"] = "failed" if number < 4 else "passed"
    loop.rows[0]["outcomes"] = dict(loop.outcomes)
    for number in range(4):
        old = f"tests/test_old.py::test_{number}"
        files = {"shop/cart.py": [20, 3], "tests/test_new.py": [9, 0], "tests/test_old.py": [0, 9]}
        loop.step(gone=[old], outcomes={f"tests/test_new.py::test_{number}": "passed"}, files=files)
        loop.step(move=True)
    return loop


def large_suite() -> Loop:
    loop = Loop(passing=3000, red=names(200))
    for number in range(0, 200, 20):
        loop.step(move=True).step(fix=[f"r{each}" for each in range(number, number + 20)])
    return loop


def probe_during_an_outage() -> Loop:
    loop = Loop(red=names(4)).step(fix=["r0"]).step(move=True)
    return loop.idle(agent="rate_limited").idle(agent="error").idle(agent="rate_limited").step(fix=["r1", "r2", "r3"])


def green_not_believed(loop: Loop, **facts: Any) -> Loop:
    """Add a run in which no test is red, and which is rejected all the same."""
    return loop.step(fix=["a", "b", "c"], believed=False, **facts)


def real_edits_against_a_rejection() -> Loop:
    loop = green_not_believed(Loop()).times(7, lambda each: each.step(believed=False))
    return loop.step()


def rejected_idle_and_then_mended() -> Loop:
    return green_not_believed(Loop()).times(2, lambda each: each.idle(believed=False)).step()


def rejected_at_each_second_edit_of_a_climb() -> Loop:
    loop = Loop(red=names(5))
    for name in names(5):
        loop.step(fix=[name], believed=False).step(move=True)
    return loop


LEFT_ALONE = (
    real_edits_against_a_rejection,
    rejected_idle_and_then_mended,
    rejected_at_each_second_edit_of_a_climb,
    timeouts_that_leave_fixes,
    crashes_between_fixes,
    denied_but_fixing,
    long_climb_after_a_refactor,
    wrong_ways_taken_back,
    wrong_ways_that_break_taken_back,
    plateaus_of_seven,
    clock_goes_back_while_closed,
    nothing_collected_then_found,
    whitespace_between_fixes,
    own_tests_along_with_fixes,
    renamed_while_fixing,
    conftest_broken_for_two,
    unsteady_on_an_unchanged_tree,
    green_and_waiting_for_a_word,
    two_approaches_in_turns_that_both_fix,
    one_short_answer,
    outage_without_tests,
    runs_killed_from_outside,
    partial_runs_with_fixes,
    resumed_in_the_middle,
    an_installed_dependency,
    moved_test_files,
    large_suite,
    probe_during_an_outage,
)


@pytest.mark.parametrize("build", LEFT_ALONE, ids=lambda build: build.__name__)
def test_a_loop_that_gets_somewhere_is_left_alone(build: Callable[[], Loop]) -> None:
    stop = build().replay().stop
    assert stop is None, (stop.iteration, stop.evidence)


def crashes_and_idles_in_turns() -> Loop:
    return Loop().times(3, lambda each: each.idle(agent="crash").idle())


def dead_agent_without_tests() -> Loop:
    loop = Loop().times(5, lambda each: each.idle(agent="crash"))
    for row in loop.rows[1:]:
        row["outcomes"] = None
    return loop


def crashes_with_limits_between() -> Loop:
    return Loop().times(3, lambda each: each.idle(agent="crash").idle(agent="rate_limited"))


def own_tests_instead_of_fixes() -> Loop:
    loop = Loop()
    for number in range(14):
        files = {"shop/cart.py": [20, 3], "tests/test_shop.py": [4, 0]}
        loop.step(outcomes={f"own{number}": "passed"}, move=True, files=files)
    return loop


def failing_tests_deleted() -> Loop:
    loop = Loop(red=names(5))
    for name in names(5):
        loop.step(gone=[name], files={"tests/test_shop.py": [0, 9]})
    return loop.times(3, lambda each: each.step(files=TESTS_ONLY))


def failing_tests_deleted_among_edits() -> Loop:
    loop = Loop(red=names(9))
    for name in names(9):
        loop.step(gone=[name], files={"tests/test_shop.py": [0, 9], "shop/cart.py": [9, 3]}, move=True)
    return loop


def idle_while_a_known_flaky_test_flips() -> Loop:
    loop = Loop(flaky=[node("p1")])
    return loop.times(3, lambda each: each.idle(broken=["p1"]).idle(fix=["p1"]))


def idle_while_an_unknown_flaky_test_flips() -> Loop:
    return Loop().times(3, lambda each: each.idle(broken=["p1"]).idle(fix=["p1"]))


def denied_at_each_edit() -> Loop:
    return Loop().times(6, lambda each: each.step(move=True, permission_denials=1))


def sawtooth() -> Loop:
    loop = Loop(red=names(8))
    for _ in range(4):
        loop.step(fix=["r0"]).step(fix=["r1"]).step(fix=["r2"]).step(broken=["r0", "r1", "r2"])
    return loop


def formatting_and_idling() -> Loop:
    return Loop().times(3, lambda each: each.step(meaningful=False).idle())


def asks_for_a_person() -> Loop:
    return Loop().step(fix=["a"]).step(agent="blocked", move=True)


def circle_with_pauses() -> Loop:
    loop = Loop()
    for tree in ("x", "y") * 3:
        loop.step(tree=tree, move=True).idle()
    return loop


def circle_of_three_with_the_start() -> Loop:
    loop = Loop()
    for tree in ("x", "y", BASE) * 3:
        loop.step(tree=tree, move=True)
    return loop


def edit_and_take_back_for_ever() -> Loop:
    loop = Loop()
    for number in range(5):
        loop.step(broken=[f"p{number}"], move=True).step(fix=[f"p{number}"], tree=BASE)
    return loop


def failing_tests_renamed_for_ever() -> Loop:
    loop = Loop(red=["n0"])
    for number in range(12):
        files = {"shop/cart.py": [30, 3], "tests/test_shop.py": [4, 4]}
        loop.step(gone=[f"n{number}"], broken=[f"n{number + 1}"], files=files)
    return loop


def tampered_tests() -> Loop:
    return Loop().step(fix=["a"]).step(fix=["b"], integrity=["assertion removed in tests/test_shop.py"])


def broken_build_with_moving_errors() -> Loop:
    loop = Loop()
    for number in range(12):
        loop.step(collection_errors={"tests/test_shop.py": f"error-{number}"})
        loop.rows[-1] |= {"outcomes": {}, "signatures": {}}
    return loop


def timeouts_with_the_same_failure() -> Loop:
    return Loop().times(8, lambda each: each.step(agent="timeout"))


def unavailable_agent() -> Loop:
    return Loop().idle(agent="unavailable")


def only_a_flaky_test_is_red() -> Loop:
    loop = Loop(red=["a"], flaky=[node("a")])
    return loop.times(5, lambda each: each.idle())


def skipped_then_idle() -> Loop:
    return Loop(red=["a"]).step(outcomes={"a": "skipped"}).times(4, lambda each: each.idle())


def quietly_fading() -> Loop:
    loop = Loop().times(3, lambda each: each.step(move=True))
    for lines in (120, 60, 40, 20):
        loop.step(move=True, output_lines=lines)
    return loop


def rejected_then_idle() -> Loop:
    return green_not_believed(Loop()).times(5, lambda each: each.idle(believed=False))


def rejected_then_whitespace() -> Loop:
    return green_not_believed(Loop()).times(5, lambda each: each.step(meaningful=False, believed=False))


def rejected_then_edited_for_ever() -> Loop:
    return green_not_believed(Loop()).times(12, lambda each: each.step(believed=False))


def rejected_and_taken_back_in_turns() -> Loop:
    loop = Loop()
    for _ in range(5):
        green_not_believed(loop, tree="cheat").step(broken=["a", "b", "c"], tree=BASE)
    return loop


def rejected_then_denied() -> Loop:
    return green_not_believed(Loop()).times(5, lambda each: each.step(believed=False, permission_denials=1))


def all_tests_pass_and_the_run_ends_red_all_the_same() -> Loop:
    return Loop(red=(), believed=False).times(5, lambda each: each.idle(believed=False))


STOPPED = (
    (rejected_then_idle, (4, 4), {"no_progress"}),
    (rejected_then_whitespace, (4, 4), {"no_progress"}),
    (rejected_then_edited_for_ever, (9, 9), {"no_net_progress"}),
    (rejected_and_taken_back_in_turns, (4, 6), {"circular_approach", "negative_score"}),
    (rejected_then_denied, (4, 4), {"permission_denials"}),
    (all_tests_pass_and_the_run_ends_red_all_the_same, (3, 3), {"no_progress"}),
    (crashes_and_idles_in_turns, (3, 4), {"no_progress", "negative_score"}),
    (dead_agent_without_tests, (3, 3), {"agent_unavailable"}),
    (crashes_with_limits_between, (5, 5), {"agent_unavailable"}),
    (own_tests_instead_of_fixes, (6, 10), {"no_net_progress"}),
    (failing_tests_deleted, (3, 4), {"test_fix_loop"}),
    (failing_tests_deleted_among_edits, (3, 9), {"no_net_progress", "negative_score"}),
    (idle_while_a_known_flaky_test_flips, (3, 3), {"no_progress", "negative_score"}),
    (idle_while_an_unknown_flaky_test_flips, (3, 5), {"no_progress", "negative_score"}),
    (denied_at_each_edit, (3, 3), {"permission_denials"}),
    (sawtooth, (8, 13), {"no_net_progress"}),
    (formatting_and_idling, (3, 3), {"no_progress", "negative_score"}),
    (asks_for_a_person, (2, 2), {"blocked"}),
    (circle_with_pauses, (3, 8), {"circular_approach", "negative_score"}),
    (circle_of_three_with_the_start, (4, 7), {"circular_approach", "negative_score"}),
    (edit_and_take_back_for_ever, (3, 6), {"circular_approach", "negative_score"}),
    (failing_tests_renamed_for_ever, (5, 9), {"no_net_progress", "identical_errors"}),
    (tampered_tests, (2, 2), {"integrity"}),
    (broken_build_with_moving_errors, (5, 9), {"no_net_progress"}),
    (timeouts_with_the_same_failure, (5, 5), {"identical_errors"}),
    (unavailable_agent, (1, 1), {"agent_unavailable"}),
    (only_a_flaky_test_is_red, (3, 3), {"no_progress"}),
    (skipped_then_idle, (3, 4), {"no_progress", "negative_score"}),
    (quietly_fading, (5, 7), {"output_decline"}),
)


@pytest.mark.parametrize(("build", "within", "reasons"), STOPPED, ids=[row[0].__name__ for row in STOPPED])
def test_a_loop_that_gets_nowhere_is_stopped(
    build: Callable[[], Loop], within: tuple[int, int], reasons: set[str]
) -> None:
    stop = build().replay().stop
    assert stop is not None
    assert within[0] <= stop.iteration <= within[1], (stop.iteration, stop.stop, stop.evidence)
    assert stop.stop in reasons
    assert stop.evidence
    aggressive = build().replay("aggressive").stop
    assert aggressive is not None
    assert aggressive.iteration <= stop.iteration
