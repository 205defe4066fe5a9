"""Starts the programs as a user does: in a process of their own, in a project, without a terminal."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any


def command(tree: Path, module: str, *words: str) -> tuple[int, str, str]:
    """Run one of the programs, and return its exit code and what it said on both streams."""
    done = subprocess.run(
        [sys.executable, "-m", f"pytest_fireloop.cli.{module}", *words],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout, done.stderr


def loop(tree: Path, code: str, *words: str, task: str = "fix it") -> tuple[int, dict[str, Any], str]:
    """Run a loop whose agent is Python code, and return its exit code, its summary and what it said."""
    agent = shlex.join([sys.executable, "-c", code])
    options = ("--agent", agent, "--python", sys.executable, "--json")
    exit_code, out, said = command(tree, "fireloop_test", task, *options, *words)
    return exit_code, json.loads(out) if out else {}, said
