"""The journal of a loop at work: stored again where somebody takes it away meanwhile, as an agent's clean-up may."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from pytest_fireloop.remember.journal import Journal
from pytest_fireloop.remember.journal_error import JournalError, unusable
from pytest_fireloop.remember.journal_file import move_aside, put_in_place, unfinished


class HeldJournal(Journal):
    """Looks before each use whether its path still names the file that it opened, which it can read without a name."""

    def __init__(self, path: Path, tell: Callable[[str], object]) -> None:
        self._tell = tell
        #: Device and number of the file, None while it is opened.
        self._opened: tuple[int, int] | None = None
        super().__init__(path)
        self._opened = self._named()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        self._hold()
        with super()._write() as database:
            yield database

    def _read(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        self._hold()
        return super()._read(query, values)

    def _named(self) -> tuple[int, int] | None:
        """Return which file the path names now, None where it names none."""
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _hold(self) -> None:
        if self._opened is None or self._named() == self._opened:
            return
        if not self.path.parent.is_dir():
            raise JournalError(
                f"the state folder {str(self.path.parent)!r} was removed during the loop, with all that was kept in it; "
                "start the loop anew"
            )
        try:
            self._store_again()
        except (sqlite3.Error, OSError) as error:
            raise unusable(self.path, error) from error

    def _store_again(self) -> None:
        """Copy all that the file holds that was opened to a new one in its place."""
        made = unfinished(self.path)
        try:
            with closing(sqlite3.connect(made, isolation_level=None)) as copy:
                os.chmod(made, 0o600)
                self._database.backup(copy)
            # before another file has the name: SQLite would take away what lies beside that one
            self.close()
            there = os.path.lexists(self.path)
            aside = f"; what stood in its place is kept as {move_aside(self.path, 'replaced')}" if there else ""
            put_in_place(made, self.path)
        finally:
            with suppress(OSError):
                made.unlink(missing_ok=True)
        self._open(self.path)
        self._opened = self._named()
        happened = "was replaced" if there else "was taken away"
        self._tell(f"warning: the journal {str(self.path)!r} {happened} during the loop, and is stored again{aside}")
