"""A run of the tests that somebody else ended says nothing, and is begun again."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from pytest_fireloop.act.test_run import TRIES, TestCommand, run_tests

TEST = """
import os, pathlib

def test_one():
    runs = pathlib.Path(os.environ["RUNS"])
    with runs.open("a") as file:
        file.write("x")
    if runs.stat().st_size <= {deaths}:
        os.kill(os.getpid(), {number})
"""


@pytest.mark.parametrize(
    ("number", "deaths", "runs", "outcomes"),
    [
        pytest.param(signal.SIGKILL, 1, 2, {"test_dies.py::test_one": "passed"}, id="killed once"),
        pytest.param(signal.SIGTERM, 2, 3, {"test_dies.py::test_one": "passed"}, id="ended twice"),
        pytest.param(signal.SIGKILL, 9, TRIES, {}, id="killed always"),
        pytest.param(signal.SIGSEGV, 1, 1, {}, id="a fault of its own"),
    ],
)
def test_what_was_ended_from_outside_is_run_again(
    tmp_path: Path, number: signal.Signals, deaths: int, runs: int, outcomes: dict[str, str]
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "test_dies.py").write_text(TEST.format(deaths=deaths, number=int(number)))
    environment = {**os.environ, "RUNS": str(tmp_path / "runs")}
    command = TestCommand(Path(sys.executable), tmp_path / "tree", environment=environment)
    run = run_tests(command, work=tmp_path / "work")
    assert (tmp_path / "runs").stat().st_size == runs
    assert run.record.outcomes == outcomes
    assert run.record.in_flight == (None if outcomes else "test_dies.py::test_one")


def test_what_ran_into_its_time_limit_is_not_run_again(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "test_hangs.py").write_text(
        "import os, signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "def test_one():\n    os.write(os.open(os.environ['RUNS'], os.O_APPEND | os.O_CREAT | os.O_WRONLY), b'x')\n"
        "    time.sleep(60)\n"
    )
    environment = {**os.environ, "RUNS": str(tmp_path / "runs")}
    command = TestCommand(Path(sys.executable), tmp_path / "tree", environment=environment, timeout_s=3)
    run = run_tests(command, work=tmp_path / "work")
    assert run.timed_out
    assert (tmp_path / "runs").read_text() == "x"
