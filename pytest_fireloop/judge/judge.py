"""The judge: a fold over the facts of a loop, one decision an iteration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_fireloop.judge import circuit as circuits
from pytest_fireloop.judge import strict
from pytest_fireloop.judge.circuit import Admission
from pytest_fireloop.judge.decision import Decision
from pytest_fireloop.judge.difficulty import difficulty
from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.facts import GREEN, PERSON_NEEDED, RED, Facts
from pytest_fireloop.judge.health import health
from pytest_fireloop.judge.metrics import metrics
from pytest_fireloop.judge.recovery import ESCALATE, kind_of, strategy
from pytest_fireloop.judge.reward import confidence, raw_confidence, signals, turn_reward
from pytest_fireloop.judge.risk import risk
from pytest_fireloop.judge.rules.output_decline import FIRST, semantic_progress
from pytest_fireloop.judge.rules.rule import View
from pytest_fireloop.judge.rules.table import RULES, measured, opening, warnings
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.judge.state import State, forget, remember
from pytest_fireloop.judge.step import Step, first_step, next_step, window_sum, without
from pytest_fireloop.judge.suite import Moves, advance, start

__all__ = [
    "MENDED_BY_A_PERSON",
    "Admission",
    "Decision",
    "State",
    "admit",
    "agent_back",
    "begin",
    "decide",
    "notice_clock",
    "reset",
]

STAGNATION = {rule.reason for rule in RULES if rule.stagnation}
#: Why a circuit opens where no cooldown helps and a person does.
MENDED_BY_A_PERSON = frozenset({"agent_unavailable", "blocked"})
#: What the agent did, or did not, even where the tests could not run.
AGENT_SPEAKS = PERSON_NEEDED | {"crash", "unavailable"}
#: Flips on one and the same tree, there and back, that make a test flaky; a single one may come from outside.
FLIPS = 2


def begin(baseline: Facts, settings: Settings) -> State:
    """Start a loop from its baseline."""
    suite = start(baseline)
    return State(
        settings,
        suite,
        (first_step(baseline, suite, baseline.flaky),),
        baseline.flaky,
        tasks=baseline.tasks_done or 0,
        letter=strict.begin(baseline) if settings.profile == "strict" else None,
    )


def notice_clock(state: State, at: float) -> State:
    """Take a clock that went back into account; the same state where it did not. The caller keeps what is returned."""
    circuit = circuits.at_time(state.circuit, at)
    return state if circuit is state.circuit else replace(state, circuit=circuit)


def agent_back(state: State) -> State:
    """Take a loop up whose agent could not be called or asked for a person: its crashes say nothing of the next one.

    The same state where the circuit is not open for that.
    """
    if state.circuit.state == circuits.CLOSED or state.circuit.reason not in MENDED_BY_A_PERSON:
        return state
    steps = state.steps
    while len(steps) > 1 and steps[-1].crashed:
        steps = steps[:-1]
    return replace(state, circuit=circuits.Circuit(), steps=steps, crashes=0)


def reset(state: State) -> State:
    """Close the circuit, for a person says so: what was before is no evidence against what comes next."""
    letter = strict.begin(state.letter.last) if state.letter is not None else None
    return forget(replace(state, circuit=circuits.Circuit(), letter=letter), state.steps[-1])


def admit(state: State, at: float) -> Admission:
    """Ask the circuit before an iteration."""
    return circuits.ask(circuits.at_time(state.circuit, at), at)


def decide(state: State, facts: Facts) -> tuple[State, Decision]:
    """Judge one iteration; never raises, whatever the facts are.

    A forced iteration that ran although the circuit is open is measured, and the circuit stays as it is.
    """
    if facts.clock_back_at is not None:
        state = notice_clock(state, facts.clock_back_at)
    state = notice_clock(state, facts.at)
    if facts.agent_back:
        state = agent_back(state)
    if facts.reset:
        state = reset(state)
    admission = admit(state, facts.at)
    if admission.refused and not facts.forced:
        return state, Decision(facts.iteration, state.circuit, refused=True, health=state.health, level="tripped")
    crashed = facts.agent == "crash" and not facts.lines_changed
    if not facts.is_evidence and facts.agent not in AGENT_SPEAKS:
        by_the_letter = state.letter is not None and state.circuit.state == circuits.CLOSED
        if not by_the_letter:
            return _without_evidence(state, facts, probe=admission.probe)
    state = replace(state, crashes=state.crashes + 1 if crashed else 0)
    state, step = _measured(state, facts)
    return _judged(state, step, facts, probe=admission.probe, forced=admission.refused)


def _without_evidence(state: State, facts: Facts, *, probe: bool) -> tuple[State, Decision]:
    """Pass over an iteration that says nothing: a probe that could not run is no failed probe."""
    state = replace(state, circuit=circuits.wait_for_probe(state.circuit)) if probe else state
    level = "healthy" if state.circuit.state == circuits.CLOSED else "tripped"
    return state, Decision(facts.iteration, state.circuit, health=state.health, level=level)


def _measured(state: State, facts: Facts) -> tuple[State, Step]:
    """Take in the tests, learn which are flaky, measure the iteration and remember it."""
    before = state.steps[-1]
    suite, moves = advance(state.suite, facts, before.failing)
    unsteady = _unsteady(state, facts, moves)
    learned = facts.flaky | {node for node, flips in unsteady.items() if flips >= FLIPS}
    learned -= state.flaky
    state = replace(state, unsteady=unsteady)
    if learned:
        flaky = state.flaky | learned
        steps = without(state.steps, state.suite, learned, flaky)
        state = replace(state, steps=steps, flaky=flaky, best_before=state.best_before - len(learned))
    done = max(0, (facts.tasks_done or 0) - state.tasks)
    step = next_step(state.steps, facts, suite, moves, flaky=state.flaky, tasks=done)
    step = replace(step, confidence=raw_confidence(step, facts), reward=turn_reward(step, facts))
    state = remember(state, step)
    first = state.first
    if len(first) < FIRST and step.output_lines and not step.crashed:
        first = (*first, (step.output_lines, semantic_progress(step)))
        state = replace(state, first_until=step.iteration)
    letter = strict.advance(state.letter, facts, state.settings) if state.letter is not None else None
    return replace(state, suite=suite, tasks=state.tasks + done, first=first, letter=letter), step


def _unsteady(state: State, facts: Facts, moves: Moves) -> Mapping[str, int]:
    """Count the flips of tests on a tree that did not change."""
    if facts.changed or not facts.tree or facts.tree != state.steps[-1].tree:
        return {}
    flipped = {
        node
        for node, (old, new) in moves.changed.items()
        if (old in RED and new in GREEN) or (old in GREEN and new in RED)
    }
    return {node: state.unsteady.get(node, 0) + (node in flipped) for node in state.unsteady.keys() | flipped}


def _judged(state: State, step: Step, facts: Facts, *, probe: bool, forced: bool) -> tuple[State, Decision]:
    settings = state.settings
    view = View(settings.limits, state.steps, state.crashes, state.since_best, state.first, state.first_until)
    values = measured(view) if state.letter is None else ()
    found = opening(values) if state.letter is None else state.letter.found
    cautions = warnings(view, values)
    concern = next((evidence for rule, evidence in cautions if rule.opens), None)
    diverging = next((evidence for rule, evidence in cautions if not rule.opens), None)
    points = step.score if state.letter is None else state.letter.scores[-1]
    if state.letter is None:
        window = window_sum(view.acts, view.count("window"))
    else:
        scores = state.letter.scores
        window = sum(scores) if len(scores) >= settings["window"] else None
    word = health(view, settings)
    stop: str | None = None
    circuit = state.circuit
    if forced:
        concern = diverging = None
    elif probe:
        concern = None
        state, circuit, found = _probed(state, step, facts, found, points)
        stop = circuit.reason if circuit.state == circuits.OPEN else None
    else:
        stop, found = _reason(found, concern, watched=circuit.watching > 0)
        circuit = circuits.trip(circuit, stop, facts.at, settings) if stop else circuits.watched(circuit)
    if state.since_best == 0:
        state = replace(state, rotations={})
    state, rotate = _rotated(state, stop, concern)
    caution = concern or diverging if stop is None else None
    decision = Decision(
        facts.iteration,
        circuit,
        score=points,
        window_score=window,
        health=word,
        level="tripped" if circuit.state != circuits.CLOSED else "warning" if caution else "healthy",
        stop=stop,
        warning=caution.rule if caution else None,
        rotate=rotate,
        full_run=diverging is not None,
        green=step.green,
        evidence=found if stop else tuple(each for each in (concern, diverging) if each is not None),
        reward=step.reward,
        confidence=confidence(view.acts),
        signals=signals(step, facts),
        events=step.events,
        difficulty=difficulty(facts),
        metrics=metrics(view, facts.calls_left),
        risk=risk(values, warned=bool(found or cautions)),
    )
    return replace(state, circuit=circuit, health=word), decision


def _reason(
    found: tuple[Evidence, ...], concern: Evidence | None, *, watched: bool
) -> tuple[str | None, tuple[Evidence, ...]]:
    """Return what opens the circuit; while it is watched, stagnation is a relapse and its warning is enough."""
    if found:
        return "relapse" if watched and found[0].rule in STAGNATION else found[0].rule, found
    if watched and concern is not None and concern.rule in STAGNATION:
        return "relapse", (concern,)
    return None, ()


def _probed(
    state: State, step: Step, facts: Facts, found: tuple[Evidence, ...], points: int
) -> tuple[State, circuits.Circuit, tuple[Evidence, ...]]:
    """Close on a positive score unless something holds that opens at once, else open again."""
    settings, circuit = state.settings, state.circuit
    at_once = tuple(evidence for evidence in found if evidence.rule not in STAGNATION)
    if at_once:
        # an agent that asks for a person, or never came to work, was not tried
        tried = facts.agent not in PERSON_NEEDED
        return state, circuits.reopen(circuit, at_once[0].rule, facts.at, settings, doubled=tried), at_once
    if points > 0:
        letter = strict.begin(facts) if state.letter is not None else None
        # what led to the trip is no evidence against what comes after it
        return forget(replace(state, letter=letter), step), circuits.close(circuit, settings), ()
    circuit = circuits.reopen(circuit, None, facts.at, settings)
    numbers = {"probe_score": points, "cooldown_s": circuit.cooldown_s}
    return state, circuit, found or (Evidence("negative_score", -points, 1, (facts.iteration,), numbers=numbers),)


def _rotated(state: State, stop: str | None, concern: Evidence | None) -> tuple[State, str | None]:
    """Return the next strategy for a kind of stagnation that only warns; a relapse goes to a person."""
    if stop is not None or concern is None:
        return state, ESCALATE if stop == "relapse" else None
    kind = kind_of(concern.rule)
    tried = state.rotations.get(kind, 0)
    return replace(state, rotations={**state.rotations, kind: tried + 1}), strategy(concern.rule, tried)
