"""A history of a matrix: reports of many nights, one decision each."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pytest_fireloop.cli.fireloop import main

DAY = 86_400


class Nightly:
    """A job that runs each night with the same folder for its history."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.reports, self.state, self.capsys = folder / "reports", folder / "cache" / "state", capsys
        self.number = 0

    def night(self, *options: str, **environments: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Write a report for each environment, given as test to failure, and return code and decision."""
        self.number += 1
        files = []
        for name, tests in environments.items():
            path = self.reports / str(self.number) / f"junit.{name}.xml"
            path.parent.mkdir(parents=True, exist_ok=True)
            cases = "".join(
                f'<testcase classname="tests.test_a" name="{test}">'
                + (f'<failure message="AssertionError: {said}">E   {said}</failure>' if said else "")
                + "</testcase>"
                for test, said in tests.items()
            )
            stamp = f'timestamp="2026-01-{self.number:02}T03:00:00"'
            path.write_text(f'<testsuite name="pytest" {stamp} tests="{len(tests)}">{cases}</testsuite>')
            files.append(str(path))
        return self.decide(*options, *files)

    def decide(self, *words: str) -> tuple[int, dict[str, Any]]:
        code = main(["decide", "--json", "--fire-loop-dir", str(self.state), *words])
        return code, json.loads(self.capsys.readouterr().out or "{}")

    def pass_time(self, seconds: float) -> None:
        """Let all that was remembered have happened so much earlier."""
        database = sqlite3.connect(self.state / "journal.sqlite")
        for loop, number, text in database.execute("SELECT loop_id, number, data FROM iterations").fetchall():
            row = json.loads(text)
            row["facts"]["at"] -= seconds
            values = (json.dumps(row), loop, number)
            database.execute("UPDATE iterations SET data = ? WHERE loop_id = ? AND number = ?", values)
        database.commit()
        database.close()


@pytest.fixture
def nightly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Nightly:
    return Nightly(tmp_path, capsys)


STUCK = {"test_a": "1 == 2", "test_b": ""}
GREEN = {"test_a": "", "test_b": ""}


def test_the_same_failures_night_after_night_open_the_circuit(nightly: Nightly) -> None:
    codes = []
    for _ in range(8):
        codes.append(nightly.night(py311=STUCK, py312=GREEN)[0])
        nightly.pass_time(DAY)
    assert codes[0] == codes[1] == 1
    first = codes.index(10)
    assert first <= 5
    # each later night is a probe that fails
    assert set(codes[first:]) == {10}
    code, said = nightly.night(py311=GREEN, py312=GREEN)
    assert (code, said["verdict"]) == (0, "green")
    assert said["environments"][0]["delta"]["newly_passing"] == ["tests.test_a::test_a"]
    assert nightly.night(py311=STUCK, py312=GREEN)[0] == 1


def test_reports_of_an_hour_do_not_probe(nightly: Nightly) -> None:
    codes = [nightly.night(py311=STUCK)[0] for _ in range(7)]
    assert codes[-1] == 10
    code, said = nightly.night(py311=STUCK)
    assert (code, said["history"]["reason"]) == (10, "nothing is judged while the circuit cools down")
    assert nightly.night(py311=GREEN)[0] == 0


def test_one_environment_that_is_stuck_is_named_while_another_gets_on(nightly: Nightly) -> None:
    many = [f"test_{number}" for number in range(12)]
    verdicts = []
    for fixed in range(9):
        moving = {name: "" if number < fixed else f"{number} == 0" for number, name in enumerate(many)}
        code, said = nightly.night(py311=STUCK, py312=moving)
        assert code == 1, said
        verdicts.append([row["verdict"] for row in said["environments"]])
        nightly.pass_time(DAY)
    assert verdicts[0] == ["red", "red"]
    assert verdicts[-1] == ["stuck", "red"]


def test_a_loop_that_gets_on_is_left_alone(nightly: Nightly) -> None:
    many = [f"test_{number}" for number in range(6)]
    for fixed in range(6):
        tests = {name: "" if number < fixed else f"{number} == 0" for number, name in enumerate(many)}
        assert nightly.night(py311=tests)[0] == 1
        nightly.pass_time(DAY)
    assert nightly.night(py311=dict.fromkeys(many, ""))[0] == 0


def test_the_same_revision_again_is_no_change(nightly: Nightly) -> None:
    nightly.night("--revision", "abc", py311=STUCK)
    for _ in range(2):
        assert nightly.night("--revision", "abc", py311=STUCK)[0] == 1
    code, said = nightly.night("--revision", "abc", py311=STUCK)
    assert (code, said["history"]["stop"]) == (10, "no_progress")


def test_reports_that_were_judged_are_no_further_iteration(nightly: Nightly) -> None:
    nightly.night(py311=STUCK)
    code, said = nightly.night(py311=STUCK)
    files = [str(nightly.reports / "2" / "junit.py311.xml")]
    for _ in range(9):
        again, repeated = nightly.decide(*files)
        assert (again, repeated["history"]["iteration"]) == (code, said["history"]["iteration"])
        assert repeated["history"]["reason"] == "these reports were judged already"


def test_an_environment_that_was_red_may_not_stay_away(nightly: Nightly) -> None:
    nightly.night(py311=STUCK, py312=GREEN)
    code, said = nightly.night(py312=GREEN)
    assert (code, [row["verdict"] for row in said["environments"]]) == (4, ["green", "missing"])
    assert nightly.night("--expect", "py312", py312=GREEN)[0] == 0


def test_newly_failing_is_told_against_the_last_run(nightly: Nightly) -> None:
    nightly.night(py311=GREEN)
    _, said = nightly.night(py311=STUCK)
    assert said["environments"][0]["delta"]["newly_failing"] == ["tests.test_a::test_a"]


def test_a_damaged_history_fails_closed(nightly: Nightly) -> None:
    nightly.night(py311=STUCK)
    for path in nightly.state.glob("journal.sqlite*"):
        path.write_bytes(b"no database" * 100)
    code, said = nightly.night(py311=STUCK)
    assert (code, said) == (10, {})
    assert nightly.night(py311=GREEN)[0] == 10


def test_a_folder_that_cannot_be_used_is_one_line(
    tmp_path: Path, nightly: Nightly, capsys: pytest.CaptureFixture[str]
) -> None:
    nightly.state = tmp_path / "file"
    nightly.state.write_text("")
    assert nightly.night(py311=GREEN)[0] == 4


def test_the_history_replays_to_the_same_decisions(
    nightly: Nightly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for _ in range(5):
        told.append(nightly.night(py311=STUCK, py312=GREEN)[1]["history"])
        nightly.pass_time(DAY)
    monkeypatch.chdir(tmp_path / "reports")
    assert main(["status", "--json", "--fire-loop-dir", str(nightly.state)]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["kind"], status["verdict"], status["iterations"]) == ("matrix", "open", 4)
    assert main(["replay", "--json", "--fire-loop-dir", str(nightly.state), told[0]["loop_id"]]) == 0
    replayed = json.loads(capsys.readouterr().out)["iterations"]
    assert [row["stop"] for row in replayed] == [row["stop"] for row in told[1:]]
