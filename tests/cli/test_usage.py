"""What is wrong with a command line is said in one line, with what to write instead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def run(tree: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"pytest_fireloop.cli.{program}", *words]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


LINES = {
    "unquoted": (
        "fireloop_test fix the tests",
        'fireloop-test: the task is one argument; quote it, as in: fireloop-test "fix the tests"',
    ),
    "unquoted-among-options": (
        "fireloop_test fix --max-iterations 3 the tests",
        'fireloop-test: the task is one argument; quote it, as in: fireloop-test "fix the tests"',
    ),
    "unknown-option": ("fireloop_test fix --agnt x", "fireloop-test: unrecognized arguments: --agnt x"),
    "prompt-file": (
        "fireloop_test --prompt-file nope",
        "fireloop-test: --prompt-file: cannot read 'nope': No such file or directory",
    ),
    "prompt-folder": ("fireloop_test --prompt-file .", "fireloop-test: --prompt-file: cannot read '.': Is a directory"),
    "forbidden-and-allowed": (
        "fireloop_test fix --test-edits forbid --allow-test-edits test_a.py",
        "fireloop-test: --test-edits forbid allows no edit, and --allow-test-edits some; leave one of them out",
    ),
    "guard": (
        "fireloop guard rm -rf .",
        "fireloop guard: -- is missing before the command; write: fireloop guard -- rm -rf .",
    ),
    "guard-option": ("fireloop guard --jsn -- rm a", "fireloop guard: unrecognized arguments: --jsn"),
    "report": ("fireloop signature nope.xml", "fireloop signature: cannot read 'nope.xml': No such file or directory"),
    "records": (
        "fireloop signature --records nope.jsonl",
        "fireloop signature: cannot read 'nope.jsonl': No such file or directory",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_one_line_says_what_is_wrong(project: Path, name: str) -> None:
    words, line = LINES[name]
    done = run(project, *words.split())
    assert (done.returncode, done.stdout, done.stderr) == (4, "", f"{line}\n")
    assert list(project.iterdir()) == []


def test_the_help_gives_the_example_and_each_exit_code_a_line(project: Path) -> None:
    done = run(project, "fireloop_test", "--help")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert '  fireloop-test --agent "my-agent --print {prompt}" "fix failing auth tests" -- tests/auth' in lines
    codes = [line.split()[0] for line in lines[lines.index("exit codes:") + 1 :]]
    assert codes == ["0", "1", "2", "3", "4", "5", "10", "11", "12", "13", "14"]


def test_a_loop_in_a_folder_of_a_repository_says_what_it_does_not_see(project: Path) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    folder = project / "tests"
    folder.mkdir()
    for place in (project, folder):
        (place / "test_a.py").write_text("def test_a(): assert 0\n")
    said = f"warning: files outside of {str(folder)!r} are neither watched nor restored; where the product lies there, "
    for place, expected in ((folder, [f"{said}start in {str(project)!r}"]), (project, [])):
        done = run(place, "fireloop_test", "fix it", "--agent", "repair", "--dry-run", "--python", sys.executable)
        assert done.returncode == 0
        assert [line for line in done.stdout.splitlines() if line.startswith("warning: ")] == expected
