"""What holds for every history."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.judge import admit, begin, decide
from pytest_fireloop.judge.settings import Settings

NODES = ("a::1", "a::2", "b::1", "b::2")
OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
words = st.sampled_from(("x", "y", "z"))
iterations = st.fixed_dictionaries(
    {
        "at": st.floats(-1e6, 1e6) | st.integers(0, 40_000),
        "agent": st.sampled_from(("ok", "timeout", "error", "auth", "rate_limited", "crash", "blocked", None, "odd")),
        "outcomes": st.none() | st.dictionaries(st.sampled_from(NODES), st.sampled_from(OUTCOMES)),
        "signatures": st.dictionaries(st.sampled_from(NODES), words),
        "collection_errors": st.dictionaries(st.sampled_from(("a", "b")), words),
        "changed": st.dictionaries(
            st.sampled_from(("src.py", "tests/test_a.py")), st.lists(st.integers(-2, 9), max_size=3)
        ),
        "tree": words,
        "approach": st.none() | words,
        "output_lines": st.integers(-5, 200),
        "permission_denials": st.integers(0, 1),
        "flaky": st.lists(st.sampled_from(NODES), max_size=1),
        "partial": st.booleans(),
        "meaningful": st.booleans() | st.none(),
    }
)
histories = st.lists(iterations, min_size=2, max_size=14).map(
    lambda rows: [{"iteration": number, **row} for number, row in enumerate(rows)]
)
profiles = st.sampled_from(("balanced", "strict", "aggressive"))
example = settings(max_examples=150, deadline=None, derandomize=True)


def decisions(rows: list[dict[str, Any]], profile: str) -> list[dict[str, Any]]:
    state = begin(Facts.from_json(rows[0]), Settings.for_profile(profile))
    found = []
    for row in rows[1:]:
        state, decision = decide(state, Facts.from_json(row))
        found.append(decision.to_json())
    return found


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
@given(histories)
def test_the_cooldown_has_a_cap_and_one_probe_runs(rows: list[dict[str, Any]]) -> None:
    chosen = Settings.for_profile("balanced")
    state = begin(Facts.from_json(rows[0]), chosen)
    for row in rows[1:]:
        facts = Facts.from_json(row)
        admission = admit(state, facts.at)
        before = state.circuit
        state, decision = decide(state, facts)
        assert decision.refused is admission.refused
        assert state.circuit.cooldown_s <= chosen.cooldown_cap_s
        if admission.probe and state.circuit.state == "OPEN" and state.circuit != before:
            assert admit(state, facts.at).refused


@example
@given(histories, st.sampled_from(NODES))
def test_a_newly_passing_test_never_costs(rows: list[dict[str, Any]], node: str) -> None:
    if rows[-1]["outcomes"] is None or node in rows[-1]["flaky"]:
        return
    rows[-2] = {**rows[-2], "outcomes": {**(rows[-2]["outcomes"] or {}), node: "failed"}, "flaky": []}
    fails = {**rows[-1], "outcomes": {**rows[-1]["outcomes"], node: "failed"}}
    passes = {**rows[-1], "outcomes": {**rows[-1]["outcomes"], node: "passed"}}
    without, with_it = (decisions([*rows[:-1], last], "balanced")[-1] for last in (fails, passes))
    assert with_it["score"] >= without["score"]
