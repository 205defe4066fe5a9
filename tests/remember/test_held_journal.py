"""A journal that is taken away while a loop holds it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fireloop.remember.held_journal import HeldJournal
from pytest_fireloop.remember.journal import Journal
from pytest_fireloop.remember.journal_error import JournalError


def _remove(path: Path) -> None:
    for each in path.parent.glob("journal.sqlite*"):
        each.unlink()


def _folder(path: Path) -> None:
    _remove(path)
    path.mkdir()
    (path / "kept").touch()


def _another(path: Path) -> None:
    _remove(path)
    other = Journal(path)
    other.begin_loop("theirs", "plugin", {})
    other.close()


@pytest.mark.parametrize(
    ("take_away", "happened"),
    [
        (Path.unlink, "was taken away"),
        (_remove, "was taken away"),
        (lambda path: path.rename(path.with_suffix(".away")), "was taken away"),
        (_folder, "was replaced"),
        (_another, "was replaced"),
        (lambda path: (path.unlink(), path.symlink_to("nowhere")), "was replaced"),
        (lambda path: (path.unlink(), path.write_bytes(b"junk" * 999)), "was replaced"),
    ],
)
def test_what_it_holds_is_stored_again(tmp_path: Path, take_away: Callable[[Path], object], happened: str) -> None:
    path, told = tmp_path / "journal.sqlite", list[str]()
    earlier = Journal(path)
    earlier.begin_loop("earlier", "plugin", {})
    earlier.close()
    held = HeldJournal(path, told.append)
    held.begin_loop("one", "runner", {"task": "t"})
    held.add_iteration("one", 0, {"checkpoint": "a"})
    assert told == []
    for number in (1, 2):
        take_away(path)
        held.add_iteration("one", number, {"checkpoint": "b"})
        assert [happened in line for line in told] == [True] * number
        assert "\n" not in told[-1]
        beside = Journal(path)
        assert [row.loop_id for row in beside.loops()] == ["one", "earlier"]
        assert len(beside.iterations("one")) == number + 1
        assert beside._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        # what another process asks for is heard in the new file
        beside.request("stop")
        beside.close()
        assert held.requested("stop")
        held.clear_request("stop")
    held.end_loop("one", "limit", {})
    held.close()
    journal = Journal(path)
    journal.check()
    row = journal.loop("one")
    assert row is not None
    assert (row.verdict, journal.iterations("one")) == ("limit", [{"checkpoint": each} for each in "abb"])
    assert path.stat().st_mode & 0o777 == 0o600
    kept = [each for each in tmp_path.glob("journal.replaced-*") if not each.name.endswith(("-wal", "-shm"))]
    assert len(kept) == (2 if happened == "was replaced" else 0)
    assert all(str(each) in "".join(told) for each in kept)


def test_a_question_is_enough_to_notice_it(tmp_path: Path) -> None:
    path, told = tmp_path / "journal.sqlite", list[str]()
    held = HeldJournal(path, told.append)
    held.begin_loop("one", "runner", {})
    _remove(path)
    assert not held.requested("stop")
    assert (len(told), path.exists()) == (1, True)


def test_a_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    held = HeldJournal(tmp_path / "state" / "journal.sqlite", print)
    held.begin_loop("one", "runner", {})
    shutil.rmtree(tmp_path / "state")
    for _ in range(2):
        with pytest.raises(JournalError, match="was removed during the loop") as error:
            held.note("one", calls=1)
        assert "\n" not in str(error.value)


def test_a_copy_keeps_the_order_of_loops(tmp_path: Path) -> None:
    held = HeldJournal(tmp_path / "journal.sqlite", print)
    for number in range(4):
        held.begin_loop(str(number), "runner", {}, at=100.0 - number)
    held.forget("2")
    os.unlink(held.path)
    held.begin_loop("4", "runner", {}, at=0.0)
    assert [row.loop_id for row in held.loops()] == ["4", "3", "1", "0"]
    assert sqlite3.connect(held.path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
