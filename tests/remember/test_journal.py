"""The journal, and where it lies."""

from __future__ import annotations

import errno
import sqlite3
import stat
from pathlib import Path

import pytest

from pytest_fireloop.remember.journal import Journal
from pytest_fireloop.remember.journal_error import JournalDamagedError, JournalError
from pytest_fireloop.remember.paths import make_private, state_folder


def test_loops_and_iterations_come_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "state" / "journal.sqlite")
    journal.begin_loop("one", "runner", {"task": "t"}, at=1.0)
    journal.begin_loop("two", "plugin", {}, at=2.0)
    journal.add_iteration("one", 1, {"n": 1})
    journal.add_iteration("one", 0, {"n": 0})
    journal.end_loop("one", "green", {"exit_code": 0})
    journal.close()
    journal = Journal(tmp_path / "state" / "journal.sqlite")
    assert [row.loop_id for row in journal.loops()] == ["two", "one"]
    assert [row.loop_id for row in journal.loops("runner")] == ["one"]
    assert journal.iterations("one") == [{"n": 0}, {"n": 1}]
    row = journal.loop("one")
    assert row is not None
    assert (row.verdict, row.data["summary"], row.data["task"]) == ("green", {"exit_code": 0}, "t")
    assert journal.loop("three") is None
    assert stat.S_IMODE((tmp_path / "state" / "journal.sqlite").stat().st_mode) == 0o600


def test_requests(tmp_path: Path) -> None:
    first, second = (Journal(tmp_path / "journal.sqlite") for _ in range(2))
    assert not first.requested("stop")
    second.request("stop")
    assert first.requested("stop")
    first.clear_request("stop")
    assert not second.requested("stop")


def test_the_last_loop_is_the_one_begun_last_whatever_the_clock_said(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    for number, at in enumerate((300.0, 200.0, 250.0, 200.0)):
        journal.begin_loop(f"loop {number}", "plugin", {"environment": "py311"}, at=at)
        assert [row.loop_id for row in journal.loops()] == [f"loop {each}" for each in range(number, -1, -1)]
    journal.end_loop("loop 3", "green", {})
    assert journal.open_loop("plugin", "py311") is None
    journal.forget("loop 3")
    journal.begin_loop("loop 4", "plugin", {}, at=1.0)
    assert journal.loops()[0].loop_id == "loop 4"


def test_what_lay_beside_a_journal_that_was_moved_away_is_no_part_of_the_next(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    old = Journal(path)
    old.begin_loop("old", "runner", {})
    path.rename(tmp_path / "away.sqlite")
    beside = (tmp_path / "journal.sqlite-wal").read_bytes()
    assert beside
    journal = Journal(path)
    assert journal.loops() == []
    journal.begin_loop("new", "runner", {})
    journal.close()
    assert [row.loop_id for row in Journal(path).loops()] == ["new"]
    assert [each.read_bytes() for each in tmp_path.glob("journal.damaged-*-wal")] == [beside]
    assert list(tmp_path.glob("*.new-*")) == []
    old.close()


@pytest.mark.parametrize("call", ["sqlite3.connect", "os.chmod", "os.mkdir"])
def test_a_journal_that_cannot_be_made_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    module, _, name = call.partition(".")
    error = OSError(errno.ENOSPC, "No space left on device")

    def full(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        # stands for a disk that is full at exactly this step
        patched.setattr(f"{module}.{name}", full)
        with pytest.raises(JournalError, match="No space left on device"):
            Journal(tmp_path / "state" / "journal.sqlite")
    assert list(tmp_path.rglob("*.*")) == []
    Journal(tmp_path / "state" / "journal.sqlite").close()


def test_a_damaged_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"this is no database, whatever else it is" * 50)
    before = path.read_bytes()
    with pytest.raises(JournalDamagedError, match="fireloop reset"):
        Journal(path)
    assert path.read_bytes() == before


def test_a_newer_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    Journal(path).close()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(JournalError, match="newer version"):
        Journal(path)


@pytest.mark.parametrize(
    ("environment", "wanted", "start"),
    [
        ({"HOME": "/home/ann"}, None, "/home/ann/.local/state/fireloop/my-tree-"),
        ({"HOME": "/home/ann", "XDG_STATE_HOME": "/state"}, None, "/state/fireloop/my-tree-"),
        ({"HOME": "/home/ann", "XDG_STATE_HOME": "relative"}, None, "/home/ann/.local/state/fireloop/my-tree-"),
        ({"HOME": "/home/ann", "FIRELOOP_DIR": "/here"}, None, "/here"),
        ({"FIRELOOP_DIR": "/here"}, "/there", "/there"),
        ({"TMPDIR": "/scratch"}, None, "/scratch/fireloop-"),
    ],
)
def test_where_the_state_lies(environment: dict[str, str], wanted: str | None, start: str) -> None:
    assert str(state_folder(Path("/src/my tree"), environment, wanted)).startswith(start)


def test_two_trees_of_one_name_have_two_folders() -> None:
    environment = {"HOME": "/home/ann"}
    assert state_folder(Path("/a/x"), environment) != state_folder(Path("/b/x"), environment)


def test_the_folder_is_private(tmp_path: Path) -> None:
    assert stat.S_IMODE(make_private(tmp_path / "a" / "b").stat().st_mode) == 0o700


def test_only_the_last_run_of_a_scope_keeps_its_outcomes(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    many = {"passed": [f"test_a.py::test_{number}" for number in range(5_000)]}
    sizes = []
    for number in range(20):
        journal.add_run("py311", "all", {"number": number}, many)
        sizes.append((tmp_path / "journal.sqlite").stat().st_size)
    journal.add_run("py311", "some", {"number": 20}, {"failed": ["test_a.py::test_1"]})
    journal.add_run("py312", "all", {"number": 21}, {})
    assert journal.last_run("py311", "all") == ({"number": 19}, many)
    assert journal.last_run("py311") == ({"number": 20}, {"failed": ["test_a.py::test_1"]})
    assert journal.last_run("py312", "some") is None
    assert sizes[-1] < 3 * len(str(many))
    journal.close()


def test_a_journal_of_the_first_version_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    database = sqlite3.connect(path)
    database.executescript(
        """
        CREATE TABLE loops (
            id TEXT PRIMARY KEY, kind TEXT NOT NULL, started REAL NOT NULL, ended REAL, verdict TEXT, data TEXT NOT NULL);
        CREATE TABLE iterations (
            loop_id TEXT NOT NULL REFERENCES loops(id), number INTEGER NOT NULL, data TEXT NOT NULL,
            PRIMARY KEY (loop_id, number));
        CREATE TABLE runs (
            number INTEGER PRIMARY KEY AUTOINCREMENT, environment TEXT NOT NULL, scope TEXT NOT NULL, data TEXT NOT NULL);
        CREATE TABLE requests (name TEXT PRIMARY KEY, at REAL NOT NULL);
        INSERT INTO loops VALUES ('one', 'plugin', 1.0, NULL, NULL, '{"environment": "py311"}');
        INSERT INTO runs (environment, scope, data) VALUES ('py311', 'all', '{"tests": []}');
        PRAGMA user_version = 1;
        """
    )
    database.close()
    for _ in range(2):
        journal = Journal(path)
        row = journal.open_loop("plugin", "py311")
        assert row is not None
        assert row.loop_id == "one"
        journal.close()
    journal = Journal(path)
    assert journal.last_run("py311", "all") is None
    journal.add_run("py311", "all", {"a": 1}, {"passed": ["t"]})
    assert journal.last_run("py311") == ({"a": 1}, {"passed": ["t"]})
    journal.close()
