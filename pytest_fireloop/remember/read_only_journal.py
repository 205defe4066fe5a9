"""The journal where it can only be read: a state on a read-only disk, or of another user."""

from __future__ import annotations

import os
import sqlite3
import urllib.parse
from pathlib import Path

from pytest_fireloop.remember.journal import BUSY_S, VERSION, Journal
from pytest_fireloop.remember.journal_error import JournalError, newer


def is_read_only(path: Path) -> bool:
    """Whether a journal is there that can be read and neither it nor its folder can be written."""
    readable = os.access(path, os.R_OK)
    return readable and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK))


class ReadOnlyJournal(Journal):
    """Answers as a journal does, and writes nothing: neither the file nor what SQLite keeps beside it."""

    def _make(self) -> None:
        raise JournalError(f"there is no journal {str(self.path)!r}")

    def _open(self, path: Path) -> None:
        log = Path(f"{path}-wal")
        # with a log beside it, it is that of a process at work or of one that was killed, and belongs to the file
        pending = log.exists() and log.stat().st_size > 0
        place = f"file:{urllib.parse.quote(os.fsencode(path.absolute()))}?mode=ro{'' if pending else '&immutable=1'}"
        self._database = sqlite3.connect(place, uri=True, timeout=BUSY_S, isolation_level=None)
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise newer(path, version)
