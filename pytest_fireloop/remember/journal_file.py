"""The file of a journal: made whole, found to be none, or moved aside, and never deleted."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from pathlib import Path

from pytest_fireloop.remember.journal_error import damaged

#: What SQLite keeps beside the file while it is open; of another file it would be taken for part of this one.
BESIDE = ("-wal", "-shm", "-journal")
KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def is_there(path: Path) -> bool:
    """Whether there is a journal; raises JournalDamagedError where something stands that cannot be one."""
    try:
        found = path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            raise damaged(path, f"it is a link to {os.readlink(path)!r}, which is not there") from None
        return False
    kind = next((name for is_kind, name in KINDS if is_kind(found.st_mode)), None)
    if kind is not None:
        raise damaged(path, f"it is {kind} and no file")
    if not found.st_size:
        # a new one is whole before it stands here, so that this is what a power cut or somebody else left
        raise damaged(path, "it is empty")
    return True


def unfinished(path: Path) -> Path:
    """Return where a new journal is made."""
    return path.with_name(f"{path.name}.new-{os.getpid()}")


def put_in_place(made: Path, path: Path) -> None:
    """Give a new journal its name, unless another process was first; the caller takes away what it made."""
    if not os.path.lexists(path):
        # of a journal that somebody moved away
        _move(path, aside(path), BESIDE)
    try:
        os.link(made, path)
    except FileExistsError:
        return
    except OSError:  # a file system without such links
        made.rename(path)


def move_aside(path: Path, kind: str = "damaged") -> Path:
    """Move what stands in the place of a journal aside, with what lies beside it, and return where it is."""
    to = aside(path, kind)
    _move(path, to, ("", *BESIDE))
    return to


def aside(path: Path, kind: str = "damaged") -> Path:
    """Return a name that nothing has yet."""
    first = path.with_suffix(f".{kind}-{int(time.time())}")
    names = (first, *(first.with_name(f"{first.name}-{number}") for number in range(2, 1_000)))
    return next(name for name in names if not os.path.lexists(name))


def _move(path: Path, to: Path, endings: tuple[str, ...]) -> None:
    for ending in endings:
        with suppress(FileNotFoundError):
            os.rename(f"{path}{ending}", f"{to}{ending}")
