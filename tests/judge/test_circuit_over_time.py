"""The circuit over time: refusals, probes, doubling, the watch after closing."""

from __future__ import annotations

from typing import Any

from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.judge import Decision, State, admit, begin, decide
from pytest_fireloop.judge.settings import Settings

HALF_HOUR = 1800.0
BALANCED = Settings.for_profile("balanced")
RED = {"t::a": "failed", "t::b": "failed"}


def facts(number: int, at: float, *, fixed: bool = False, **more: Any) -> Facts:
    outcomes = {**RED, "t::a": "passed"} if fixed else RED
    changed = {"shop.py": [3, 1]} if fixed else {}
    row = {"iteration": number, "at": at, "agent": "ok", "outcomes": outcomes, "changed": changed, "tree": str(fixed)}
    return Facts.from_json({**row, "signatures": dict.fromkeys(RED, "x"), **more})


def tripped(settings: Settings = BALANCED) -> tuple[State, float]:
    """Return a loop that idled until its circuit opened, and when that was."""
    state = begin(facts(0, 0), settings)
    for number in (1, 2, 3):
        state, decision = decide(state, facts(number, number * 100.0))
    assert decision.stop == "no_progress"
    assert decision.circuit.state == "OPEN"
    return state, 300.0


def test_a_warning_rotates_before_the_circuit_opens() -> None:
    state = begin(facts(0, 0), BALANCED)
    state, first = decide(state, facts(1, 100))
    state, second = decide(state, facts(2, 200))
    assert (first.level, first.health, first.rotate) == ("healthy", "PROGRESS", None)
    assert (second.level, second.health, second.warning) == ("warning", "STALLED", "no_progress")
    assert second.rotate == "fresh_analysis"


def test_the_evidence_holds_the_iterations_and_the_numbers() -> None:
    state = begin(facts(0, 0), BALANCED)
    for number in (1, 2, 3):
        state, decision = decide(state, facts(number, number * 100.0))
    first = decision.evidence[0]
    assert (first.rule, first.value, first.threshold, first.iterations) == ("no_progress", 3, 3, (1, 2, 3))
    assert [evidence.rule for evidence in decision.evidence] == ["no_progress", "negative_score"]
    assert decision.evidence[1].numbers == {"window_score": -15, "passing": 0}
    assert decision.window_score == -15


def test_nothing_runs_before_the_cooldown_is_over() -> None:
    state, opened = tripped()
    early = admit(state, opened + HALF_HOUR - 1)
    assert (early.refused, early.probe, early.reason, early.retry_at) == (True, False, "no_progress", 2100.0)
    after, decision = decide(state, facts(4, opened + 60))
    assert after == state
    assert (decision.refused, decision.level, decision.window_score, decision.stop) == (True, "tripped", None, None)
    due = admit(state, opened + HALF_HOUR)
    assert (due.refused, due.probe) == (False, True)


def test_a_failed_probe_doubles_the_cooldown_up_to_its_cap() -> None:
    state, at = tripped()
    waits = []
    for number in range(4, 12):
        at += state.circuit.cooldown_s
        state, decision = decide(state, facts(number, at))
        assert decision.stop == "no_progress"
        assert decision.circuit.opened_at == at
        assert decision.evidence[0].rule == "no_progress"
        waits.append(state.circuit.cooldown_s / HALF_HOUR)
    assert waits == [2, 4, 8, 16, 16, 16, 16, 16]


def test_a_good_probe_closes_and_the_past_is_no_evidence_any_more() -> None:
    state, at = tripped()
    state, decision = decide(state, facts(4, at + HALF_HOUR, fixed=True))
    assert (decision.circuit.state, decision.circuit.reason, decision.stop) == ("CLOSED", None, None)
    assert decision.score == 5
    _, after = decide(state, facts(5, at + HALF_HOUR + 60, fixed=True, changed={}))
    assert after.stop is None


