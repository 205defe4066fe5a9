"""Runs of several environments as one record."""

from __future__ import annotations

from typing import Any

from pytest_fireloop.observe.matrix_record import COMMAND, plain, together, without_command
from pytest_fireloop.observe.record import Failure, RunRecord, TestResult


def run(environment: str, outcomes: dict[str, str], **changes: Any) -> RunRecord:
    tests = tuple(TestResult(node, said, 0.0, "s" if said == "failed" else None) for node, said in outcomes.items())
    red = tuple(node for node, said in outcomes.items() if said == "failed")
    values: dict[str, Any] = {
        "run_id": environment,
        "environment": environment,
        "exit_code": int(bool(red)),
        "complete": True,
        "collected": len(tests),
        "tests": tests,
        "failures": (Failure("s", "c", red, "E", "m", "a.py:1"),) if red else (),
    }
    return RunRecord(**{**values, **changes})


def joined(*runs: RunRecord, exit_code: int | None = 0, output: str = "") -> RunRecord:
    return together(runs, run_id="x", exit_code=exit_code, output=output)


def test_a_test_bears_its_environment() -> None:
    record = joined(run("a", {"t.py::x": "passed"}), run("b", {"t.py::x": "failed"}), exit_code=1)
    assert record.outcomes == {"t.py::x on a": "passed", "t.py::x on b": "failed"}
    assert record.failures[0].nodeids == ("t.py::x on b",)
    assert record.extra["environments"]["b"]["red_only_here"] == ["t.py::x"]
    assert (record.extra["environments"]["a"]["green"], record.extra["environments"]["b"]["green"]) == (True, False)
    assert RunRecord.from_json(record.to_json()).extra == record.extra


def test_what_is_red_everywhere_is_red_only_nowhere() -> None:
    record = joined(run("a", {"t.py::x": "failed"}), run("b", {"t.py::x": "failed"}), exit_code=1)
    assert [said["red_only_here"] for said in record.extra["environments"].values()] == [[], []]


def test_green_only_if_the_command_and_each_environment_are() -> None:
    green = run("a", {"t.py::x": "passed"})
    assert joined(green).sound
    assert not joined(green, exit_code=1).sound
    assert not joined(green, exit_code=None).sound
    assert not joined(green, run("b", {"t.py::x": "failed"})).sound
    assert not joined(green, run("b", {"t.py::x": "passed"}, complete=False)).sound
    assert not joined(green, run("b", {"t.py::x": "passed"}, exit_code=3)).sound
    assert not joined(green, run("b", {"t.py::x": "passed"}, partial=True)).green


def test_a_command_that_fails_without_a_red_test_is_a_failure_of_its_own() -> None:
    record = joined(run("a", {"t.py::x": "passed"}), exit_code=2, output="one\ncannot install\n")
    assert record.outcomes == {"t.py::x on a": "passed", COMMAND: "error"}
    assert "cannot install" in record.failures[0].message
    assert record.collected == len(record.tests)
    assert set(without_command(record).outcomes) == {"t.py::x on a"}
    # what it printed is no part of which failure it is
    other = joined(run("a", {"t.py::x": "passed"}), exit_code=2, output="other words")
    assert other.failures[0].signature == record.failures[0].signature
    third = joined(run("a", {"t.py::x": "passed"}), exit_code=3)
    assert third.failures[0].signature != record.failures[0].signature


def test_an_exit_code_alone() -> None:
    assert (joined().outcomes, joined().sound) == ({COMMAND: "passed"}, True)
    assert (joined(exit_code=1).outcomes, joined(exit_code=1).sound) == ({COMMAND: "error"}, False)


def test_two_runs_of_one_environment_are_one() -> None:
    record = joined(run("a", {"t.py::x": "failed"}), run("a", {"t.py::x": "passed", "t.py::y": "passed"}), exit_code=1)
    assert record.outcomes == {"t.py::x on a": "failed", "t.py::y on a": "passed"}
    assert record.collected == len(record.tests)


def test_plain_ids_hold_the_worst_result() -> None:
    record = joined(run("a", {"t.py::x[1 on 2]": "passed"}), run("b", {"t.py::x[1 on 2]": "failed"}), exit_code=1)
    assert plain(record).outcomes == {"t.py::x[1 on 2]": "failed"}
    assert plain(record).failures[0].nodeids == ("t.py::x[1 on 2]",)
    own = run("a", {"t.py::x[1 on 2]": "passed"})
    assert plain(own) is own
