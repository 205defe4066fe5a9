"""A history of a matrix: reports of many nights, one decision each."""

from __future__ import annotations

import json
import random
import shlex
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pytest_fireloop.cli.fireloop import main

DAY = 86_400


def inner(said: str) -> str:
    if said == "skip":
        return "<skipped/>"
    if said == "broken":
        return '<error message="collection failure">ImportError</error>'
    return f'<failure message="AssertionError: {said}">E   {said}</failure>' if said else ""


def owner(said: str) -> str:
    return "" if said == "broken" else "tests.test_a"


class Nightly:
    """A job that runs each night with the same folder for its history."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.reports, self.state, self.capsys = folder / "reports", folder / "cache" / "state", capsys
        self.number, self.told = 0, ""

    def night(self, *options: str, form: str = "--json", **environments: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Write a report for each environment, given as test to failure or skip, and return code and decision."""
        self.number += 1
        files = []
        for name, tests in environments.items():
            path = self.reports / str(self.number) / f"junit.{name}.xml"
            path.parent.mkdir(parents=True, exist_ok=True)
            cases = "".join(
                f'<testcase classname="{owner(said)}" name="{test}">{inner(said)}</testcase>'
                for test, said in tests.items()
            )
            stamp = f'timestamp="2026-01-{self.number:02}T03:00:00"'
            path.write_text(f'<testsuite name="pytest" {stamp} tests="{len(tests)}">{cases}</testsuite>')
            files.append(str(path))
        return self.decide(*options, *files, form=form)

    def decide(self, *words: str, form: str = "--json") -> tuple[int, dict[str, Any]]:
        code = main(["decide", form, "--fire-loop-dir", str(self.state), *words])
        self.told = self.capsys.readouterr().out
        return code, json.loads(self.told or "{}") if form == "--json" else {}

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
    for tests in (STUCK, GREEN):
        code, said = nightly.night(py311=tests)
        assert (code, said["schema"], said["verdict"], said["exit_code"]) == (10, "fireloop.decision/1", "stuck", 10)
        assert "cannot read the journal" in said["history"]["reason"]
        assert [row["environment"] for row in said["environments"]] == ["py311"]


def test_a_history_that_is_damaged_anywhere_is_told_and_never_an_error_of_ours(nightly: Nightly) -> None:
    many = {f"test_{number}": f"{number} == 0" for number in range(40)}
    for _ in range(3):
        nightly.night(py311=many)
    path = nightly.state / "journal.sqlite"
    database = sqlite3.connect(path)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    whole = path.read_bytes()
    report = str(nightly.reports / "1" / "junit.py311.xml")
    codes = set()
    for seed in range(36):
        draw, content = random.Random(seed), bytearray(whole)
        if seed % 3 == 0:
            del content[draw.randrange(len(content)) :]
        elif seed % 3 == 1:
            start = draw.randrange(len(content))
            content[start : start + 4096] = draw.randbytes(len(content[start : start + 4096]))
        else:
            for _ in range(draw.randrange(1, 100)):
                content[draw.randrange(len(content))] = draw.randrange(256)
        for other in nightly.state.glob("journal.sqlite-*"):
            other.unlink()
        path.write_bytes(content)
        code, said = nightly.decide(report)
        assert (code, said["exit_code"]) in {(1, 1), (10, 10)}, seed
        codes.add(code)
        if code == 10:
            advice = said["history"]["reason"].split("`")[1]
            assert main(shlex.split(advice)[1:]) == 0, seed
            nightly.capsys.readouterr()
            assert nightly.decide(report)[0] == 1, seed
    assert 10 in codes


