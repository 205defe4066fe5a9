"""The total of a coverage measurement that somebody else takes, and how it moves."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

FILES = {
    "shop.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n",
    "test_shop.py": "import shop\ndef test_one(): assert shop.one() == 1\ndef test_red(): assert 0\n",
}
MORE = {"test_shop.py": FILES["test_shop.py"] + "def test_two(): assert shop.two() == 2\n"}


@pytest.mark.parametrize("args", [[], ["--cov-report="], ["-n2"]], ids=["report", "no report", "xdist"])
def test_what_the_plugin_for_coverage_measured_is_read(write: Write, judged: Run, args: list[str]) -> None:
    pytest.importorskip("pytest_cov")
    if args == ["-n2"]:
        pytest.importorskip("xdist")
    write(FILES)
    code, _, record = judged("--cov=shop", *args)
    assert (code, record["coverage"]) == (1, {"total": 75.0, "delta": None})
    write(MORE)
    _, text, record = judged("--cov=shop", *args)
    assert record["coverage"] == {"total": 100.0, "delta": 25.0}
    assert "coverage: 100 % (+25)" in text


def test_what_the_library_measures_around_us_is_read(write: Write, project: Path) -> None:
    write(FILES)
    record = project.parent / "record.json"
    coverage = [sys.executable, "-m", "coverage", "run", "--include=shop.py", f"--data-file={project.parent / 'data'}"]
    done = subprocess.run([*coverage, "-m", "pytest", f"--fire-loop-record={record}"], capture_output=True, check=False)
    assert done.returncode == 1
    assert json.loads(record.read_text())["coverage"] == {"total": 75.0}
    data = [sys.executable, "-m", "coverage", "report", f"--data-file={project.parent / 'data'}"]
    assert "75%" in subprocess.run(data, capture_output=True, text=True, check=True).stdout
    assert sorted(path.name for path in project.iterdir() if path.name.startswith(".coverage")) == []


@pytest.mark.parametrize("args", [[], ["--cov=shop", "--no-cov"]], ids=["nobody", "switched off"])
def test_where_nobody_measures_nothing_is_said(write: Write, judged: Run, args: list[str]) -> None:
    pytest.importorskip("pytest_cov")
    write(FILES)
    assert "coverage" not in judged(*args)[2]
