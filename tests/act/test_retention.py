"""What is kept of past loops, and what is dropped with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fireloop.act.checkpoints import CheckpointError, Checkpoints
from pytest_fireloop.act.retention import KEPT, LOOSE, SLACK, prune, prune_when_due
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
    assert prune_when_due(state, journal, checkpoints) is None
    store(state, journal, checkpoints, 3)
    done = prune_when_due(state, journal, checkpoints)
    assert done is not None
    assert done.loops == ("loop-1", "loop-0")
    assert (KEPT, SLACK, LOOSE) == (50, 10, 100)


def test_many_runs_of_no_loop_are_dropped_too(
    state: Path, journal: Journal, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_fireloop.act.retention.UNPACKED", 4)
    monkeypatch.setattr("pytest_fireloop.act.retention.LOOSE", 2)
    for number in range(5):
        (state.parent / "tree" / "file.txt").write_text(f"run {number}")
        assert prune_when_due(state, journal, checkpoints) is None
        checkpoints.take(f"run {number}")
    done = prune_when_due(state, journal, checkpoints)
    assert done is not None
    assert (done.loops, done.checkpoints) == ((), 3)
    assert len(checkpoints.newest_first()) == 2
    assert prune_when_due(state, journal, checkpoints) is None