def test_a_probe_that_could_not_run_stays_due_and_costs_nothing() -> None:
    state, at = tripped()
    at += HALF_HOUR
    for agent, outcomes in (("rate_limited", RED), ("error", None), ("ok", None)):
        state, decision = decide(state, facts(4, at, agent=agent, outcomes=outcomes))
        assert (decision.circuit.state, decision.stop, decision.refused) == ("HALF_OPEN", None, False)
        assert admit(state, at + 1).probe
    assert state.circuit.cooldown_s == HALF_HOUR
    state, decision = decide(state, facts(7, at + 5))
    assert (decision.circuit.state, state.circuit.cooldown_s) == ("OPEN", 2 * HALF_HOUR)


def test_a_probe_that_cannot_log_in_keeps_its_cooldown_and_names_the_reason() -> None:
    state, at = tripped()
    state, decision = decide(state, facts(4, at + HALF_HOUR, agent="auth"))
    assert (decision.circuit.state, decision.stop, decision.health) == ("OPEN", "blocked", "BLOCKED")
    assert (state.circuit.opened_at, state.circuit.cooldown_s) == (at + HALF_HOUR, HALF_HOUR)


def test_a_probe_with_tampered_tests_does_not_close() -> None:
    state, at = tripped()
    state, decision = decide(state, facts(4, at + HALF_HOUR, fixed=True, integrity=["skip added"]))
    assert (decision.circuit.state, decision.stop) == ("OPEN", "integrity")
    assert state.circuit.cooldown_s == 2 * HALF_HOUR


def closed_again() -> tuple[State, float]:
    state, at = tripped()
    state, _ = decide(state, facts(4, at + HALF_HOUR, fixed=True))
    return state, at + HALF_HOUR


def idle_after(state: State, at: float, numbers: range, **more: Any) -> tuple[State, list[Decision]]:
    found = []
    for number in numbers:
        state, decision = decide(state, facts(number, at + 60 * number, fixed=True, **{"changed": {}, **more}))
        found.append(decision)
    return state, found


def test_a_warning_soon_after_closing_is_a_relapse_and_goes_to_a_person() -> None:
    state, at = closed_again()
    state, found = idle_after(state, at, range(5, 7))
    assert [decision.stop for decision in found] == [None, "relapse"]
    assert found[1].rotate == "escalate"
    assert found[1].evidence[0].rule == "no_progress"
    assert state.circuit.cooldown_s == 2 * HALF_HOUR


def test_iterations_without_evidence_do_not_use_up_the_watch() -> None:
    state, at = closed_again()
    state, _ = idle_after(state, at, range(5, 9), agent="rate_limited")
    state, found = idle_after(state, at, range(9, 11))
    assert [decision.stop for decision in found] == [None, "relapse"]


def test_a_trip_after_the_watch_starts_with_the_first_cooldown() -> None:
    state, at = closed_again()
    lines = {"changed": {"shop.py": [1, 1]}}
    for number in range(5, 8):
        state, decision = decide(
            state, facts(number, at + number, fixed=True, tree=str(number), signatures={"t::b": str(number)}, **lines)
        )
        assert decision.stop is None
    state, found = idle_after(state, at, range(8, 11), tree="7")
    assert [each.stop for each in found] == [None, "negative_score", None]
    assert state.circuit.cooldown_s == HALF_HOUR


def test_a_clock_that_goes_back_starts_the_cooldown_anew() -> None:
    state, at = tripped()
    back = at - 100_000
    assert admit(state, back).refused
    assert admit(state, back).retry_at == back + HALF_HOUR
    state, decision = decide(state, facts(4, back))
    assert decision.refused
    assert admit(state, back + HALF_HOUR).probe
    assert admit(state, back + HALF_HOUR - 1).refused


def test_an_iteration_that_is_forced_is_measured_and_changes_no_circuit() -> None:
    state, at = tripped()
    after, decision = decide(state, facts(4, at + 60, fixed=True, forced=True))
    assert (decision.refused, decision.score, decision.stop) == (False, 5, None)
    assert after.circuit == state.circuit
    assert decision.level == "tripped"


def test_strict_closes_and_opens_like_the_others() -> None:
    state, at = tripped(Settings.for_profile("strict"))
    state, decision = decide(state, facts(4, at + HALF_HOUR, fixed=True))
    assert (decision.circuit.state, decision.score) == ("CLOSED", 2)
    state, found = idle_after(state, at + HALF_HOUR, range(5, 8))
    assert [each.stop for each in found] == [None, None, "relapse"]
