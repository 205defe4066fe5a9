"""`fireloop report`: after a loop whose green was not believed, and where there is nothing to tell."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "pytest.ini": "[pytest]\n",
    "test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\n"
    "def test_zero():\n    assert calc.add(0, 0) == 0\n",
}
GAME = "import pathlib; p = pathlib.Path('test_calc.py'); p.write_text(p.read_text().replace('== 5', '== -1'))"


def command(tree: Path, module: str, *words: str) -> tuple[int, str, str]:
    line = [sys.executable, "-m", f"pytest_fireloop.cli.{module}", *words]
    done = subprocess.run(line, cwd=tree, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def test_a_green_that_was_not_believed(tree: Path) -> None:
    agent = shlex.join([sys.executable, "-c", GAME])
    options = ("--python", sys.executable, "--max-iterations", "2", "--quiet")
    assert command(tree, "fireloop_test", "fix\x1b[31m it", "--agent", agent, *options)[0] == 13

    code, out, _ = command(tree, "fireloop", "report", "--json")
    report: dict[str, Any] = json.loads(out)
    assert (code, report["schema"], report["verdict"], report["iterations"]) == (
        0,
        "fireloop.report/1",
        "false_green",
        2,
    )
    assert report["files"] == [{"path": "test_calc.py", "kind": "test", "added": 1, "removed": 1}]
    assert report["findings"] == [
        {
            "kind": "expected_value_changed",
            "severity": "blocker",
            "path": "test_calc.py",
            "line": 5,
            "detail": "test_add: calc.add(2, 3) == 5 -> calc.add(2, 3) == -1",
            "iterations": [1, 2],
        }
    ]
    (rejected,) = report["rejected"]
    assert (rejected["iterations"], rejected["where"]) == ([1, 2], "room")
    assert rejected["reason"].startswith("with the tests of the start, test_calc.py::test_add must pass; it is failed")
    allow, restore = "fireloop-test PROMPT --allow-test-edits=test_calc.py", f"{report['loop_id']}:0"
    assert [each["command"] for each in report["next"]][1:] == [allow, f"fireloop restore {restore}"]

    code, out, _ = command(tree, "fireloop", "report", report["loop_id"])
    assert code == 0
    assert "\x1b" not in out
    for line in (
        "  tests: 1 passed, 1 failed -> 1 passed, 1 failed",
        "    test_calc.py +1 -1",
        "  blocker expected value changed, test_calc.py:5 (iterations 1 and 2)",
        "      was: test_add: calc.add(2, 3) == 5",
        "      now: calc.add(2, 3) == -1",
    ):
        assert line in out.splitlines()
    assert f"  {allow}" in out


def test_where_there_is_no_loop(tree: Path) -> None:
    code, out, err = command(tree, "fireloop", "report", "--json")
    assert (code, out) == (4, "")
    assert err.splitlines() == [
        f"fireloop report: no loop was recorded in {str(tree)!r}; `fireloop-test PROMPT` or `pytest --fire-loop` begins one"
    ]
