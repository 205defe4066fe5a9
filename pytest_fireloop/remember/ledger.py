"""All calls of agents by this user, whichever loop made them: what the limit of calls an hour is counted from."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

NAME = "calls.sqlite"
BUSY_S = 10.0
#: Calls older than this are forgotten, seconds.
KEPT_S = 7 * 86_400.0


class Ledger:
    """One SQLite file for all loops; where it cannot be used, this loop's own calls are counted alone."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.problem: str | None = None
        self._own: list[float] = []
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._open() as database:
                database.execute("CREATE TABLE IF NOT EXISTS calls (at REAL NOT NULL, loop_id TEXT NOT NULL)")
            os.chmod(self.path, 0o600)
        except (OSError, sqlite3.Error) as error:
            self._fail(error)

    def note(self, at: float, loop_id: str) -> None:
        """Store one call."""
        self._own.append(at)
        if self.problem is None:
            try:
                with self._open() as database:
                    database.execute("INSERT INTO calls VALUES (?, ?)", (at, loop_id))
                    database.execute("DELETE FROM calls WHERE at < ?", (at - KEPT_S,))
            except (OSError, sqlite3.Error) as error:
                self._fail(error)

    def since(self, start: float, now: float) -> list[float]:
        """Return when calls were made after a time; those ahead of now, made before the clock went back, are moved to now."""
        if self.problem is None:
            try:
                with self._open() as database:
                    # else they would count until the clock has come there again
                    database.execute("UPDATE calls SET at = ? WHERE at > ?", (now, now))
                    return [row[0] for row in database.execute("SELECT at FROM calls WHERE at > ?", (start,))]
            except (OSError, sqlite3.Error) as error:
                self._fail(error)
        self._own = [min(at, now) for at in self._own]
        return [at for at in self._own if at > start]

    def _fail(self, error: Exception) -> None:
        self.problem = f"cannot use {str(self.path)!r}: {error}; only this loop's own calls are counted"

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(self.path, timeout=BUSY_S)
        try:
            with database:
                yield database
        finally:
            database.close()
