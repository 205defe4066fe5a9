"""Options of ours that cannot have an effect: a wrong one is refused before any test, an idle one is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

FILES = {"test_a.py": "import pathlib\ndef test_a():\n    pathlib.Path('../ran').touch()\n    assert 0\n"}


@pytest.mark.parametrize("case", ["option .", "option state", "option ..", "variable .", "variable state"])
def test_a_folder_in_the_work_tree_is_a_usage_error(
    write: Write, project: Path, run: Run, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    write(FILES)
    way, place = case.split()
    folder = project / place
    # a folder above the tree is no worse than any other
    refused = place != ".."
    if way == "variable":
        monkeypatch.setenv("FIRELOOP_DIR", str(folder))
    code, text, record = run("--fire-loop", *([f"--fire-loop-dir={folder}"] if way == "option" else []))
    assert ((project.parent / "ran").exists(), code, bool(record)) == (not refused, 4 if refused else 1, not refused)
    errors = [line for line in text.splitlines() if line.startswith("ERROR: ")]
    assert len(errors) == refused
    assert not refused or "name one outside with --fire-loop-dir" in errors[0]
    assert "not judged" not in text
    assert {path.name for path in project.iterdir()} <= {"test_a.py", "__pycache__", ".pytest_cache"}


def test_a_value_that_pytest_takes_for_a_path_is_told_as_such(write: Write, project: Path, run: Run) -> None:
    write(FILES)
    folder = project.parent / "state"
    folder.mkdir()
    code, text, _ = run("--fire-loop", "--fire-loop-dir", str(folder))
    errors = [line for line in text.splitlines() if line.startswith("ERROR: ")]
    assert (code, len(errors)) == (4, 1)
    assert "write --fire-loop-dir=DIR" in errors[0]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ("--fire-loop-profile=strict", "--fire-loop-profile has"),
        ("--fire-loop-force -q --fire-loop-test-edits forbid", "--fire-loop-force, --fire-loop-test-edits have"),
        ("--fire-loop-dir=../state -n2 -W error", "--fire-loop-dir has"),
        ("--fire-loop --fire-loop-profile=strict --fire-loop-dir=../state", ""),
        ("-W error", ""),
    ],
)
def test_an_option_that_does_nothing_is_named_once(write: Write, run: Run, options: str, named: str) -> None:
    if "-n" in options:
        pytest.importorskip("xdist")
    write(FILES)
    code, text, record = run(*options.split())
    assert (code, record["complete"]) == (1, True)
    assert [line for line in text.splitlines() if "no effect" in line] == (
        [f"fire-loop: {named} no effect without --fire-loop"] if named else []
    )


def test_settings_of_the_project_may_wait_for_their_use(write: Write, run: Run) -> None:
    write({**FILES, "pytest.ini": "[pytest]\naddopts = --fire-loop-profile=strict\n"})
    code, text, _ = run()
    assert code == 1
    assert "no effect" not in text