@pytest.mark.parametrize("folder", [".cache/fireloop", "cache of $HOME's"])
def test_the_advice_on_a_damaged_history_can_be_followed(
    nightly: Nightly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    nightly.state = Path(folder)
    nightly.night(py311=STUCK)
    for path in nightly.state.glob("journal.sqlite*"):
        path.write_bytes(b"no database" * 100)
    files = [str(nightly.reports / "1" / "junit.py311.xml")]
    for option in ((), ("--markdown", "-")):
        assert main(["decide", "--fire-loop-dir", folder, *option, *files]) == 10
        captured = nightly.capsys.readouterr()
        assert captured.err.count("\n") == 1
        assert "cannot read the journal" in captured.out
    advice = captured.err.split("`")[1]
    assert shlex.split(advice)[3] == str(tmp_path / folder)
    assert main(shlex.split(advice)[1:]) == 0
    assert "is kept as" in nightly.capsys.readouterr().out
    assert nightly.night(py311=STUCK)[0] == 1
    assert nightly.night(py311=GREEN)[0] == 0


def test_a_history_inside_the_tree_can_be_looked_at_and_reset(
    nightly: Nightly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nightly.state = Path(".cache/fireloop")
    while nightly.night(py311=STUCK)[0] != 10:
        assert nightly.number < 9
    for command in ("status", "history", "reset"):
        assert main([command, "--fire-loop-dir", ".cache/fireloop"]) == 0
        assert nightly.capsys.readouterr().err == ""
    assert nightly.night(py311=STUCK)[0] == 1
    # what a tree's loop claimed stays where it may not lie
    (nightly.state / "tree").write_text(str(tmp_path))
    assert main(["reset", "--fire-loop-dir", ".cache/fireloop"]) == 4


SKIPPED = {"test_a": "skip", "test_b": ""}


@pytest.mark.parametrize(
    ("now", "lost", "line"),
    [
        (SKIPPED, {"skipped": ["tests.test_a::test_a"], "gone": []}, "red before, now skipped: tests.test_a::test_a"),
        (
            {"test_b": ""},
            {"skipped": [], "gone": ["tests.test_a::test_a"]},
            "red before, now gone: tests.test_a::test_a",
        ),
        (GREEN, {"skipped": [], "gone": []}, ""),
        (STUCK, {"skipped": [], "gone": []}, ""),
    ],
)
def test_a_failure_that_shows_nothing_any_more_is_told(
    nightly: Nightly, now: dict[str, str], lost: dict[str, list[str]], line: str
) -> None:
    for form in ("--json", "--repeated=worst", "--markdown=-"):
        nightly.state = nightly.state.with_name(form)
        nightly.night(py311=STUCK, py312=GREEN)
        code, _ = nightly.night(py311=now, py312=GREEN, form=form)
        said = nightly.told
        assert code == (1 if now is STUCK else 0)
        if form == "--json":
            assert json.loads(said)["environments"][0]["lost_failures"] == lost
        elif not line:
            assert "ttention" not in said
        elif form == "--markdown=-":
            assert "**Attention:** 1 test red in the run before, now skipped or gone &#40;py311&#58; 1&#41;" in said
        else:
            assert f"  {line}\n" in said
            last = "attention: 1 test red in the run before, now skipped or gone (py311: 1)"
            assert said.splitlines()[-2:] == [last, "decision: green (exit 0)"]


@pytest.mark.parametrize(
    ("now", "lost"),
    [
        ({"test_b": ""}, {"skipped": [], "gone": ["tests.test_a::test_a"]}),
        (SKIPPED, {"skipped": ["tests.test_a::test_a"], "gone": []}),
        (GREEN, {"skipped": [], "gone": []}),
    ],
)
def test_a_file_that_could_not_be_collected_in_between_hides_no_failure(
    nightly: Nightly, now: dict[str, str], lost: dict[str, list[str]]
) -> None:
    nightly.night(py311=STUCK, py312=STUCK)
    for _ in range(2):
        assert nightly.night(py311={"tests.test_a": "broken"}, py312=STUCK)[0] == 1
    _, said = nightly.night(py311=now, py312=STUCK)
    assert [row["lost_failures"] for row in said["environments"]] == [lost, {"skipped": [], "gone": []}]
    # it was told, and is known no more
    _, said = nightly.night(py311={**now, "test_c": ""}, py312=STUCK)
    assert said["environments"][0]["lost_failures"] == {"skipped": [], "gone": []}


def test_how_many_tests_are_gone_is_told(nightly: Nightly) -> None:
    nightly.night(py311={f"test_{number:02}": "" for number in range(50)})
    nightly.night(py311={"test_00": ""}, form="--repeated=worst")
    assert "  removed, 49 of 50: tests.test_a::test_01, " in nightly.told
    nightly.night(py311={"test_00": "skip", "test_x": ""}, form="--repeated=worst")
    assert "  newly skipped, 1: tests.test_a::test_00\n" in nightly.told
    assert "removed" not in nightly.told


def test_an_environment_that_was_red_and_is_left_out_is_told(nightly: Nightly) -> None:
    nightly.night(py311=STUCK, py312=GREEN)
    code, said = nightly.night("--expect", "py312", py312=GREEN)
    assert (code, said["history"]["left_out"]) == (0, ["py311"])


def test_an_environment_that_another_run_of_the_folder_showed_is_explained(nightly: Nightly) -> None:
    nightly.night(py311=STUCK)
    code, said = nightly.night(py312=GREEN)
    reason = said["environments"][1]["reason"]
    assert code == 4
    assert all(each in reason for each in (str(nightly.state), "--expect", "--fire-loop-dir", "red in the last run"))


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
