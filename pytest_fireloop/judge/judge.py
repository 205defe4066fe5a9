"""The judge: a fold over the facts of a loop, one decision an iteration."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_fireloop.judge import circuit as circuits
from pytest_fireloop.judge import strict
from pytest_fireloop.judge.circuit import Admission, Circuit
from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.health import adjusted_confidence, divergence, health, turn_reward
from pytest_fireloop.judge.recovery import strategy
from pytest_fireloop.judge.rules import View, opening, warning
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.judge.step import Step, first_step, next_step

__all__ = ["Admission", "Decision", "State", "admit", "begin", "decide"]

#: How many iterations the rules can look back: the longest is a baseline with period three twice round, and more.
KEPT = 12
#: How often a test must flip on its own before it is held for flaky.
FLIPS = 3


@dataclass(frozen=True, slots=True)
class State:
    """All that the next decision needs; bounded, whatever the length of the loop, but for trees and approaches seen."""

    settings: Settings
    steps: tuple[Step, ...]
    output: tuple[Step, ...] = ()
    circuit: Circuit = field(default_factory=Circuit)
    best: int = 0
    since_best: int = 0
    crashes: int = 0
    flaky: frozenset[str] = frozenset()
    trees: Mapping[str, int] = field(default_factory=dict)
    approaches: frozenset[str] = frozenset()
    rotations: int = 0
    letter: strict.Letter | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided after one iteration; `stop` is the reason to halt, `rotate` the strategy of the next prompt."""

    iteration: int
    circuit: Circuit
    refused: bool = False
    score: int = 0
    window_score: int | None = None
    health: str = "PROGRESS"
    level: str = "healthy"
    stop: str | None = None
    warning: str | None = None
    rotate: str | None = None
    evidence: tuple[Evidence, ...] = ()
    reward: float | None = None
    confidence: float | None = None
    events: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the decision as a row of a replay."""
        return {
            "iteration": self.iteration,
            "score": self.score,
            "window_score": self.window_score,
            "health": self.health,
            "level": self.level,
            "circuit": self.circuit.to_json(),
            "refused": self.refused,
            "stop": self.stop,
            "warning": self.warning,
            "rotate": self.rotate,
            "evidence": [evidence.to_json() for evidence in self.evidence],
            "reward": self.reward,
            "confidence": self.confidence,
            "events": dict(self.events),
        }


def begin(baseline: Facts, settings: Settings) -> State:
    """Start a loop from its baseline."""
    step = first_step(baseline)
    trees = {baseline.tree: step.passing} if baseline.tree else {}
    return State(
        settings,
        (step,),
        (step,),
        best=step.passing,
        flaky=baseline.flaky,
        trees=trees,
        letter=strict.begin(baseline) if settings.profile == "strict" else None,
    )


def admit(state: State, at: float) -> Admission:
    """Ask the circuit before an iteration."""
    return circuits.ask(state.circuit, at)


def decide(state: State, facts: Facts) -> tuple[State, Decision]:
    """Judge one iteration; never raises, whatever the facts are."""
    admission = admit(state, facts.at)
    if admission.refused:
        return state, Decision(facts.iteration, state.circuit, refused=True, level="tripped")
    state = _learn_flaky(state, facts)
    if state.letter is None and not facts.is_evidence and facts.agent not in {"auth", "blocked"}:
        return _without_evidence(state, facts)
    before = state.steps[-1]
    step = next_step(before, facts, flaky=state.flaky, seen=state.trees, approaches=state.approaches)
    crashed = facts.agent == "crash" and not facts.lines_changed
    beaten = step.passing > state.best
    state = replace(
        state,
        steps=(*state.steps, step)[-KEPT:],
        output=state.output if len(state.output) > 3 else (*state.output, step),
        best=max(state.best, step.passing),
        since_best=0 if beaten else state.since_best + 1,
        crashes=state.crashes + 1 if crashed else 0,
        trees={**state.trees, facts.tree: step.passing} if facts.tree else state.trees,
        approaches=state.approaches | {facts.approach} if facts.approach else state.approaches,
        letter=strict.advance(state.letter, facts) if state.letter is not None else None,
    )
    return _judged(state, step, probe=admission.probe)


def _judged(state: State, step: Step, *, probe: bool) -> tuple[State, Decision]:
    settings, facts = state.settings, step.facts
    view = View(settings, state.steps, state.crashes, state.since_best)
    found: tuple[Evidence, ...]
    if state.letter is not None:
        found = tuple(Evidence(reason, 1, 1, (facts.iteration,)) for reason in state.letter.reasons)
    else:
        found = opening(view)
    concern = warning(view) if state.letter is None else None
    stop: str | None = None
    circuit = state.circuit
    if probe:
        circuit = circuits.probed(circuit, step.score, facts.at, settings)
        stop = circuit.reason if circuit.state == circuits.OPEN else None
        found = found if stop else ()
        concern = None
        if circuit.state == circuits.CLOSED:
            # what led to the trip is no evidence against what came after it
            state = replace(state, steps=(step,), since_best=0, crashes=0, best=step.passing)
    elif found or (concern is not None and circuit.watching):
        stop = found[0].rule if found else "relapse"
        found = found or ((concern,) if concern is not None else ())
        circuit = circuits.trip(circuit, "relapse" if circuit.watching else stop, facts.at, settings)
        stop = circuit.reason
    else:
        circuit = circuits.watched(circuit)
    diverging = divergence(view)
    concern = concern or diverging
    window = sum(each.score for each in view.acts[-settings.window :]) if len(view.acts) >= settings.window else None
    rotate = strategy(concern.rule, state.rotations) if concern is not None and stop is None else None
    decision = Decision(
        facts.iteration,
        circuit,
        score=step.score,
        window_score=window,
        health=health(view),
        level="tripped" if circuit.state != circuits.CLOSED else "warning" if concern else "healthy",
        stop=stop,
        warning=concern.rule if concern and stop is None else None,
        rotate=rotate,
        evidence=found if stop else (concern,) if concern else (),
        reward=turn_reward(step),
        confidence=adjusted_confidence(state.steps),
        events=step.events,
    )
    return replace(state, circuit=circuit, rotations=state.rotations + (rotate is not None)), decision


def _without_evidence(state: State, facts: Facts) -> tuple[State, Decision]:
    """Pass over an iteration that says nothing: a probe that could not run is no failed probe."""
    crashes = state.crashes + 1 if facts.agent == "crash" and not facts.lines_changed else state.crashes
    state = replace(state, crashes=crashes)
    level = "healthy" if state.circuit.state == circuits.CLOSED else "tripped"
    return state, Decision(facts.iteration, state.circuit, level=level)


def _learn_flaky(state: State, facts: Facts) -> State:
    """Take a test that turns out flaky out of the past too: known ones, and those that flip again and again alone."""
    flaky = state.flaky | facts.flaky
    if flaky == state.flaky:
        return state
    steps = tuple(
        replace(
            step,
            newly_passing=step.newly_passing - flaky,
            newly_failing=step.newly_failing - flaky,
            failing={node: text for node, text in step.failing.items() if node not in flaky},
            passing=sum(said in {"passed", "xpassed"} and node not in flaky for node, said in step.known.items()),
        )
        for step in state.steps
    )
    same = tuple(
        replace(step, same_errors=bool(step.failing) and step.failing == before.failing)
        for before, step in itertools.pairwise(steps)
    )
    kept = (steps[0], *same)
    return replace(state, flaky=flaky, steps=kept, best=max(step.passing for step in kept))
