"""Options of pytest that end a run at its first failure: the runner's own runs show all tests, and a fix is believed."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fireloop.act.test_run import TestCommand, run_tests

Write = Callable[[dict[str, str]], None]

FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a * 3\n",
    "test_a.py": "import calc\n\n\ndef test_zero():\n    assert calc.add(0, 0) == 0\n\n\n"
    "def test_add():\n    assert calc.add(2, 3) == 5\n",
    "test_b.py": "import calc\n\n\ndef test_double():\n    assert calc.double(2) == 4\n\n\n"
    "def test_none():\n    assert calc.double(0) == 0\n",
}
FAILING = ["test_a.py::test_add", "test_b.py::test_double"]
FIX = "import pathlib; p = pathlib.Path('calc.py'); p.write_text(p.read_text().replace('a - b', 'a + b').replace('3', '2'))"


def with_addopts(options: str) -> dict[str, str]:
    return {**FILES, "pytest.ini": f"[pytest]\naddopts = {options}\n"}


@pytest.mark.parametrize("place", ["arguments", "addopts"])
@pytest.mark.parametrize("options", ["-x", "-vx --tb=no", "--exitfirst", "--maxfail=1", "--sw", "--sw-skip", "-x -n2"])
def test_a_run_of_the_runner_shows_all_tests(
    write: Write, project: Path, tmp_path: Path, options: str, place: str
) -> None:
    if "-n" in options:
        pytest.importorskip("xdist")
    write(with_addopts(options) if place == "addopts" else FILES)
    words = tuple(options.split()) if place == "arguments" else ()
    record = run_tests(TestCommand(Path(sys.executable), project, words), work=tmp_path / "work").record
    assert sorted(record.red) == FAILING
    assert (record.collected, len(record.tests), record.complete, record.partial) == (4, 4, True, False)


@pytest.mark.parametrize(
    ("addopts", "words"),
    [
        ("", ["--", "-x", "--sw"]),
        ("-x", []),
        ("--sw", ["--test-command", f"{shlex.quote(sys.executable)} -m pytest {{pytest_args}}", "--", "-x"]),
    ],
    ids=["arguments", "addopts", "command"],
)
def test_an_honest_fix_is_believed(write: Write, project: Path, addopts: str, words: list[str]) -> None:
    write(with_addopts(addopts))
    agent = shlex.join([sys.executable, "-c", FIX])
    command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", "fix it", "--json", "--max-iterations=2"]
    done = subprocess.run(
        [*command, "--agent", agent, "--python", sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode, summary["verdict"], summary["iterations"]) == (0, "green", 1), summary["reason"]
    # a command of one's own names the environment too
    assert [node.partition(" on ")[0] for node in summary["fixed"]] == FAILING
    assert (summary["baseline"]["failed"], summary["final"]["passed"]) == (2, 4)


def test_a_run_of_a_loop_of_ones_own_stops_where_it_is_told(
    write: Write, judged: Callable[..., tuple[int, str, dict[str, Any]]]
) -> None:
    write(FILES)
    code, _, record = judged("-x")
    assert (code, len(record["tests"]), record["partial"]) == (1, 2, True)
