"""`fireloop resume`: loops that were stopped, tripped or ended at a limit go on; those cut off, see `test_kills.py`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a * 3\n",
    "test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\n"
    "def test_double():\n    assert calc.double(2) == 4\n\n\ndef test_zero():\n    assert calc.add(0, 0) == 0\n",
    "notes.txt": "nobody's business\n",
}
#: Mends one function a call.
STEP = """
import pathlib
path = pathlib.Path('calc.py')
text = path.read_text()
path.write_text(text.replace('a - b', 'a + b') if 'a - b' in text else text.replace('a * 3', 'a * 2'))
"""


def agent(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    tree.mkdir()
    for name, text in FILES.items():
        (tree / name).write_text(text)
    return tree


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def loop_command(code: str, *words: str) -> list[str]:
    module = "pytest_fireloop.cli.fireloop_test"
    return [
        sys.executable,
        "-m",
        module,
        "fix it",
        "--agent",
        agent(code),
        "--python",
        sys.executable,
        "--json",
        *words,
    ]


def run(tree: Path, command: list[str]) -> tuple[int, dict[str, Any], str]:
    done = subprocess.run(
        command, cwd=tree, env=environment(), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def resume(tree: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    return run(tree, [sys.executable, "-m", "pytest_fireloop.cli.fireloop", "resume", "--json", *words])


def status(tree: Path) -> dict[str, Any]:
    return run(tree, [sys.executable, "-m", "pytest_fireloop.cli.fireloop", "status", "--json"])[1]


def test_a_loop_at_its_limit_goes_on(project: Path) -> None:
    code, first, _ = run(project, loop_command(STEP, "--max-iterations", "1"))
    assert (code, first["verdict"], first["iterations"]) == (1, "limit", 1)
    code, second, said = resume(project)
    assert (code, second["verdict"], second["loop_id"]) == (0, "green", first["loop_id"]), said
    assert (second["iterations"], second["agent_calls"]) == (2, 2)
    assert second["fixed"] == ["test_calc.py::test_add", "test_calc.py::test_double"]
    assert second["baseline"] == first["baseline"]
    assert status(project)["verdict"] == "green"
    text = Path(second["loop_file"]).read_text("utf-8")
    assert [line[:4] for line in text.splitlines() if line.startswith(("| 1 ", "| 2 "))] == ["| 1 ", "| 2 "]


def test_the_limit_counts_from_where_it_goes_on(project: Path) -> None:
    idle = "print('thinking')"
    run(project, loop_command(idle, "--max-iterations", "1"))
    code, second, _ = resume(project, "--max-iterations", "1")
    assert (code, second["verdict"], second["iterations"]) == (1, "limit", 2)


def test_nothing_to_go_on_with(project: Path) -> None:
    code, summary, said = resume(project)
    assert (code, summary) == (4, {})
    assert said.count("\n") == 1
    fix = "import pathlib; pathlib.Path('calc.py').write_text('def add(a, b): return a + b\\ndef double(a): return 2 * a\\n')"
    assert run(project, loop_command(fix))[0] == 0
    code, _, said = resume(project)
    assert (code, said.count("\n")) == (4, 1)
    assert "ended green" in said
    assert resume(project, "20200101-000000-abcd")[0] == 4


def test_a_person_may_have_mended_it_meanwhile(project: Path) -> None:
    run(project, loop_command("pass", "--max-iterations", "1"))
    (project / "calc.py").write_text("def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return a * 2\n")
    code, summary, _ = resume(project)
    assert (code, summary["verdict"], summary["agent_calls"]) == (0, "green", 1)


def test_an_open_circuit_stays_open(project: Path) -> None:
    code, first, _ = run(project, loop_command("pass"))
    assert (code, first["verdict"]) == (10, "circuit_open")
    code, again, _ = resume(project)
    assert (code, again["verdict"], again["agent_calls"]) == (10, "circuit_open", first["agent_calls"])


@pytest.mark.long
def test_an_open_circuit_is_probed_after_its_cooldown(project: Path) -> None:
    code, first, _ = run(project, loop_command("pass", "--cooldown", "1s"))
    assert (code, first["verdict"]) == (10, "circuit_open")
    code, probed, _ = resume(project, "--wait", "--max-time", "10s")
    assert probed["agent_calls"] > first["agent_calls"]
    # the next probe lies beyond the time limit, or a slow machine had no time left after this one
    assert code in {10, 1}
    assert probed["circuit"]["state"] == "OPEN"


@pytest.mark.long
def test_an_agent_that_could_not_be_called_is_called_again_and_so_is_another(project: Path) -> None:
    code, first, _ = run(project, loop_command("raise SystemExit(9)"))
    assert (code, first["verdict"], first["agent_calls"]) == (14, "agent_unavailable", 3)
    code, again, _ = resume(project)
    assert (code, again["verdict"], again["agent_calls"]) == (14, "agent_unavailable", 6)
    code, new, _ = run(project, loop_command("print('thinking')", "--max-iterations", "1"))
    assert (code, new["verdict"], new["agent_calls"]) == (1, "limit", 1)
    # the crashes of the other one are not held against it
    other = ("--agent", agent("print('thinking')"), "--max-iterations", "2")
    code, going, said = resume(project, first["loop_id"], *other)
    assert (code, going["verdict"], going["agent_calls"]) == (1, "limit", 8), said
    replay = [sys.executable, "-m", "pytest_fireloop.cli.fireloop", "replay", first["loop_id"], "--json"]
    circuits = [row["circuit"] for row in run(project, replay)[1]["iterations"]]
    assert circuits == ["CLOSED", "CLOSED", "OPEN", "CLOSED", "CLOSED", "OPEN", "CLOSED", "CLOSED"]
