"""What happened, in one SQLite file that only grows: loops, iterations, runs, circuit."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from pytest_fireloop.remember.journal_error import JournalDamagedError, damaged, newer, unusable
from pytest_fireloop.remember.journal_file import is_there, put_in_place, unfinished
from pytest_fireloop.remember.mounts import is_on_network

VERSION = 2
BUSY_S = 30.0
#: The kind of the loops of `pytest --fire-loop`.
PLUGIN = "plugin"
#: The kind of the loops of `fireloop-test`.
RUNNER = "runner"
#: The kind of the loops that `fireloop decide` keeps of a matrix.
MATRIX = "matrix"
TABLES = """
CREATE TABLE IF NOT EXISTS loops (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, started REAL NOT NULL, ended REAL, verdict TEXT, data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS iterations (
    loop_id TEXT NOT NULL REFERENCES loops(id), number INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (loop_id, number));
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, environment TEXT NOT NULL, scope TEXT NOT NULL, data TEXT NOT NULL,
    outcomes TEXT);
CREATE TABLE IF NOT EXISTS requests (name TEXT PRIMARY KEY, at REAL NOT NULL);
"""


class LoopRow(NamedTuple):
    """One loop as the journal holds it; `data` is its settings, prompt and, at the end, its summary.

    A tuple, for each run of pytest asks whether it may start, and making a dataclass takes a fifth of that.
    """

    loop_id: str
    kind: str
    started: float
    ended: float | None
    verdict: str | None
    data: Mapping[str, Any]

    @property
    def circuit(self) -> Mapping[str, Any]:
        """The circuit as the loop left it, empty where it has not ended."""
        return (self.data.get("summary") or {}).get("circuit") or {}


class Journal:
    """Short transactions, one at a time; damaged or newer files are refused, never deleted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not is_there(path):
                self._make()
            self._open(path)
        except UnicodeDecodeError as error:  # of what the database says of itself
            raise damaged(path, error) from error
        except (sqlite3.Error, OSError) as error:
            raise unusable(path, error) from error

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def begin_loop(self, loop_id: str, kind: str, data: Mapping[str, Any], at: float | None = None) -> None:
        """Note that a loop began; `kind` is runner or plugin."""
        with self._write() as database:
            row = (loop_id, kind, time.time() if at is None else at, json.dumps(data))
            database.execute("INSERT INTO loops (id, kind, started, data) VALUES (?, ?, ?, ?)", row)

    def end_loop(self, loop_id: str, verdict: str, summary: Mapping[str, Any]) -> None:
        """Note how a loop ended, with its summary."""
        with self._write() as database:
            (text,) = database.execute("SELECT data FROM loops WHERE id = ?", (loop_id,)).fetchone()
            data = {**json.loads(text), "summary": summary}
            database.execute(
                "UPDATE loops SET ended = ?, verdict = ?, data = ? WHERE id = ?",
                (time.time(), verdict, json.dumps(data), loop_id),
            )

    def resume_loop(self, loop_id: str) -> None:
        """Note that a loop goes on: it has no end any more."""
        with self._write() as database:
            database.execute("UPDATE loops SET ended = NULL, verdict = NULL WHERE id = ?", (loop_id,))

    def forget(self, loop_id: str) -> None:
        """Drop a loop with its iterations."""
        with self._write() as database:
            database.execute("DELETE FROM iterations WHERE loop_id = ?", (loop_id,))
            database.execute("DELETE FROM loops WHERE id = ?", (loop_id,))

    def note(self, loop_id: str, **changes: Any) -> None:
        """Change what is kept of a loop beside its iterations."""
        with self._write() as database:
            (text,) = database.execute("SELECT data FROM loops WHERE id = ?", (loop_id,)).fetchone()
            data = json.dumps({**json.loads(text), **changes})
            database.execute("UPDATE loops SET data = ? WHERE id = ?", (data, loop_id))

    def add_iteration(self, loop_id: str, number: int, data: Mapping[str, Any]) -> None:
        """Store one iteration: facts, decision, checkpoint, prompt and agent's outcome."""
        with self._write() as database:
            row = (loop_id, number, json.dumps(data))
            database.execute("INSERT OR REPLACE INTO iterations (loop_id, number, data) VALUES (?, ?, ?)", row)

    def add_run(self, environment: str, scope: str, data: Mapping[str, Any], outcomes: Mapping[str, list[str]]) -> None:
        """Store one run of `pytest --fire-loop`; the outcomes of an earlier one of this scope are wanted no more."""
        with self._write() as database:
            database.execute(
                "UPDATE runs SET outcomes = NULL WHERE environment = ? AND scope = ? AND outcomes IS NOT NULL",
                (environment, scope),
            )
            row = (environment, scope, json.dumps(data), json.dumps(outcomes))
            database.execute("INSERT INTO runs (environment, scope, data, outcomes) VALUES (?, ?, ?, ?)", row)

    def last_run(
        self, environment: str, scope: str | None = None
    ) -> tuple[Mapping[str, Any], Mapping[str, list[str]]] | None:
        """Return the last run stored for an environment with its node ids by outcome, of one scope or of any, or None."""
        query = (
            "SELECT data, outcomes FROM runs WHERE environment = ? AND scope = ifnull(?, scope) "
            "AND outcomes IS NOT NULL ORDER BY number DESC LIMIT 1"
        )
        rows = self._read(query, (environment, scope))
        return (self._parsed(rows[0][0]), self._parsed(rows[0][1])) if rows else None

    def last_scope(self, environment: str) -> str | None:
        """Return the scope of the last run stored for an environment, or None."""
        query = "SELECT scope FROM runs WHERE environment = ? ORDER BY number DESC LIMIT 1"
        rows = self._read(query, (environment,))
        return str(rows[0][0]) if rows else None

    def loops(self, kind: str | None = None) -> list[LoopRow]:
        """Return all loops, the one begun last first: by their order, for a clock may go back."""
        query = "SELECT id, kind, started, ended, verdict, data FROM loops ORDER BY rowid DESC"
        rows = [LoopRow(row[0], row[1], row[2], row[3], row[4], self._parsed(row[5])) for row in self._read(query, ())]
        return [row for row in rows if kind is None or row.kind == kind]

    def open_loop(self, kind: str, environment: str) -> LoopRow | None:
        """Return the loop of an environment that has no verdict yet: none but the newest can be open."""
        row = next((each for each in self.loops(kind) if each.data.get("environment") == environment), None)
        return row if row is not None and row.verdict is None else None

    def reset(self, loop_id: str) -> None:
        """Note that a person closed a loop's circuit, after so many iterations."""
        self.note(loop_id, reset=[self.count_iterations(loop_id), time.time()])

    def was_reset(self, row: LoopRow) -> bool:
        """Whether a person closed a loop's circuit since its last iteration."""
        number, _ = row.data.get("reset") or (None, None)
        return number is not None and number == self.count_iterations(row.loop_id)

    def loop_data(self, loop_id: str) -> Mapping[str, Any]:
        """Return what is kept of a loop beside its iterations, empty for an unknown one."""
        row = self.loop(loop_id)
        return row.data if row is not None else {}

    def loop(self, loop_id: str) -> LoopRow | None:
        """Return one loop, or None."""
        return next((row for row in self.loops() if row.loop_id == loop_id), None)

    def iterations(self, loop_id: str) -> list[dict[str, Any]]:
        """Return a loop's iterations in order."""
        query = "SELECT data FROM iterations WHERE loop_id = ? ORDER BY number"
        return [self._parsed(row[0]) for row in self._read(query, (loop_id,))]

    def count_iterations(self, loop_id: str) -> int:
        """Count a loop's iterations, the baseline included, without reading them."""
        return int(self._read("SELECT count(*) FROM iterations WHERE loop_id = ?", (loop_id,))[0][0])

    def checkpoints(self) -> set[str]:
        """Return the commits that iterations of any loop stand for, without reading the rest of them."""
        query = "SELECT json_extract(data, '$.checkpoint') FROM iterations"
        return {row[0] for row in self._read(query, ()) if row[0]}

    def request(self, name: str) -> None:
        """Leave a request for the running loop, such as `stop`."""
        with self._write() as database:
            database.execute("INSERT OR REPLACE INTO requests (name, at) VALUES (?, ?)", (name, time.time()))

    def requested(self, name: str) -> bool:
        """Whether a request is waiting."""
        return bool(self._read("SELECT 1 FROM requests WHERE name = ?", (name,)))

    def clear_request(self, name: str) -> None:
        """Take a request back, or note that it was met."""
        with self._write() as database:
            database.execute("DELETE FROM requests WHERE name = ?", (name,))

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        try:
            try:
                self._database.execute("BEGIN IMMEDIATE")
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                # a full disk has undone it already, or let the commit fail and left it open
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise unusable(self.path, error) from error

    def check(self) -> None:
        """Raise JournalDamagedError where the file is damaged in a place that nobody may come to read."""
        (found,) = self._read("PRAGMA quick_check(1)", ())
        if found != ("ok",):
            raise self.damaged(found[0])

    def damaged(self, why: object) -> JournalDamagedError:
        """Return the error that says that what the file holds makes no sense."""
        return damaged(self.path, why)

    def _read(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise unusable(self.path, error) from error
        except UnicodeDecodeError as error:
            raise self.damaged(error) from error

    def _parsed(self, text: Any) -> Any:
        try:
            return json.loads(text)
        except (ValueError, TypeError) as error:
            raise self.damaged(error) from error

    def _make(self) -> None:
        """Make a new file whole before it has its name: another process, or a power cut, finds it so or not at all."""
        made = unfinished(self.path)
        try:
            self._open(made)
            self.close()
            put_in_place(made, self.path)
        finally:
            made.unlink(missing_ok=True)

    def _open(self, path: Path) -> None:
        self._database = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            os.chmod(path, 0o600)
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        database = self._database
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise newer(self.path, version)
        if is_on_network(self.path.parent):
            # the log beside the file needs memory that all who read it share; who is at work now keeps it for this time
            with suppress(sqlite3.OperationalError):
                database.execute("PRAGMA journal_mode=DELETE")
        elif version == 0:
            database.execute("PRAGMA journal_mode=WAL")
        if version == 0:
            database.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
        else:
            database.execute("SELECT 1 FROM loops LIMIT 1").fetchone()
        if version == 1:
            self._from_first_version()

    def _from_first_version(self) -> None:
        """Add what runs keep since: it held whole records, so that the next run has nothing to be compared with."""
        with self._write() as database:
            # another process may have done it since we looked
            if database.execute("PRAGMA user_version").fetchone() == (1,):
                database.execute("ALTER TABLE runs ADD COLUMN outcomes TEXT")
                database.execute(f"PRAGMA user_version = {VERSION}")
