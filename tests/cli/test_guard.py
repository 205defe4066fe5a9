"""`fireloop guard`, as a command and as the hook of an agent; protected files in a whole loop."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_fireloop.agents.claude import GUARD as HOOK

CHECKOUT = Path(__file__).parents[2]
GUARD = [sys.executable, "-m", "pytest_fireloop.cli.fireloop", "guard"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    (tree / "specs").mkdir(parents=True)
    for name, text in {
        "AGENTS.md": "rule\n" * 5,
        "specs/a.md": "a\n",
        "calc.py": "A = 1\n",
        "key.env": "KEY\n",
        "test_calc.py": "import calc\n\n\ndef test_one():\n    assert calc.A == 2\n",
    }.items():
        (tree / name).write_text(text)
    return tree


def run(tree: Path, *words: str, given: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), **more}
    return subprocess.run(words, cwd=tree, env=environment, capture_output=True, text=True, check=False, input=given)


def test_files_are_listed_first_and_protected_ones_refused(tree: Path) -> None:
    done = run(tree, *GUARD, "--", "rm", "-rf", "calc.py", "specs")
    assert done.returncode == 11
    assert done.stdout.splitlines() == [
        "calc.py",
        "specs/a.md",
        "refused: protected, not to be removed or overwritten: specs/a.md",
    ]
    done = run(tree, *GUARD, "--", "rm calc.py && ls")
    assert (done.returncode, done.stdout) == (0, "calc.py\nfiles affected: 1, none protected\n")
    assert (tree / "calc.py").exists()


@pytest.mark.parametrize(
    "line", ["rm -rf .git", "rm -rf ../project", "rm -rf /", "rm -rf .", "mv AGENTS.md x", "rm $X"]
)
def test_refused(tree: Path, line: str) -> None:
    subprocess.run(["git", "init", "--quiet", "."], cwd=tree, check=True)
    done = run(tree, *GUARD, "--json", "--", line)
    said = json.loads(done.stdout)
    assert (done.returncode, said["allowed"], said["schema"]) == (11, False, "fireloop.guard/1")
    assert said["protected"] or said["unknown"] == ["$X"]


def test_what_the_user_named_is_protected_too(tree: Path) -> None:
    assert run(tree, *GUARD, "--", "rm key.env").returncode == 0
    assert run(tree, *GUARD, "--protect", "*.env", "--", "rm key.env").returncode == 11
    (tree / "pyproject.toml").write_text('[tool.fireloop]\nprotect = ["*.env"]\n')
    assert run(tree, *GUARD, "--", "rm key.env").returncode == 11


def test_no_command_is_a_usage_error(tree: Path) -> None:
    done = run(tree, *GUARD)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)


@pytest.mark.parametrize(
    ("tool", "given", "denied"),
    [
        ("Bash", {"command": "rm AGENTS.md"}, True),
        ("Bash", {"command": "pytest -q"}, False),
        ("Write", {"file_path": "key.env", "content": ""}, True),
        ("Edit", {"file_path": "AGENTS.md", "old_string": "rule", "new_string": "law"}, False),
        ("Read", {"path": "key.env"}, False),
        ("Bash", "no mapping", False),
    ],
)
def test_as_a_hook(tree: Path, tmp_path: Path, tool: str, given: Any, denied: bool) -> None:
    call = tmp_path / "state" / "loops" / "one" / "call-1"
    call.mkdir(parents=True)
    event = json.dumps({"tool_name": tool, "tool_input": given, "cwd": str(tree)})
    loop = {"FIRELOOP_PROTECT": '["*.env"]', "FIRELOOP_TREE": str(tree), "FIRELOOP_CALL": str(call)}
    done = run(tree, *shlex.split(HOOK), given=event, **loop)
    assert (done.returncode, done.stderr) == (0, "")
    if denied:
        answer = json.loads(done.stdout)["hookSpecificOutput"]
        assert (answer["hookEventName"], answer["permissionDecision"]) == ("PreToolUse", "deny")
        assert answer["permissionDecisionReason"].startswith("fireloop guard: protected")
    else:
        assert done.stdout == ""
    assert (call / "denials.jsonl").exists() == denied


@pytest.mark.parametrize("given", ["", "no JSON", "[]", "{}", '{"tool_name": 1}'])
def test_what_is_no_tool_call_is_left_to_the_agent(tree: Path, given: str) -> None:
    done = run(tree, *GUARD, "--hook", given=given)
    assert (done.returncode, done.stdout) == (0, "")


def loop(tree: Path, code: str, *words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", "fix it", "--json", "--max-iterations", "1"]
    agent = shlex.join([sys.executable, "-c", code])
    done = run(tree, *command, "--agent", agent, "--python", sys.executable, *words)
    assert done.stdout, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return {**summary, "said": done.stderr}


def test_in_a_loop_they_are_put_back_and_refusals_are_counted(tree: Path) -> None:
    event = json.dumps({"tool_name": "Bash", "tool_input": {"command": "rm -rf specs"}})
    code = (
        f"import subprocess, pathlib; subprocess.run({[*GUARD, '--hook']!r}, input={event!r}, text=True)\n"
        "pathlib.Path('AGENTS.md').unlink(); pathlib.Path('key.env').write_text('stolen')\n"
        "pathlib.Path('specs/a.md').write_text('a better plan\\nwith a\\n')"
    )
    summary = loop(tree, code, "--protect", "*.env")
    assert summary["protected"] == [
        {"iteration": 1, "path": "AGENTS.md", "what": "deleted", "restored": True},
        {"iteration": 1, "path": "key.env", "what": "changed", "restored": True},
        {"iteration": 1, "path": "specs/a.md", "what": "changed", "restored": None},
    ]
    assert "protected file 'AGENTS.md' was deleted; it is restored" in summary["said"]
    assert ((tree / "AGENTS.md").read_text(), (tree / "key.env").read_text()) == ("rule\n" * 5, "KEY\n")
    assert (tree / "specs" / "a.md").read_text() == "a better plan\nwith a\n"
    done = run(tree, sys.executable, "-m", "pytest_fireloop.cli.fireloop", "log")
    assert "denial" in done.stdout.lower()


def test_a_loop_halts_where_one_cannot_be_put_back(tree: Path) -> None:
    summary = loop(tree, "import os; os.unlink('AGENTS.md'); os.mkdir('AGENTS.md'); open('AGENTS.md/x', 'w')")
    assert (summary["verdict"], summary["exit_code"]) == ("blocked", 11)
    assert "protected file 'AGENTS.md' was replaced by a folder; it could not be restored" in summary["reason"]
