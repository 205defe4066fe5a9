"""`fireloop history` and which loop the other commands take, in a journal with loops of every kind."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fireloop.cli.fireloop import main
from pytest_fireloop.judge.verdict import EXIT_CODES
from pytest_fireloop.remember.journal import MATRIX, PLUGIN, RUNNER, Journal
from pytest_fireloop.remember.paths import claim, state_folder

Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / "below" / "deep").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def journal(tree: Path) -> Journal:
    return Journal(claim(state_folder(tree, os.environ), tree) / "journal.sqlite")


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    def say(*words: str) -> tuple[int, str, str]:
        code = main(words)
        said = capsys.readouterr()
        return code, said.out, said.err

    return say


def add(journal: Journal, loop_id: str, verdict: str | None, *, kind: str = RUNNER, runs: int = 2, at: float) -> None:
    journal.begin_loop(loop_id, kind, {"task": f"task of {loop_id}"}, at)
    for number in range(runs):
        row = {"facts": {"iteration": number, "outcomes": {}, "tree": "x"}, "checkpoint": "c", "decision": None}
        journal.add_iteration(loop_id, number, row)
    if verdict is not None:
        journal.end_loop(loop_id, verdict, {"reason": verdict})


def test_the_columns_hold_and_what_is_unfinished_is_called_so(journal: Journal, say: Say) -> None:
    verdicts: list[str | None] = [*sorted(EXIT_CODES), None]
    for number, verdict in enumerate(verdicts):
        add(journal, f"loop-{number:02}", verdict, at=float(number))
    add(journal, "loop-90", None, kind=PLUGIN, at=100.0)
    add(journal, "loop-91", None, kind=MATRIX, at=101.0)
    code, out, _ = say("history")
    lines = out.splitlines()
    assert (code, len(lines)) == (0, len(verdicts) + 2)
    assert len({line.index("  task of ") for line in lines}) == 1
    words = [line.split()[4] for line in lines]
    assert words[:3] == ["unfinished", "unfinished", "cut"]
    assert not {"open"} & set(words)
    # scripts read what they read before
    loops = json.loads(say("history", "--json")[1])["loops"]
    assert [loop["verdict"] for loop in loops[:3]] == ["open", "open", "cut off"]
    assert say("status")[1].splitlines()[0].endswith(": unfinished")


@pytest.mark.parametrize("words", [("history",), ("status",), ("report",), ("restore",), ("log",), ("diff",)])
def test_where_there_is_no_loop_the_line_says_what_to_do(tree: Path, say: Say, words: tuple[str, ...]) -> None:
    code, out, said = say(*words)
    assert (code, out, said.count("\n")) == (4, "", 1)
    assert f"no loop was recorded in {str(tree)!r}; `fireloop-test PROMPT` or `pytest --fire-loop` begins one" in said


def test_below_a_tree_with_loops_that_tree_is_named(
    tree: Path, journal: Journal, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(journal, "one", "limit", at=1.0)
    for folder in (tree / "below", tree / "below" / "deep"):
        monkeypatch.chdir(folder)
        for command in ("history", "status", "resume"):
            code, out, said = say(command)
            assert (code, out, said.count("\n")) == (4, "", 1)
            assert f"no loop was recorded in {str(folder)!r}, but in {str(tree)!r}: change to that folder" in said
    # a folder that was named is the only one that is looked at
    code, _, said = say("history", "--fire-loop-dir", str(tree.parent / "other"))
    assert (code, "but in" in said) == (4, False)


def test_a_journal_without_loops(journal: Journal, say: Say) -> None:
    assert journal.loops() == []
    code, out, _ = say("history")
    assert (code, out) == (0, "no loop was recorded here; `fireloop-test PROMPT` or `pytest --fire-loop` begins one\n")
    assert json.loads(say("history", "--json")[1])["loops"] == []
    for command in ("status", "report", "restore", "resume"):
        assert (say(command)[0], command) == (4, command)


@pytest.mark.parametrize("refused", ["circuit_open", "usage", "no_tests"])
def test_a_start_that_was_refused_hides_no_loop(journal: Journal, say: Say, refused: str) -> None:
    """Earlier versions stored it."""
    add(journal, "real", "green", at=1.0)
    add(journal, "refused", refused, runs=0, at=2.0)
    taken: dict[str, Any] = json.loads(say("status", "--json")[1])
    assert taken["loop_id"] == "real"
    assert "loop real ended green" in say("resume")[2]
    assert "loop real has no iteration '7'" in say("restore", "7")[2]


@pytest.mark.parametrize("verdict", [None, "interrupted"])
def test_a_loop_that_ended_in_its_first_run_is_the_last_one_for_all(
    journal: Journal, say: Say, verdict: str | None
) -> None:
    add(journal, "real", "green", at=1.0)
    add(journal, "begun", verdict, runs=0, at=2.0)
    assert json.loads(say("status", "--json")[1])["loop_id"] == "begun"
    # it was stored without how it was started, else it would go on
    assert "loop begun is of a version" in say("resume")[2]
    code, _, said = say("restore")
    assert (code, said) == (
        4,
        "fireloop restore: loop begun ended before its first run of the tests; `fireloop history` lists all\n",
    )


def test_a_folder_for_all_trees_is_no_reason_to_go_up(tree: Path, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tree.parent / "state"
    journal = Journal(claim(state, tree) / "journal.sqlite")
    add(journal, "one", "limit", at=1.0)
    monkeypatch.setenv("FIRELOOP_DIR", str(state))
    monkeypatch.chdir(tree / "below")
    code, _, said = say("status")
    assert (code, "belongs to the tree" in said, "change to that folder" in said) == (4, True, False), said
    monkeypatch.setenv("FIRELOOP_DIR", str(tree.parent / "empty"))
    code, _, said = say("status")
    assert (code, "no loop was recorded" in said, "but in" in said) == (4, True, False), said


def test_a_project_that_was_renamed_finds_its_loops_by_the_advice(
    journal: Journal, tree: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(journal, "one", "limit", at=1.0)
    other = tree.parent / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert "is gone" not in say("status")[2]
    other.rmdir()
    tree.rename(other)
    monkeypatch.chdir(other)
    code, _, said = say("status")
    assert (code, f"but in {str(tree)!r}, which is gone" in said) == (4, True), said
    assert "loop one" in say("status", *shlex.split(said.rpartition("add ")[2]))[1]
