"""Score, suite, reward, confidence and health of single iterations."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fireloop.judge.facts import Facts, Trace
from pytest_fireloop.judge.judge import Decision, State, begin, decide
from pytest_fireloop.judge.recovery import advice, strategy
from pytest_fireloop.judge.settings import Settings

BALANCED = Settings.for_profile("balanced")
START = {"m::a": "failed", "m::b": "failed", "m::c": "passed", "m::d": "passed"}
EDIT = {"shop.py": [4, 2]}


def row(number: int, outcomes: dict[str, str] | None, **more: Any) -> Facts:
    signatures = {node: f"{node} fails" for node, said in (outcomes or {}).items() if said in {"failed", "error"}}
    base = {"iteration": number, "at": number * 60.0, "agent": "ok" if number else None, "outcomes": outcomes}
    return Facts.from_json({**base, "signatures": signatures, "tree": f"tree {number}", **more})


def judged(*rows: Facts) -> list[Decision]:
    return folded(*rows)[1]


def folded(*rows: Facts) -> tuple[State, list[Decision]]:
    state = begin(rows[0], BALANCED)
    found = []
    for each in rows[1:]:
        state, decision = decide(state, each)
        found.append(decision)
    return state, found


@pytest.mark.parametrize(
    ("outcomes", "more", "events", "score"),
    [
        ({"m::a": "passed"}, {"changed": EDIT}, {"newly_passing": 1, "file_changed": 1, "new_approach": 1}, 5),
        ({}, {"changed": EDIT}, {"file_changed": 1, "new_approach": 1, "same_error": 1}, 0),
        ({}, {"changed": EDIT, "meaningful": False}, {"no_file_changed": 1, "same_error": 1}, -5),
        ({}, {}, {"no_file_changed": 1, "same_error": 1}, -5),
        (
            {},
            {"changed": {f"f{number}": [1, 0] for number in range(9)}},
            {"file_changed": 3, "new_approach": 1, "same_error": 1},
            2,
        ),
        (
            {"m::a": "passed", "m::c": "failed", "m::d": "error"},
            {"changed": EDIT},
            {"newly_passing": 1, "newly_failing": 2, "file_changed": 1, "new_approach": 1},
            -1,
        ),
        ({}, {"tasks": {"done": 2, "total": 5}}, {"no_file_changed": 1, "same_error": 1}, -5),
        (
            {"m::a": "passed"},
            {"changed": EDIT, "tasks": {"done": 2, "total": 5}},
            {"newly_passing": 1, "task_done": 2, "file_changed": 1, "new_approach": 1},
            15,
        ),
        ({"m::a": "skipped"}, {"changed": EDIT}, {"file_changed": 1, "new_approach": 1, "same_error": 1}, 0),
        ({"m::a": "xpassed"}, {"changed": EDIT}, {"newly_passing": 1, "file_changed": 1, "new_approach": 1}, 5),
        ({}, {"changed": {"logo.png": [0, 0]}}, {"file_changed": 1, "new_approach": 1, "same_error": 1}, 0),
    ],
)
def test_the_score_adds_up_the_events(
    outcomes: dict[str, str], more: dict[str, Any], events: dict[str, int], score: int
) -> None:
    (decision,) = judged(row(0, START), row(1, {**START, **outcomes}, **more))
    assert (decision.events, decision.score) == (events, score)


def test_a_mended_collection_error_scores_and_brings_tests_to_light() -> None:
    first = row(0, {"m::c": "passed"}, collection_errors={"n.py": "import", "o.py": "import"})
    second = row(1, {"m::c": "passed", "n.py::a": "failed"}, collection_errors={"o.py": "import"}, changed=EDIT)
    (decision,) = judged(first, second)
    assert decision.events == {"error_gone": 1, "file_changed": 1, "new_approach": 1}


def test_the_way_back_costs_one_unless_it_leads_to_a_better_state() -> None:
    broken = {**START, "m::c": "failed"}
    same = judged(row(0, START), row(1, START, changed=EDIT), row(2, START, changed=EDIT, tree="tree 0"))
    assert same[1].events["taken_back"] == 1
    better = judged(row(0, START), row(1, broken, changed=EDIT), row(2, START, changed=EDIT, tree="tree 0"))
    assert "taken_back" not in better[1].events


def test_a_flaky_test_gives_and_takes_nothing() -> None:
    mended = {**START, "m::a": "passed"}
    flaky = {"flaky": ["m::a"]}
    found = judged(row(0, START, **flaky), row(1, mended, **flaky), row(2, START, **flaky))
    assert [decision.events for decision in found] == [{"no_file_changed": 1, "same_error": 1}] * 2


def test_a_test_that_turns_out_flaky_is_taken_out_of_the_past() -> None:
    mended = {**START, "m::a": "passed"}
    rows = [row(0, START), row(1, mended, changed=EDIT), row(2, START, changed=EDIT)]
    state, found = folded(*rows, row(3, mended, changed=EDIT, flaky=["m::a"]))
    assert [decision.score for decision in found] == [5, -3, 0]
    assert [step.score for step in state.steps] == [0, 0, 0, 0]
    assert found[-1].window_score == 0
    assert [step.passing for step in state.steps] == [2, 2, 2, 2]
    assert state.since_best == 3


def test_flips_there_and_back_on_one_tree_make_a_test_flaky_and_a_single_one_does_not() -> None:
    mended = {**START, "m::a": "passed"}
    once, _ = folded(row(0, START, tree="x"), row(1, mended, tree="x"))
    twice, _ = folded(row(0, START, tree="x"), row(1, mended, tree="x"), row(2, START, tree="x"))
    assert once.flaky == frozenset()
    assert twice.flaky == {"m::a"}


def test_a_partial_run_leaves_the_absent_as_they_were() -> None:
    state, found = folded(row(0, START), row(1, {"m::a": "passed"}, partial=True, changed=EDIT))
    assert dict(state.suite.known) == {**START, "m::a": "passed"}
    assert found[0].score == 5


@pytest.mark.parametrize("path", ["m/conftest.py", "m/t.py", "m", "", "conftest.py", "m/__init__.py"])
def test_what_could_not_be_collected_is_hidden_and_not_gone(path: str) -> None:
    start = {"m/t.py::a": "failed", "m/t.py::b": "passed"}
    state, found = folded(
        row(0, start),
        row(1, {"n.py::x": "passed"}, collection_errors={path: "broken"}, changed=EDIT),
        row(2, {"n.py::x": "passed", **start}, changed=EDIT),
    )
    assert "newly_failing" not in found[0].events
    assert "newly_passing" not in found[1].events
    assert set(state.steps[-1].failing) == {"m/t.py::a"}


def test_a_deleted_failure_is_no_fix_and_a_renamed_one_follows_its_name() -> None:
    gone, _ = folded(row(0, START), row(1, {"m::b": "failed", "m::c": "passed", "m::d": "passed"}, changed=EDIT))
    assert set(gone.steps[-1].failing) == {"m::a", "m::b"}
    renamed = {"m::new": "failed", "m::b": "failed", "m::c": "passed", "m::d": "passed"}
    followed, _ = folded(row(0, START), row(1, renamed, changed=EDIT))
    assert set(followed.steps[-1].failing) == {"m::new", "m::b"}


def test_tests_that_the_agent_writes_are_no_gain() -> None:
    own = {**START, "m::own": "passed"}
    state, _ = folded(row(0, START), row(1, own, changed={"m": [5, 0]}))
    assert state.steps[-1].passing == 2
    state, _ = folded(row(0, START), row(1, own, changed=EDIT))
    assert state.steps[-1].passing == 3


def test_reward_weighs_completion_quality_and_efficiency() -> None:
    done = {**START, "m::a": "passed"}
    (plain,) = judged(row(0, START), row(1, done, changed=EDIT, tokens=45_000))
    assert plain.reward == round(0.5 * 5 * 3 / 4 + 0.3 * 5 + 0.2 * 3, 2)
    (given,) = judged(row(0, START), row(1, START, reward=1.25))
    assert given.reward == 1.25


def test_confidence_is_clamped_and_earlier_doubt_fades() -> None:
    rows = [row(0, START), *(row(number, START, confidence=value) for number, value in enumerate((10, 140, 60), 1))]
    found = [decision.confidence for decision in judged(*rows)]
    assert [(each.raw, each.doubt, each.adjusted, each.reflect) for each in found if each] == [
        (10, 0, 10, True),
        (100, 12, 88, False),
        (60, 8, 52, False),
    ]


def test_confidence_names_its_signals() -> None:
    (decision,) = judged(row(0, START), row(1, {**START, "m::a": "passed"}, changed=EDIT))
    assert decision.signals == ("tests_available", "newly_passing")
    assert decision.confidence is not None
    assert decision.confidence.raw == 90


def test_divergence_warns_and_asks_for_a_full_run_but_never_stops() -> None:
    rows = [
        row(number, START, changed=EDIT, confidence=20 * number, reward=4 - number, signatures={"m::a": str(number)})
        for number in range(4)
    ]
    found = judged(*rows)
    assert [(decision.warning, decision.full_run, decision.stop) for decision in found] == [
        (None, False, None),
        (None, False, None),
        ("divergence", True, None),
    ]


def test_health_has_priorities() -> None:
    same = [row(number, START, changed=EDIT, output_lines=100) for number in range(4)]
    assert [decision.health for decision in judged(*same)] == ["PROGRESS", "PROGRESS", "SPINNING"]
    quiet = [
        row(number, START, changed=EDIT, output_lines=100, signatures={"m::a": str(number)}) for number in range(4)
    ]
    quiet.append(row(4, START, changed=EDIT, output_lines=40, signatures={"m::a": "4"}))
    assert judged(*quiet)[-1].health == "DEGRADED"
    assert judged(row(0, START), row(1, START), row(2, START))[-1].health == "STALLED"
    assert judged(row(0, START), row(1, START, agent="blocked"))[-1].health == "BLOCKED"


def test_words_of_authentication_in_a_failing_test_block_nothing() -> None:
    nodes = {"t::permission_denied": "failed", "t::rate_limit": "failed"}
    moved = [row(n, nodes, changed=EDIT, signatures={"t::rate_limit": f"403 {n}"}) for n in range(5)]
    assert {decision.stop for decision in judged(*moved)} == {None}


def test_strategies_come_in_order_and_end_with_a_person() -> None:
    assert [strategy("identical_errors", tried) for tried in range(5)] == [
        "other_approach",
        "environment",
        "known_issue",
        "escalate",
        "escalate",
    ]
    assert strategy("no_net_progress", 0) == "root_cause"
    assert advice("environment").startswith("Check whether the error comes from the environment")


def test_the_state_does_not_grow_with_the_loop() -> None:
    state = begin(row(0, START), Settings.for_profile("balanced", no_net_progress=300))
    kept = 602
    for number in range(1, 1500):
        outcomes = {**START, "m::a": "passed"} if number % 250 == 0 else START
        each = row(number, outcomes, changed=EDIT, approach=f"idea {number}", signatures={"m::a": str(number)})
        state, decision = decide(state, each)
        assert decision.stop is None or number > 250
    assert (state.kept, len(state.steps) <= kept, len(state.suite.known), len(state.first)) == (kept, True, 4, 0)


def test_a_line_that_is_no_trace_is_refused() -> None:
    odd: tuple[dict[str, Any], ...] = ({}, {"iterations": []}, {"iterations": [1]}, {"iterations": {}})
    for data in odd:
        with pytest.raises(ValueError, match="a trace needs a list of iterations"):
            Trace.from_json(data)


def test_odd_facts_are_unknown() -> None:
    odd = {
        "iteration": "x",
        "at": float("inf"),
        "agent": ["ok"],
        "outcomes": ["a"],
        "signatures": 3,
        "collection_errors": None,
        "changed": {"a": [-4, "x"], "b": 7, "c": [1, 2, 3]},
        "tree": {"a": 1},
        "output_lines": -5,
        "flaky": 4,
        "tasks": [1],
        "test_paths": "tests",
        "tokens": 10**400,
        "confidence": "high",
    }
    facts = Facts.from_json(odd)
    assert (facts.iteration, facts.at, facts.outcomes, facts.output_lines, facts.tokens) == (0, 0.0, None, 0, 0)
    assert facts.changed == {"a": (0, 0), "b": (0, 0), "c": (0, 0)}
    decide(begin(facts, BALANCED), facts)
