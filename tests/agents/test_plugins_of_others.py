"""A package that adds agents may be broken in any way: it is named in one line, and everything else works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

AGENT = """
import pluggy
from pytest_fireloop.agents.command import CommandAgent
hookimpl = pluggy.HookimplMarker("fireloop")
@hookimpl
def fireloop_agents():
"""
BROKEN = {
    "import": "import a_module_that_is_not_there",
    "syntax": "def fireloop_agents(:",
    "leaves": "raise SystemExit('no')",
    "one agent": f"{AGENT}    return CommandAgent('theirs', ('sh',))",
    "no agents": f"{AGENT}    return ['sh']",
    "raises": f"{AGENT}    raise OSError('gone\\naway')",
    "arguments": AGENT.replace("agents():", "agents(tree):") + "    return []",
}
SOUND = f"{AGENT}    return (each for each in [CommandAgent('sound', ('sh',))])"


def install(folder: Path, name: str, source: str) -> None:
    information = folder / f"{name}-1.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (information / "entry_points.txt").write_text(f"[fireloop]\n{name}-agents = {name}_agents\n")
    (folder / f"{name}_agents.py").write_text(source)


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_package_is_named_and_left_out(tmp_path: Path, checkout: Path, kind: str) -> None:
    site, tree = tmp_path / "site", tmp_path / "tree"
    install(site, "broken", BROKEN[kind])
    install(site, "whole", SOUND)
    tree.mkdir()
    (tree / "test_a.py").write_text("def test_a(): assert 0\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(checkout)])}
    programs = {"fireloop": ["doctor"]}
    if kind in {"import", "one agent"}:
        programs["fireloop_test"] = ["fix it", "--agent", "sound", "--dry-run"]
    for program, words in programs.items():
        done = subprocess.run(
            [sys.executable, "-m", f"pytest_fireloop.cli.{program}", *words],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        text = done.stdout + done.stderr
        assert done.returncode == 0, text
        named = [line for line in text.splitlines() if "'broken'" in line]
        assert len(named) == 1
        assert named[0].startswith("the plugin 'broken-agents' of the package 'broken' is left out: ")
        assert "agent sound" in text
        assert "theirs" not in text
        assert "Traceback" not in text
