"""A loop that goes on after a person did something: for an agent that could not work, or by closing the circuit."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.judge import State, admit, agent_back, begin, decide, reset
from pytest_fireloop.judge.settings import Settings

RED = {"outcomes": {"t.py::a": "failed"}, "signatures": {"t.py::a": "s"}, "tree": "x", "output_lines": 1}


def fold(*agents: str, profile: str = "balanced", **last: Any) -> tuple[State, list[str | None]]:
    state = begin(Facts.from_json({"iteration": 0, "at": 0.0, **RED}), Settings.for_profile(profile))
    stops = []
    for number, agent in enumerate(agents, 1):
        more = last if number == len(agents) else {}
        state, decision = decide(
            state, Facts.from_json({"iteration": number, "at": 10.0 * number, "agent": agent, **RED, **more})
        )
        stops.append(decision.stop)
    return state, stops


def test_no_cooldown_is_waited_for_and_crashes_say_nothing_of_what_comes_next() -> None:
    state, stops = fold("crash", "crash", "crash")
    assert stops == [None, None, "agent_unavailable"]
    assert admit(state, 31.0).refused
    back = agent_back(state)
    assert not admit(back, 31.0).refused
    assert (back.circuit.state, back.crashes, len(back.steps)) == ("CLOSED", 0, 1)
    idle = {"iteration": 4, "at": 40.0, "agent": "ok", **RED}
    assert decide(back, Facts.from_json(idle))[1].stop is None
    assert decide(state, Facts.from_json(idle))[1].refused
    assert decide(state, Facts.from_json({**idle, "agent_back": True})) == decide(back, Facts.from_json(idle))


@pytest.mark.parametrize("agents", [("ok", "ok", "ok"), ("crash", "crash")])
def test_it_is_the_same_loop_where_the_circuit_is_not_open_for_that(agents: tuple[str, ...]) -> None:
    state, _ = fold(*agents)
    assert agent_back(state) is state


@pytest.mark.parametrize("agent", ["blocked", "auth"])
def test_who_asked_for_a_person_is_called_again_when_one_goes_on(agent: str) -> None:
    state, stops = fold("ok", agent)
    assert stops == [None, "blocked"]
    assert admit(state, 21.0).refused
    assert not admit(agent_back(state), 21.0).refused


@pytest.mark.parametrize("profile", ["balanced", "strict", "aggressive"])
def test_a_person_closes_the_circuit_and_what_was_before_is_forgotten(profile: str) -> None:
    state, stops = fold(*["ok"] * (2 if profile == "aggressive" else 3), profile=profile)
    assert stops[-1] == "no_progress"
    number, at = len(stops) + 1, 40.0
    idle = {"iteration": number, "at": at, "agent": "ok", **RED}
    assert decide(state, Facts.from_json(idle))[1].refused
    closed = reset(state)
    assert (admit(closed, at).refused, closed.circuit.state) == (False, "CLOSED")
    assert decide(state, Facts.from_json({**idle, "reset": True}))[1] == decide(closed, Facts.from_json(idle))[1]
    stops = []
    for each in range(4):
        closed, decision = decide(closed, Facts.from_json({**idle, "iteration": number + each, "at": at + each}))
        stops += [decision.stop] * (not decision.refused)
    assert stops == ([None, "no_progress"] if profile == "aggressive" else [None, None, "no_progress"])
