"""Loops of `pytest --fire-loop` under a clock of our own: what was decided live is what a replay decides."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_fireloop.act.open_loop import ask, fold
from pytest_fireloop.act.owner import Owner
from pytest_fireloop.act.referee import Referee
from pytest_fireloop.judge.circuit import Admission
from pytest_fireloop.judge.facts import Trace
from pytest_fireloop.judge.replay import replay
from pytest_fireloop.judge.settings import Settings
from pytest_fireloop.observe.record import CollectionError, Failure, RunRecord, TestResult
from pytest_fireloop.remember.journal import PLUGIN, Journal

ENVIRONMENT = "py311-linux"
HALF_HOUR = 1_800.0
RED = {"t.py::a": "failed", "t.py::b": "failed"}
DECIDED = ("iteration", "score", "window_score", "health", "level", "refused", "stop")


@dataclass
class Loop:
    """A tree, its state, and a clock."""

    tree: Path
    state: Path
    now: float = 1_000_000.0
    profile: str = "balanced"
    edits: int = 0
    refused: list[Admission] = field(default_factory=list)

    def edit(self, text: str | None = None) -> None:
        self.edits += 1
        (self.tree / "product.py").write_text(text or f"x = {self.edits}\n", encoding="utf-8")

    def admission(self, asker: int | None = None) -> Admission | None:
        journal = Journal(self.state / "journal.sqlite")
        try:
            row = journal.open_loop(PLUGIN, ENVIRONMENT)
            return (
                None
                if row is None
                else ask(fold(journal, row, self.profile), journal, self.now, Owner.of(asker or os.getpid()))
            )
        finally:
            journal.close()

    def run(self, outcomes: dict[str, str], **changes: Any) -> bool:
        """Ask the circuit, and judge a run if it may be; return whether it ran."""
        admission = self.admission()
        if admission is not None and admission.refused:
            self.refused.append(admission)
            return False
        referee = Referee(self.tree, self.state, profile=self.profile, forbid=False)
        try:
            referee.judge(record(outcomes, **changes), forced=False)
        finally:
            referee.close()
        return True

    def rows(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        journal = Journal(self.state / "journal.sqlite")
        try:
            loop = journal.loops(PLUGIN)[0]
            return dict(loop.data), journal.iterations(loop.loop_id)
        finally:
            journal.close()

    def decisions(self) -> list[dict[str, Any]]:
        return [row["decision"] for row in self.rows()[1][1:]]


def record(outcomes: dict[str, str], **changes: Any) -> RunRecord:
    failed = [node for node, said in outcomes.items() if said == "failed"]
    tests = tuple(
        TestResult(node, said, 0.0, *(("s", "c") if node in failed else (None, None)))
        for node, said in outcomes.items()
    )
    failures = (Failure("s", "c", tuple(failed), "E", "m", "product.py:1"),) if failed else ()
    made = {"exit_code": 1 if failed else 0, "complete": True, "scope": "all", "collected": len(tests)}
    return RunRecord(
        f"{random.random()}", environment=ENVIRONMENT, tests=tests, failures=failures, **{**made, **changes}
    )


@pytest.fixture
def loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loop:
    made = Loop(tmp_path / "tree", tmp_path / "state")
    made.tree.mkdir()
    made.state.mkdir()
    made.edit()
    monkeypatch.setattr(time, "time", lambda: made.now)
    return made


def same_as_replayed(loop: Loop) -> None:
    data, rows = loop.rows()
    trace = Trace.from_json({"name": "live", "iterations": [row["facts"] for row in rows], "settings": {}})
    replayed = replay(trace, Settings.for_profile(data["profile"])).to_json()["iterations"]
    live = [{**{name: row[name] for name in DECIDED}, "circuit": row["circuit"]["state"]} for row in loop.decisions()]
    assert live == replayed


def trip(loop: Loop) -> None:
    for _ in range(4):
        assert loop.run(RED)
        loop.now += 10
    assert loop.decisions()[-1]["stop"] == "no_progress"


@pytest.mark.parametrize("changes", [{"exit_code": 1}, {"complete": False}], ids=["ends otherwise", "incomplete"])
def test_a_run_without_a_red_test_that_is_not_green_is_judged_like_a_red_one(
    loop: Loop, changes: dict[str, Any]
) -> None:
    loop.run(RED)
    loop.edit()
    green = dict.fromkeys(RED, "passed")
    for _ in range(4):
        loop.now += 10
        assert loop.run(green, **changes)
    assert [row["stop"] for row in loop.decisions()] == [None, None, None, "no_progress"]
    assert not loop.run(green, **changes)
    same_as_replayed(loop)


@pytest.mark.parametrize("profile", ["balanced", "strict", "aggressive"])
@pytest.mark.parametrize("seed", range(4))
def test_any_live_loop_replays_to_its_own_decisions(loop: Loop, seed: int, profile: str) -> None:
    chance = random.Random(seed)
    loop.profile = profile
    loop.run(RED)
    for _ in range(24):
        loop.now += chance.choice((5, 60, 60, HALF_HOUR, 9 * HALF_HOUR, -400, -3 * HALF_HOUR))
        if chance.random() < 0.6:
            loop.edit(chance.choice((None, None, "x = 1\n", "x = 2\n")))
        said = [chance.choice(("failed", "failed", "passed", "skipped")) for _ in RED]
        outcomes: dict[str, str] = dict(zip(RED, said, strict=True))
        outcomes["t.py::a"] = "failed"  # a green run would end the loop
        changes: dict[str, Any] = chance.choice(
            (
                {},
                {},
                {},
                {"partial": True, "scope": "-k a"},
                {"exit_code": None, "complete": False, "not_run": ("t.py::b",)},
                {"exit_code": 2, "collection_errors": (CollectionError("t.py", "e", "no"),), "complete": False},
                {"exit_code": 4, "complete": False},
            )
        )
        if changes.get("collection_errors"):
            outcomes = {}
        loop.run(outcomes, **changes)
    assert len(loop.decisions()) > 4
    same_as_replayed(loop)


PART = {"partial": True, "scope": "-k a"}
OTHER = {"partial": True, "scope": "-k b"}


@pytest.mark.parametrize(
    ("looks", "counted"),
    [
        ([PART, {}, {}, {}, {}], 3),
        ([PART, {}, PART, {}, {}, {}, {}], 3),
        ([PART] * 4, 3),
        ([{}, {}, PART, {}, {}, {}], 3),
        ([PART, {}] * 6, 0),
        ([{}, PART] * 6, 0),
        ([PART, OTHER] * 6, 0),
        ([{}, *[PART] * 6], 0),
        ([PART, *[OTHER] * 6], 0),
    ],
    ids=str,
)
def test_looks_from_one_side_at_an_unchanged_tree_count_and_those_from_another_do_not(
    loop: Loop, looks: list[dict[str, Any]], counted: int
) -> None:
    """A loop that began with a part is stuck when whole runs show the same again and again."""
    for changes in looks:
        assert loop.run({"t.py::a": "failed"} if changes else RED, **changes)
    decisions = loop.decisions()
    assert (len(decisions), [row["stop"] for row in decisions if row["stop"]]) == (
        counted,
        ["no_progress"] if counted else [],
    )
    same_as_replayed(loop)


def test_whole_runs_after_a_part_show_what_is_gone_and_each_ends_the_loop(loop: Loop) -> None:
    loop.run({"t.py::a": "failed"}, **PART)
    loop.edit()
    loop.run({"t.py::a": "failed", "t.py::b": "failed"})
    loop.edit()
    loop.run({"t.py::a": "failed"})
    loop.edit()
    loop.run({"t.py::a": "failed"}, **PART)
    assert [row["facts"]["partial"] for row in loop.rows()[1]] == [True, False, False, True]
    same_as_replayed(loop)
    loop.edit()
    loop.run({"t.py::a": "passed"})
    assert loop.admission() is None


def test_one_probe_after_the_cooldown(loop: Loop) -> None:
    trip(loop)
    assert not loop.run(RED)
    loop.now += HALF_HOUR
    assert loop.run(RED)
    assert loop.decisions()[-1]["circuit"]["state"] == "OPEN"
    loop.now += HALF_HOUR
    assert not loop.run(RED), "the cooldown has doubled"
    loop.now += HALF_HOUR
    loop.edit()
    assert loop.run({**RED, "t.py::b": "passed"})
    assert loop.decisions()[-1]["circuit"]["state"] == "CLOSED"
    same_as_replayed(loop)


def test_a_clock_that_goes_back_costs_one_cooldown_however_often_it_is_asked(loop: Loop) -> None:
    trip(loop)
    loop.now -= 400 * 86_400.0
    for _ in range(5):
        assert not loop.run(RED)
        loop.now += HALF_HOUR / 6
    assert not loop.run(RED)
    loop.now += HALF_HOUR / 6
    assert loop.run(RED)
    assert [row["refused"] for row in loop.decisions()] == [False] * 4
    assert loop.decisions()[-1]["circuit"]["opened_at"] == loop.now
    same_as_replayed(loop)


def test_a_clock_that_goes_forward_again_is_believed(loop: Loop) -> None:
    trip(loop)
    before = loop.now
    loop.now -= 86_400.0
    assert not loop.run(RED)
    loop.now = before + HALF_HOUR
    assert loop.run(RED)
    same_as_replayed(loop)


def test_one_process_alone_probes(loop: Loop) -> None:
    trip(loop)
    loop.now += HALF_HOUR
    sleeper = shutil.which("sleep")
    assert sleeper is not None
    with subprocess.Popen([sleeper, "60"]) as other:
        admission = loop.admission(asker=other.pid)
        assert admission is not None
        assert (admission.probe, admission.refused) == (True, False)
        assert not loop.run(RED)
        assert loop.refused[-1].under_way
        other.kill()
    assert loop.run(RED), "the process that probed is gone, and left no result"
    same_as_replayed(loop)


def test_the_circuit_outlives_the_process_and_the_loop_goes_on(loop: Loop) -> None:
    trip(loop)
    again = Loop(loop.tree, loop.state, loop.now)
    assert not again.run(RED)
    assert again.refused[-1].reason == "no_progress"
