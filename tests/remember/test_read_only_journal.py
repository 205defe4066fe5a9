"""A journal that can only be read."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fireloop.remember.journal import Journal
from pytest_fireloop.remember.journal_error import JournalDamagedError, JournalError
from pytest_fireloop.remember.read_only_journal import ReadOnlyJournal

#: Numbers of `prctl` and of the right by which root writes everywhere.
DROP, OVERRIDE = 24, 1


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")}


@pytest.mark.parametrize("at_work", [False, True], ids=["closed", "with a log beside it"])
def test_it_answers_and_nothing_is_written(tmp_path: Path, at_work: bool) -> None:
    folder = tmp_path / "a state? #1"
    journal = Journal(folder / "journal.sqlite")
    journal.begin_loop("one", "runner", {"task": "t"})
    journal.add_iteration("one", 0, {"checkpoint": "c"})
    if not at_work:
        journal.close()
    before = _files(folder)
    assert ("journal.sqlite-wal" in before) is at_work
    found = ReadOnlyJournal(folder / "journal.sqlite")
    assert [row.loop_id for row in found.loops()] == ["one"]
    assert found.iterations("one") == [{"checkpoint": "c"}]
    with pytest.raises(JournalError, match="readonly database; make the folder and the file writable") as error:
        found.note("one", a=1)
    assert not isinstance(error.value, JournalDamagedError)
    found.close()
    assert _files(folder) == before
    journal.close()


def test_what_is_no_journal_is_told_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with pytest.raises(JournalError, match="there is no journal"):
        ReadOnlyJournal(path)
    path.touch()
    with pytest.raises(JournalDamagedError, match="empty"):
        ReadOnlyJournal(path)
    path.write_bytes(b"no database" * 999)
    with pytest.raises(JournalDamagedError, match="not a database"):
        ReadOnlyJournal(path)
    assert [each.name for each in tmp_path.iterdir()] == ["journal.sqlite"]


def _as_a_user() -> None:
    if os.getuid() == 0:
        ctypes.CDLL(None).prctl(DROP, OVERRIDE, 0, 0, 0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="root cannot be held back here")
def test_commands_read_a_state_that_they_cannot_write(tmp_path: Path, checkout: Path) -> None:
    tree, state = tmp_path / "tree", tmp_path / "state"
    tree.mkdir()
    (tree / "test_one.py").write_text("def test_one():\n    assert 0\n")

    def run(*words: str, user: Callable[[], None] | None = _as_a_user) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *words, f"--fire-loop-dir={state}"],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(checkout)},
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=user,
        )

    assert run("pytest", "--fire-loop", user=None).returncode == 1
    loop_id = json.loads(run("pytest_fireloop.cli.fireloop", "status", "--json", user=None).stdout)["loop_id"]
    folders = [state, *(path for path in state.rglob("*") if path.is_dir())]
    for path in (*folders, *(path for path in state.rglob("*") if path.is_file())):
        path.chmod(path.stat().st_mode & 0o555)
    try:
        for words in (["status"], ["history"], ["log"], ["diff"], ["report"], ["replay", loop_id]):
            done = run("pytest_fireloop.cli.fireloop", *words)
            assert (done.returncode, done.stderr) == (0, ""), words
            assert loop_id in done.stdout or words == ["diff"]
        for word in ("reset", "stop", "restore", "prune"):
            done = run("pytest_fireloop.cli.fireloop", word)
            assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
            assert "writable" in done.stderr
            assert str(state) in done.stderr
    finally:
        for path in folders:
            path.chmod(0o700)
