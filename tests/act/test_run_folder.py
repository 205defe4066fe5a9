"""What a run of the tests leaves in the state: its record and its output, and no copy of what ran them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fireloop.act.test_run import TestCommand, run_tests

RUNS = {
    "green": ("def test_a(): pass\n", 60.0),
    "red, with a cache": ("def test_a(cache):\n    cache.set('a', 1)\n    assert 0\n", 60.0),
    "killed": ("import os\ndef test_a(): os.kill(os.getpid(), 11)\n", 60.0),
    "hanging": ("import time\ndef test_a(): time.sleep(60)\n", 3.0),
}


@pytest.mark.parametrize("kind", RUNS)
def test_a_run_leaves_its_record_and_its_output(
    write: Callable[[dict[str, str]], None], project: Path, tmp_path: Path, kind: str
) -> None:
    source, limit = RUNS[kind]
    write({"test_a.py": source})
    work = tmp_path / "work"
    run = run_tests(TestCommand(Path(sys.executable), project, timeout_s=limit), work=work)
    assert run.timed_out == (kind == "hanging")
    assert sorted(path.name for path in work.glob("run-*/*")) == ["output.txt", "record.json"]
    assert {path.name for path in project.iterdir()} == {"test_a.py"}
