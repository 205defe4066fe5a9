"""A loop that goes on after its agent could not be called."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.judge import State, admit, agent_back, begin, decide
from pytest_fireloop.judge.settings import Settings

RED = {"outcomes": {"t.py::a": "failed"}, "signatures": {"t.py::a": "s"}, "tree": "x", "output_lines": 1}


def fold(*agents: str, **last: Any) -> tuple[State, list[str | None]]:
    state = begin(Facts.from_json({"iteration": 0, "at": 0.0, **RED}), Settings.for_profile("balanced"))
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
