"""The limits of time and money, through whole loops."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    tree.mkdir()
    (tree / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (tree / "test_calc.py").write_text("import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n")
    return tree


def run(tree: Path, *words: str, module: str = "fireloop_test", **more: str) -> tuple[int, dict[str, Any], str]:
    command = [sys.executable, "-m", f"pytest_fireloop.cli.{module}", *words, "--json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **more}
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def agent(code: str) -> str:
    return f"--agent={shlex.join([sys.executable, '-c', code])}"


#: Runs a loop whose time is over as soon as its agent has had three seconds, however slow the machine is.
SHORT = """
import pathlib, sys
from pytest_fireloop.act.time_limit import TimeLimit
from pytest_fireloop.cli.fireloop_test import main

TimeLimit.for_call = lambda self, wanted: 3.0
TimeLimit.over = property(lambda self: pathlib.Path("../called").exists())
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(("edit", "verdict"), [("s/a - b/a + b/", "green"), ("s/a - b/a * b/", "limit")])
def test_the_time_limit_cuts_a_call_and_what_it_did_is_still_judged(project: Path, edit: str, verdict: str) -> None:
    asked = ["/bin/sh", "-c", f"touch ../called; sed -i '{edit}' calc.py; sleep 600"]
    command = [sys.executable, "-c", SHORT, "fix it", f"--agent={shlex.join(asked)}", "--json", "--max-time=300"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    summary = json.loads(done.stdout)
    assert summary["verdict"] == verdict, done.stderr
    assert "agent timeout (the time limit of the loop, 300 s, ended it)" in done.stderr
    assert (summary["iterations"], summary["agent_calls"], summary["files_changed"]) == (1, 1, 1)
    if verdict == "limit":
        assert summary["reason"] == "the time limit of 300 s was reached"


def test_the_time_limit_cuts_the_first_run(project: Path) -> None:
    (project / "test_calc.py").write_text("import time\n\n\ndef test_long():\n    time.sleep(600)\n")
    _, summary, _ = run(project, "fix it", agent("pass"), "--max-time=3s")
    assert (summary["verdict"], summary["agent_calls"]) == ("limit", 0)
    assert summary["reason"] == "the time limit of 3 s was reached"


CLAUDE = """#!/bin/sh
cat > /dev/null
echo '{"type": "result", "subtype": "success", "is_error": false, "result": "thinking", "total_cost_usd": 0.75}'
"""


@pytest.mark.long
def test_what_a_loop_cost_counts_when_it_goes_on(project: Path) -> None:
    program = project.parent / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(CLAUDE)
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    _, first, _ = run(project, "fix it", "--agent=claude", "--max-cost=0.5", PATH=path)
    assert (first["verdict"], first["agent_calls"], first["cost"]["usd"]) == ("limit", 1, 0.75)
    _, again, _ = run(project, "resume", module="fireloop", PATH=path)
    assert (again["verdict"], again["agent_calls"], again["cost"]["usd"]) == ("limit", 1, 0.75)
    assert "0.75 USD are spent" in again["reason"]
    _, more, _ = run(project, "resume", "--max-cost=1", "--max-iterations=5", module="fireloop", PATH=path)
    assert (more["verdict"], more["agent_calls"], more["cost"]["usd"]) == ("limit", 2, 1.5)
