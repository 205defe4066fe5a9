"""What holds for every history."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fireloop.judge.facts import Facts, Trace
from pytest_fireloop.judge.judge import admit, begin, decide
from pytest_fireloop.judge.replay import replay
from pytest_fireloop.judge.settings import Settings

ORACLE = runpy.run_path(str(Path(__file__).parents[1] / "data" / "traces" / "strict.py"))["first_stop"]
NODES = ("a::1", "a::2", "b::1", "b::2", "tests/c.py::1")
OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
AGENTS = ("ok", "ok", "timeout", "error", "auth", "rate_limited", "crash", "blocked", "unavailable", None, "odd")
words = st.sampled_from(("x", "y", "z"))
lines = st.lists(st.integers(-2, 9), min_size=1, max_size=3)
iterations = st.fixed_dictionaries(
    {
        "at": st.floats(-1e6, 1e6) | st.integers(0, 40_000),
        "agent": st.sampled_from(AGENTS),
        "outcomes": st.none() | st.dictionaries(st.sampled_from(NODES), st.sampled_from(OUTCOMES)),
        "signatures": st.dictionaries(st.sampled_from(NODES), words),
        "collection_errors": st.dictionaries(st.sampled_from(("a", "b", "tests/conftest.py", "")), words, max_size=1),
        "changed": st.dictionaries(st.sampled_from(("src.py", "tests/c.py", "a")), lines),
        "tree": words | st.just(""),
        "approach": st.none() | words,
        "output_lines": st.integers(-5, 200),
        "permission_denials": st.integers(-1, 1),
        "flaky": st.lists(st.sampled_from(NODES), max_size=1),
        "partial": st.booleans(),
        "meaningful": st.booleans() | st.none(),
        "tasks": st.none() | st.fixed_dictionaries({"done": st.integers(0, 4)}),
        "integrity": st.just([]) | st.just([]) | st.just(["skip added"]),
    }
)


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "iteration": number} for number, row in enumerate(rows)]


histories = st.lists(iterations, min_size=2, max_size=16).map(numbered)
#: Little choice, and a clock that goes on, so that the rules really come into play.
sluggish = st.fixed_dictionaries(
    {
        "agent": st.sampled_from(("ok", "ok", "ok", "timeout", "crash", "error")),
        "outcomes": st.sampled_from(
            (
                {"a::1": "failed", "a::2": "passed"},
                {"a::1": "passed", "a::2": "failed"},
                {"a::1": "failed", "a::2": "failed"},
                {"a::1": "passed", "a::2": "passed"},
                None,
            )
        ),
        "signatures": st.sampled_from(({"a::1": "x"}, {"a::1": "x"}, {"a::1": "y"}, {"a::2": "x"}, {})),
        "changed": st.sampled_from(({}, {"src.py": [4, 1]}, {"tests/c.py": [3, 0]}, {"src.py": [0, 0]})),
        "tree": words,
        "approach": words,
        "output_lines": st.sampled_from((100, 100, 20)),
        "permission_denials": st.sampled_from((0, 0, 1)),
        "tasks": st.sampled_from((None, {"done": 1}, {"done": 2})),
    }
)
sluggish_histories = st.lists(sluggish, min_size=3, max_size=20).map(
    lambda rows: [{**row, "at": row["iteration"] * 100.0} for row in numbered(rows)]
)
profiles = st.sampled_from(("balanced", "strict", "aggressive"))
example = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def decisions(rows: list[dict[str, Any]], profile: str) -> list[dict[str, Any]]:
    state = begin(Facts.from_json(rows[0]), Settings.for_profile(profile))
    found = []
    for row in rows[1:]:
        state, decision = decide(state, Facts.from_json(row))
        found.append(decision.to_json())
    return found


def first_stop(rows: list[dict[str, Any]], profile: str) -> int | None:
    stop = replay(Trace.from_json({"iterations": rows}), Settings.for_profile(profile)).stop
    return None if stop is None else stop.iteration


@example
@given(histories, profiles)
def test_no_history_raises_and_replay_is_deterministic(rows: list[dict[str, Any]], profile: str) -> None:
    assert decisions(rows, profile) == decisions(rows, profile)


@example
@given(histories, profiles)
def test_a_prefix_is_judged_without_what_follows(rows: list[dict[str, Any]], profile: str) -> None:
    whole = decisions(rows, profile)
    for length in range(2, len(rows)):
        assert decisions(rows[:length], profile) == whole[: length - 1]


@example
@given(histories, profiles)
def test_the_order_of_files_and_tests_does_not_matter(rows: list[dict[str, Any]], profile: str) -> None:
    def turned(value: Any) -> Any:
        return dict(reversed(value.items())) if isinstance(value, dict) else value

    mirrored = [{name: turned(value) for name, value in row.items()} for row in rows]
    assert decisions(mirrored, profile) == decisions(rows, profile)


@example
@given(histories, profiles)
def test_one_probe_runs_in_each_cooldown_which_has_a_cap(rows: list[dict[str, Any]], profile: str) -> None:
    chosen = Settings.for_profile(profile)
    state = begin(Facts.from_json(rows[0]), chosen)
    for row in rows[1:]:
        facts = Facts.from_json(row)
        admission = admit(state, facts.at)
        before = state
        state, decision = decide(state, facts)
        assert decision.refused is admission.refused
        assert state.circuit.cooldown_s <= chosen["cooldown_cap_s"]
        if state.circuit.state == "OPEN":
            assert state.circuit.cooldown_s >= chosen["cooldown_s"]
            assert admit(state, facts.at).refused
        if admission.refused:
            assert (decision.score, decision.stop, state.steps) == (0, None, before.steps)


@example
@given(histories, st.sampled_from(NODES))
def test_a_newly_passing_test_never_costs(rows: list[dict[str, Any]], node: str) -> None:
    if rows[-1]["outcomes"] is None or any(node in row["flaky"] for row in rows):
        return
    rows[-2] = {**rows[-2], "outcomes": {**(rows[-2]["outcomes"] or {}), node: "failed"}}
    fails = {**rows[-1], "outcomes": {**rows[-1]["outcomes"], node: "failed"}}
    passes = {**rows[-1], "outcomes": {**rows[-1]["outcomes"], node: "passed"}}
    without, with_it = (decisions([*rows[:-1], last], "balanced")[-1] for last in (fails, passes))
    assert with_it["score"] >= without["score"]


@settings(example, max_examples=250)
@given(sluggish_histories)
def test_strict_is_the_letter(rows: list[dict[str, Any]]) -> None:
    assert first_stop(rows, "strict") == ORACLE(rows)


@settings(example, max_examples=150)
@given(sluggish_histories | histories)
def test_aggressive_never_stops_later_than_balanced(rows: list[dict[str, Any]]) -> None:
    balanced, aggressive = (first_stop(rows, profile) for profile in ("balanced", "aggressive"))
    assert balanced is None or (aggressive is not None and aggressive <= balanced)


@example
@given(sluggish_histories, st.data())
def test_iterations_without_evidence_change_nothing_else(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(rows)))
    limited = {**rows[place - 1], "agent": "rate_limited", "changed": {}}
    longer = [*rows[:place], limited, *rows[place:]]
    found = decisions(longer, "balanced")
    assert found[place - 1]["stop"] is None
    assert [row for index, row in enumerate(found) if index != place - 1] == decisions(rows, "balanced")


@example
@given(histories, st.sampled_from(NODES))
def test_a_test_that_was_flaky_from_the_start_moves_no_decision(rows: list[dict[str, Any]], node: str) -> None:
    known = [{**row, "flaky": [node]} for row in rows]
    turned = {"passed": "failed", "failed": "passed"}
    other = [
        {
            **row,
            "outcomes": row["outcomes"]
            and {n: turned.get(o, o) if n == node else o for n, o in row["outcomes"].items()},
        }
        for row in known
    ]
    for one, two in zip(decisions(known, "balanced"), decisions(other, "balanced"), strict=True):
        if one["stop"] != two["stop"]:
            # a flaky test that is red keeps a run from being green, which alone makes idling right
            break
        assert (one["score"], one["events"]) == (two["score"], two["events"])
