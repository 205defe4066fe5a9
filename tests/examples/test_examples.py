"""Each example, run as its README says."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DAY = 86_400.0
PROGRAMS = {
    "pytest": "-m pytest -p no:cacheprovider",
    "python3": "",
    "fireloop": "-m pytest_fireloop.cli.fireloop",
    "tox": "-m tox",
}
Run = Callable[..., subprocess.CompletedProcess[str]]
BROKEN = "def add(a, b):\n    return a - b\n"
TESTS = "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\ndef test_zero():\n    assert calc.add(0, 0) == 0\n"
#: Mends the product in two steps, the first of which leads nowhere.
AGENT = """\
import pathlib
path = pathlib.Path("calc.py")
text = path.read_text()
path.write_text(text.replace("a - b", "a * b") if "a - b" in text else text.replace("a * b", "a + b"))
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a program with this interpreter's tools on PATH under the names that people know them by."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, words in PROGRAMS.items():
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(folder: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=folder, input=given, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    tree.mkdir()
    (tree / "calc.py").write_text(BROKEN)
    (tree / "test_calc.py").write_text(TESTS)
    return tree


def test_each_example_is_told_and_run() -> None:
    told = (EXAMPLES / "README.md").read_text()
    source = Path(__file__).read_text()
    for folder in EXAMPLES.iterdir():
        if folder.is_dir():
            assert f"[{folder.name}]({folder.name})" in told
            assert (folder / "README.md").is_file()
            assert folder.name == "auth" or f'"{folder.name}"' in source


def test_tox_matrix(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tmp_path / "matrix"
    shutil.copytree(EXAMPLES / "tox-matrix", tree)
    # nothing is fetched: the environments find this one's pytest
    here = sysconfig.get_path("purelib")
    monkeypatch.setenv("TOX_OVERRIDE", f"testenv.deps=;testenv.set_env+=PYTHONPATH={here}{os.pathsep}{ROOT}")
    done = run(tree, "./decide.sh", "--json")
    said = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, said["verdict"]) == (0, "green"), done.stderr
    assert [(row["environment"], row["counts"]["passed"]) for row in said["environments"]] == [("comma", 2), ("point", 2)]
    (tree / "numbers_shown.py").write_text("def shown(number):\n    return f'{number:.1f}'\n")
    assert run(tree, "./decide.sh").returncode == 1
    (tree / "tox.ini").write_text((tree / "tox.ini").read_text().replace("point, comma", "point"))
    done = run(tree, "./decide.sh")
    assert (done.returncode, done.stderr.splitlines()[-1].split(": ")[1]) == (4, "comma")


def test_shell_loop(project: Path, run: Run) -> None:
    (project.parent / "agent.py").write_text(AGENT)
    loop = str(EXAMPLES / "shell-loop" / "loop.sh")
    done = run(project, loop, sys.executable, str(project.parent / "agent.py"))
    assert done.returncode == 0, done.stdout
    assert "a + b" in (project / "calc.py").read_text()
    (project / "calc.py").write_text(BROKEN)
    done = run(project, loop, "true")
    assert done.returncode == 10, done.stdout
    assert "CIRCUIT OPEN: no_progress" in done.stdout


def test_a_shell_loop_believes_no_weakened_test(project: Path, run: Run) -> None:
    weaken = "import pathlib; path = pathlib.Path('test_calc.py'); path.write_text(path.read_text().replace('== 5', '> -9'))"
    done = run(project, str(EXAMPLES / "shell-loop" / "loop.sh"), sys.executable, "-c", weaken)
    assert done.returncode == 13, done.stdout
    assert "cannot be believed" in done.stdout


def test_nightly(project: Path, run: Run) -> None:
    cache, page = project.parent / "cache", project.parent / "page.md"
    shutil.copy(EXAMPLES / "nightly" / "nightly.sh", project)
    codes = []
    for _ in range(6):
        codes.append(run(project, "./nightly.sh", str(cache), str(page)).returncode)
        _a_day_passes(cache)
    assert codes[:2] == [1, 1]
    assert codes[-2:] == [10, 10]
    assert "circuit OPEN" in page.read_text().replace("&#95;", "_")
    (project / "calc.py").write_text(BROKEN.replace("-", "+"))
    assert run(project, "./nightly.sh", str(cache), str(page)).returncode == 0
    assert "newly passing" in page.read_text()
    job = (EXAMPLES / "nightly" / "nightly.yml").read_text()
    assert "nightly.sh ~/.cache/fireloop-nightly" in job
    assert "path: ~/.cache/fireloop-nightly" in job
    # what has to be put there is said, and no index is asked for a package that it does not have
    assert "pip install . pytest \"pytest-fireloop @ " in job


def _a_day_passes(folder: Path) -> None:
    """Let all that the history holds have happened a day earlier."""
    database = sqlite3.connect(folder / "journal.sqlite")
    for loop, number, text in database.execute("SELECT loop_id, number, data FROM iterations").fetchall():
        row: dict[str, Any] = json.loads(text)
        row["facts"]["at"] -= DAY
        values = (json.dumps(row), loop, number)
        database.execute("UPDATE iterations SET data = ? WHERE loop_id = ? AND number = ?", values)
    database.commit()
    database.close()


def test_stop_hook(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = project / ".claude" / "hooks"
    hooks.mkdir(parents=True)
    shutil.copy(EXAMPLES / "stop-hook" / "stop_hook.py", hooks)
    settings = json.loads((EXAMPLES / "stop-hook" / "settings.json").read_text())
    command = settings["hooks"]["Stop"][0]["hooks"][0]["command"]
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project))
    question = json.dumps({"session_id": "x", "cwd": str(project), "hook_event_name": "Stop", "stop_hook_active": False})

    def stop() -> subprocess.CompletedProcess[str]:
        return run(project, "sh", "-c", command, given=question)

    done = stop()
    assert (done.returncode, done.stdout) == (2, "")
    assert "test_add" in done.stderr
    (project / "calc.py").write_text(BROKEN.replace("-", "+"))
    done = stop()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (project / "calc.py").write_text(BROKEN)
    codes = [stop().returncode for _ in range(3)]
    done = stop()
    assert (codes, done.returncode) == ([2, 2, 2], 0)
    assert "gets nowhere" in json.loads(done.stdout)["systemMessage"]
