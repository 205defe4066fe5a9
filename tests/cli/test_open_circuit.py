"""After a trip: what bars a loop, what a person can do about it, and which loop the commands take."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from loops import command, loop

PRODUCT = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
TESTS = (
    "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\n"
    "def test_zero():\n    assert calc.add(0, 0) == 0\n"
)
IDLE, FIX = "pass", f"import pathlib; pathlib.Path('calc.py').write_text({FIXED!r})"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    tree.mkdir()
    (tree / "calc.py").write_text(PRODUCT)
    (tree / "test_calc.py").write_text(TESTS)
    return tree


def fireloop(tree: Path, *words: str) -> Any:
    exit_code, out, said = command(tree, "fireloop", *words)
    assert exit_code == 0, said
    return json.loads(out) if "--json" in words else out


def views(tree: Path) -> list[str]:
    return sorted(path.name for path in (tree / ".fireloop").iterdir()) if (tree / ".fireloop").exists() else []


@pytest.fixture
def tripped(project: Path) -> str:
    """The loop that opened the circuit in the project."""
    exit_code, summary, said = loop(project, IDLE, "--aggressive")
    assert (exit_code, summary["verdict"]) == (10, "circuit_open"), said
    return str(summary["loop_id"])


def test_while_it_cools_down_nothing_goes_on_and_the_refusal_says_what_to_do(project: Path, tripped: str) -> None:
    before, seen = fireloop(project, "history", "--json"), views(project)
    status = fireloop(project, "status", "--json")

    code, out, said = command(project, "fireloop", "resume", "--json")
    summary = json.loads(out)
    assert (code, summary["verdict"], summary["loop_id"]) == (10, "circuit_open", tripped)
    assert "going on" not in said
    assert summary["reason"].startswith("the circuit is open (no_progress); `fireloop resume` goes on from 20")
    for word in (" min)", "`fireloop resume --wait`", "`fireloop reset`"):
        assert word in summary["reason"]

    for code_of_agent, words, task in (
        (IDLE, ("--aggressive",), "fix it"),
        (FIX, (), "fix it"),
        (IDLE, (), "another task"),
        (IDLE, ("--", "-v"), "fix it"),
    ):
        code, summary, said = loop(project, code_of_agent, *words, task=task)
        assert (code, summary["verdict"], summary["agent_calls"], summary["loop_id"]) == (10, "circuit_open", 0, None)
        assert f"nothing changed since the circuit opened (no_progress) in loop {tripped}" in summary["reason"]
        assert "only the files of the tree count, not the agent, the task or the arguments" in summary["reason"]
        assert "`fireloop reset`" in summary["reason"]
        assert (summary["circuit"]["state"], summary["loop_file"]) == ("OPEN", None)

    for words, names in ((("--", "--bogus"), "--bogus"), (("--", "--collect-only"), "--collect-only")):
        code, summary, said = loop(project, IDLE, *words)
        assert (code, summary, said.splitlines()[-1].count(names)) == (4, {}, 1), said

    assert fireloop(project, "history", "--json") == before
    assert views(project) == seen
    assert fireloop(project, "status", "--json") == status
    assert fireloop(project, "report", "--json")["loop_id"] == tripped
    assert f"of loop {tripped}" in fireloop(project, "restore", "0")


def test_after_a_reset_the_loop_goes_on_and_may_trip_again(project: Path, tripped: str) -> None:
    fireloop(project, "reset")
    status = fireloop(project, "status", "--json")
    assert (status["verdict"], status["circuit"]["state"], status["level"]) == ("circuit_open", "CLOSED", "healthy")
    assert "OPEN" not in fireloop(project, "status")
    # the second trip is one of its own: it needs as many iterations, and bars as the first did
    code, out, said = command(project, "fireloop", "resume", "--json")
    assert (code, json.loads(out)["iterations"]) == (10, 4), said
    assert f"going on with loop {tripped} after iteration 2" in said
    rows = fireloop(project, "replay", tripped, "--json")["iterations"]
    assert [(row["circuit"], row["stop"]) for row in rows] == [
        *[("CLOSED", None), ("OPEN", "no_progress")],
        *[("CLOSED", None), ("OPEN", "no_progress")],
    ]
    assert "circuit: OPEN" in fireloop(project, "status")
    assert loop(project, IDLE)[0] == 10


def test_after_a_reset_a_new_loop_begins_too(project: Path, tripped: str) -> None:
    fireloop(project, "reset")
    code, summary, _ = loop(project, FIX)
    assert (code, summary["verdict"]) == (0, "green")
    assert summary["loop_id"] != tripped


@pytest.mark.parametrize(("text", "code"), [(FIXED, 0), (PRODUCT + "\nX = 1\n", 10)], ids=["mended", "still red"])
def test_what_a_person_changed_meanwhile_is_tested(project: Path, tripped: str, text: str, code: int) -> None:
    (project / "calc.py").write_text(text)
    found, out, said = command(project, "fireloop", "resume", "--json")
    assert (found, json.loads(out)["loop_id"]) == (code, tripped)
    assert "is open; the tree has changed since, so its tests run" in said
    assert ("`fireloop reset`" in json.loads(out)["reason"]) is (code == 10)


def test_who_asked_for_a_person_goes_on_when_one_says_so(project: Path) -> None:
    code, summary, _ = loop(project, "print('FIRELOOP-BLOCKED: no key')")
    assert (code, summary["circuit"]["state"]) == (11, "OPEN")
    code, out, said = command(
        project, "fireloop", "resume", "--json", "--agent", shlex.join([sys.executable, "-c", FIX])
    )
    assert (code, json.loads(out)["iterations"]) == (0, 2), said


def test_a_wrong_usage_leaves_nothing_behind(project: Path) -> None:
    assert loop(project, IDLE, "--", "--bogus")[0] == 4
    assert sorted(path.name for path in project.iterdir() if path.name != "__pycache__") == ["calc.py", "test_calc.py"]
    assert fireloop(project, "history", "--json")["loops"] == []
