"""Known agents through a whole loop: a program of the agent's name replays a stream, everything else is real."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

FIX = ("a - b", "a + b")
#: Replays one entry of its script a call: notes how it was called, edits, prints, ends.
REPLAY = """\
#!{python}
import json, os, pathlib, sys, time
folder = pathlib.Path({folder!r})
call = len(list(folder.glob("call-*")))
given = sys.stdin.buffer.read().decode()
seen = {{"argv": sys.argv[1:], "stdin": given, "environment": dict(os.environ)}}
(folder / f"call-{{call}}").write_text(json.dumps(seen))
calls = json.loads((folder / "script.json").read_text())
entry = calls[min(call, len(calls) - 1)]
if entry.get("edit"):
    path = pathlib.Path("calc.py")
    path.write_text(path.read_text().replace(*entry["edit"]))
for line in entry.get("lines", ()):
    print(line, flush=True)
for line in entry.get("complaints", ()):
    print(line, file=sys.stderr, flush=True)
time.sleep(entry.get("sleep", 0))
sys.exit(entry.get("exit", 0))
"""

Loop = Callable[..., tuple[dict[str, Any], list[str], list[dict[str, Any]]]]


def result(text: str, **more: Any) -> str:
    return json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": text, **more})


def event(**fields: Any) -> str:
    return json.dumps(fields)


@pytest.fixture
def loop(tmp_path: Path) -> Loop:
    """Run a loop with an agent of a name; return the summary, each iteration's status, and how each call was made."""

    def loop(
        agent: str, calls: list[dict[str, Any]], *words: str
    ) -> tuple[dict[str, Any], list[str], list[dict[str, Any]]]:
        tree, folder = tmp_path / "project", tmp_path / "agent"
        for each in (tree, folder):
            each.mkdir()
        (tree / "calc.py").write_text("def add(a, b):\n    return a - b\n")
        (tree / "test_calc.py").write_text("import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n")
        program = folder / agent
        program.write_text(REPLAY.format(python=sys.executable, folder=str(folder)))
        program.chmod(0o755)
        (folder / "script.json").write_text(json.dumps(calls))
        command = [
            sys.executable,
            "-m",
            "pytest_fireloop.cli.fireloop_test",
            "fix it",
            "--json",
            f"--python={sys.executable}",
            *words,
        ]
        environment = {
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
            "FORCE_COLOR": "1",
        }
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        assert done.stdout, done.stderr
        summary = json.loads(done.stdout)
        assert summary["exit_code"] == done.returncode
        statuses = re.findall(r"^iteration \d+: agent (\w+)", done.stderr, re.MULTILINE)
        seen = [json.loads(path.read_text()) for path in sorted(folder.glob("call-*"))]
        return summary, statuses, seen

    return loop


def test_two_calls_to_green(loop: Loop) -> None:
    calls = [
        {"edit": ("a - b", "a * b"), "lines": [result("Fixed.", total_cost_usd=0.25, usage={"input_tokens": 90})]},
        {"edit": ("a * b", "a + b"), "lines": [result("Fixed now.", usage={"output_tokens": 10})], "exit": 1},
    ]
    summary, statuses, seen = loop("claude", calls, "--agent=claude", "--model=some-model", "--agent-arg=--max-turns=5")
    assert (summary["verdict"], statuses) == ("green", ["ok", "ok"])
    assert summary["cost"] == {"tokens": 100, "usd": 0.25}
    argv = seen[0]["argv"]
    assert argv[:2] == ["-p", "--output-format"]
    assert argv[-3:] == ["--model", "some-model", "--max-turns=5"]
    assert "fix it" in seen[0]["stdin"]
    environment = seen[0]["environment"]
    assert (environment["TERM"], environment["NO_COLOR"]) == ("dumb", "1")
    assert "FORCE_COLOR" not in environment


@pytest.mark.parametrize(
    ("asked", "entry", "statuses", "verdict"),
    [
        (
            # the next call would be a minute later
            "claude --max-time=30s",
            {"lines": [result("Limit", is_error=True, api_error_status=429)]},
            ["rate_limited"],
            "limit",
        ),
        ("claude", {"lines": [result("No key", is_error=True, api_error_status=401)], "exit": 1}, ["auth"], "blocked"),
        ("claude", {"complaints": ["TypeError: x"], "exit": 1}, ["crash"] * 3, "agent_unavailable"),
        ("claude", {"lines": [result("FIRELOOP-BLOCKED: no access")]}, ["blocked"], "blocked"),
        (
            "claude",
            {"lines": [result("rate limit, 401, permission denied, DONE")], "complaints": ["429 Too Many Requests"]},
            ["ok"] * 3,
            "circuit_open",
        ),
        (
            "codex",
            {"edit": FIX, "lines": [event(type="turn.failed", error={"message": "unexpected status 503"})], "exit": 1},
            ["error"],
            "green",
        ),
        (
            "opencode --max-iterations=1",
            {
                "lines": [event(type="error", error={"name": "ContextOverflowError", "data": {"message": "too long"}})]
                * 2,
                "sleep": 60,
            },
            ["crash"],
            "limit",
        ),
    ],
    ids=["limit", "auth", "crash", "asks for a person", "quotes", "fixed but failed", "endless overflow"],
)
def test_what_a_loop_makes_of_it(
    loop: Loop, asked: str, entry: dict[str, Any], statuses: list[str], verdict: str
) -> None:
    agent, *words = asked.split()
    summary, found, _ = loop(agent, [entry], f"--agent={agent}", *words)
    assert (found, summary["verdict"]) == (statuses, verdict), summary["reason"]


def test_the_promise_is_looked_for_in_what_the_agent_said(loop: Loop) -> None:
    calls = [{"edit": FIX, "lines": [result("All is well.\nDONE")]}]
    summary, _, _ = loop("claude", calls, "--agent=claude", "--until=both", "--max-iterations=2")
    assert (summary["verdict"], summary["iterations"]) == ("green", 1)


def test_a_model_that_nobody_takes_is_a_usage_error(tmp_path: Path) -> None:
    for words in (["--agent=repair"], ["--agent=cat"]):
        command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", "fix it", "--model=x", *words]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 4
        assert "--model" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_the_doctor_tells_what_is_there(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "codex"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@openai/codex", "version": "1.2.3"}')
    program = package / "bin" / "codex.js"
    program.write_text("#!/bin/sh\nexit 9\n")
    program.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").symlink_to(program)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
    }
    command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop", "doctor", "--python", sys.executable]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    said = dedent(done.stdout)
    assert f"agent codex: ready: {tmp_path}/bin/codex, version 1.2.3; verified with version 0.171.0" in said
    assert (
        f"is called as: codex exec --json --skip-git-repo-check -C {tmp_path} -s workspace-write - < CALL/prompt.md"
        in said
    )
    for name in ("claude", "cursor", "copilot", "amp", "goose"):
        assert re.search(rf"^agent {name}: .*unverified: made from documents alone$", said, re.MULTILINE)
    assert "--agent auto calls: codex" in said
