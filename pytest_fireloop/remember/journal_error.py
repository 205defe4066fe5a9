"""Why a journal cannot be used: the world is in the way, or it is no journal, so that the circuit is unknown."""

from __future__ import annotations

import sqlite3
from pathlib import Path

#: Faults of the world by SQLite's primary code, with what a person can do; all others mean a file that makes no sense.
REMEDIES = {
    sqlite3.SQLITE_PERM: "make it readable and writable for you",
    sqlite3.SQLITE_BUSY: "another process keeps it; try again when that has ended",
    sqlite3.SQLITE_LOCKED: "another process keeps it; try again when that has ended",
    sqlite3.SQLITE_READONLY: "make the folder and the file writable, or name another folder with --fire-loop-dir",
    sqlite3.SQLITE_IOERR: "make room, or look after the disk",
    sqlite3.SQLITE_FULL: "make room",
    sqlite3.SQLITE_CANTOPEN: "make the folder and the file readable and writable, or name another folder with --fire-loop-dir",
}
CLOSED = "the circuit stays open until it is mended: "


class JournalError(Exception):
    """The journal cannot be used; the message is one line that says what to do."""


class JournalDamagedError(JournalError):
    """What stands there is no journal that we can read, so that the state of the circuit is unknown."""


class JournalNewerError(JournalDamagedError):
    """A newer version of ours wrote it: whole, and unknown all the same."""


def damaged(path: Path, why: object) -> JournalDamagedError:
    """Return the error that says that what stands there makes no sense."""
    text = " ".join(str(why).split())[:200]
    return JournalDamagedError(
        f"cannot read the journal {str(path)!r}: {text}; {CLOSED}move it away, or {_reset(path)}"
    )


def newer(path: Path, version: int) -> JournalNewerError:
    """Return the error that says that a newer version wrote the journal."""
    return JournalNewerError(
        f"the journal {str(path)!r} is of a newer version ({version}); {CLOSED}update pytest-fireloop, use "
        f"another folder with --fire-loop-dir, or {_reset(path)}, which keeps it aside"
    )


def unusable(path: Path, error: Exception) -> JournalError:
    """Return the error that says which file cannot be used, and why."""
    code = getattr(error, "sqlite_errorcode", 0)
    # a file that is shorter than it says it is was damaged, whatever the disk
    remedy = REMEDIES.get(code & 0xFF) if code != sqlite3.SQLITE_IOERR_SHORT_READ else None
    # a row that is there already, or a file that we closed, is a fault of ours and no damage
    ours = isinstance(error, (sqlite3.IntegrityError, sqlite3.ProgrammingError))
    if remedy is None and isinstance(error, sqlite3.Error) and not ours:
        return damaged(path, error)
    return JournalError(f"cannot use the journal {str(path)!r}: {error}{f'; {remedy}' if remedy else ''}")


def _reset(path: Path) -> str:
    import shlex  # here, for each run of pytest opens a journal, and hardly any is damaged

    return f"run `fireloop reset --fire-loop-dir {shlex.quote(str(path.parent.absolute()))}`"
