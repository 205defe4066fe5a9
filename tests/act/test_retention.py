"""What is kept of past loops, and what is dropped with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fireloop.act.checkpoints import CheckpointError, Checkpoints
from pytest_fireloop.act.lock import TreeLock
from pytest_fireloop.act.referee import Referee
from pytest_fireloop.act.retention import KEPT, LOOSE, SLACK, is_due, prune
from pytest_fireloop.observe.record import RunRecord, TestResult
from pytest_fireloop.remember.journal import Journal


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


@pytest.fixture
def journal(state: Path) -> Journal:
    return Journal(state / "journal.sqlite")


@pytest.fixture
def checkpoints(state: Path) -> Checkpoints:
    return Checkpoints.open(state / "checkpoints.git", state.parent / "tree")


def store(state: Path, journal: Journal, checkpoints: Checkpoints, number: int, verdict: str | None = "green") -> str:
    """Store a loop of one iteration with a file of its own, and return its checkpoint."""
    (state.parent / "tree" / "file.txt").write_text(f"only loop {number} knows {number * 7919}\n" * 50)
    commit = checkpoints.take(f"loop {number}").commit
    journal.begin_loop(f"loop-{number}", "runner", {}, at=float(number))
    journal.add_iteration(f"loop-{number}", 0, {"checkpoint": commit, "facts": {}})
    if verdict is not None:
        journal.end_loop(f"loop-{number}", verdict, {})
    (state / "loops" / f"loop-{number}").mkdir(parents=True)
    (state / "loops" / f"loop-{number}" / "agent-1.txt").write_text("said")
    return commit


def test_the_newest_and_the_open_are_kept(state: Path, journal: Journal, checkpoints: Checkpoints) -> None:
    commits = [store(state, journal, checkpoints, 0, None)]
    commits += [store(state, journal, checkpoints, number) for number in range(1, 6)]
    (state.parent / "tree" / "file.txt").write_text("before a restore")
    loose = checkpoints.take("before restoring").commit
    done = prune(state, journal, checkpoints, keep=2)
    assert done.loops == ("loop-3", "loop-2", "loop-1")
    assert [row.loop_id for row in journal.loops()] == ["loop-5", "loop-4", "loop-0"]
    assert sorted(path.name for path in (state / "loops").iterdir()) == ["loop-0", "loop-4", "loop-5"]
    for number in (0, 4, 5):
        assert f"loop {number} knows" in checkpoints.read(commits[number], "file.txt").decode()
    assert checkpoints.read(loose, "file.txt") == b"before a restore"
    # of no loop any more, but among the newest of those
    assert done.checkpoints == 0


def test_checkpoints_of_no_loop_are_kept_up_to_a_number(
    state: Path, journal: Journal, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_fireloop.act.retention.LOOSE", 1)
    commits = [store(state, journal, checkpoints, number) for number in range(4)]
    done = prune(state, journal, checkpoints, keep=1)
    assert done.checkpoints == 2
    assert len(checkpoints.newest_first()) == 2
    assert b"loop 3" in checkpoints.read(commits[3], "file.txt")
    gone = [commit for commit in commits if commit not in checkpoints.newest_first()]
    for commit in gone:
        with pytest.raises(CheckpointError):
            checkpoints.read(commit, "file.txt")
    assert b"loop 3" in checkpoints.read(checkpoints.take("again").commit, "file.txt"), "it goes on"


def test_it_is_due_only_when_many_have_come_together(
    state: Path, journal: Journal, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_fireloop.act.retention.KEPT", 2)
    monkeypatch.setattr("pytest_fireloop.act.retention.SLACK", 1)
    for number in range(3):
        store(state, journal, checkpoints, number)
    assert not is_due(journal, checkpoints)
    store(state, journal, checkpoints, 3)
    assert is_due(journal, checkpoints)
    assert prune(state, journal, checkpoints, keep=2).loops == ("loop-1", "loop-0")
    assert not is_due(journal, checkpoints)
    assert (KEPT, SLACK, LOOSE) == (50, 10, 100), "as README says"


def test_many_runs_of_no_loop_are_dropped_too(
    state: Path, journal: Journal, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_fireloop.act.retention.UNPACKED", 4)
    monkeypatch.setattr("pytest_fireloop.act.retention.LOOSE", 2)
    for number in range(5):
        (state.parent / "tree" / "file.txt").write_text(f"run {number}")
        assert not is_due(journal, checkpoints)
        checkpoints.take(f"run {number}")
    assert is_due(journal, checkpoints)
    done = prune(state, journal, checkpoints)
    assert (done.loops, done.checkpoints) == ((), 3)
    assert len(checkpoints.newest_first()) == 2
    assert not is_due(journal, checkpoints)


def test_a_run_of_pytest_drops_nothing_while_a_loop_works_on_the_tree(
    state: Path, journal: Journal, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_fireloop.act.retention.UNPACKED", 2)
    monkeypatch.setattr("pytest_fireloop.act.retention.LOOSE", 1)
    for number in range(3):
        (state.parent / "tree" / "file.txt").write_text(f"run {number}")
        checkpoints.take(f"run {number}")
    lock = TreeLock(state)
    for expected in (4, 1):
        referee = Referee(state.parent / "tree", state, profile="balanced", forbid=False)
        referee.judge(
            RunRecord("r", exit_code=0, complete=True, tests=(TestResult("t.py::t", "passed"),)), forced=False
        )
        referee.close()
        (state.parent / "tree" / "file.txt").write_text("more")
        assert len(checkpoints.newest_first()) == expected
        if expected > 1:
            lock.release()
