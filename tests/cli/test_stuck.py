"""Loops that get nowhere, end to end: what is green and not believed is no green for the rules of stagnation."""

from __future__ import annotations

from pathlib import Path

import pytest
from loops import loop

PRODUCT = "def add(a, b):\n    return a - b\n"
TESTS = (
    "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\n"
    "def test_zero():\n    assert calc.add(0, 0) == 0\n"
)
FIX = "import pathlib; p = pathlib.Path('calc.py'); p.write_text(p.read_text().replace('a - b', 'a + b'))"
PROBE = (
    "import pathlib; pathlib.Path('calc.py').write_text('import sys\\n\\n\\ndef add(a, b):\\n"
    '    return a + b if "pytest" in sys.modules else a - b\\n\')'
)
#: Works in the first iteration alone.
ONCE = "import os, pathlib\nif os.environ['FIRELOOP_CALL'].endswith('-1'):\n    {}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    tree.mkdir()
    (tree / "calc.py").write_text(PRODUCT)
    (tree / "test_calc.py").write_text(TESTS)
    return tree


def test_a_rejected_green_that_nobody_works_on_is_stopped_as_false_green(project: Path) -> None:
    exit_code, summary, said = loop(project, ONCE.format(PROBE), "--max-iterations=9")
    assert (exit_code, summary["verdict"], summary["iterations"]) == (13, "false_green", 4), said
    assert summary["reason"].startswith("the tests pass only as the agent left them: ")
    assert "; no_progress: 3 iterations in a row in which nothing meaningful changed" in summary["reason"]
    assert (summary["circuit"]["state"], summary["circuit"]["reason"]) == ("OPEN", "no_progress")
    assert summary["health_profile"]["STALLED"] == 2
    assert summary["integrity"]["verdict"] == "rejected"
    # what moved is told as it was, and the state that is there is not offered again
    told = [line.partition("; score ")[2] for line in said.splitlines() if line.startswith("iteration ")]
    assert [line.split(";")[0].partition(", ")[2] for line in told] == [
        "PROGRESS, healthy",
        "no progress",
        "STALLED, warning",
        "STALLED, tripped",
    ]
    assert (summary["best"]["iteration"], summary["at_best"], "best state" in said) == (1, True, False)


def test_tests_that_pass_under_an_exit_code_that_stays_red_are_no_green(project: Path) -> None:
    (project / "conftest.py").write_text("def pytest_sessionfinish(session):\n    session.exitstatus = 1\n")
    exit_code, summary, said = loop(project, ONCE.format(FIX), "--max-iterations=9")
    assert (exit_code, summary["verdict"], summary["iterations"]) == (10, "circuit_open", 4), said
    assert summary["reason"].startswith("no_progress: 3 iterations in a row")
