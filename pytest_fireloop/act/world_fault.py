"""Faults of the world, no fault of ours: a disk that is full or cannot be written."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

#: What a person can mend, by the error's number.
REMEDIES = {
    errno.ENOSPC: "make room",
    errno.EDQUOT: "make room in your quota",
    errno.EFBIG: "raise the limit of file sizes",
    errno.EROFS: "make the folder writable, or name another one with --fire-loop-dir",
    errno.EACCES: "make the folder writable, or name another one with --fire-loop-dir",
    errno.EPERM: "make the folder writable, or name another one with --fire-loop-dir",
    errno.EIO: "look after the disk",
    errno.EMFILE: "raise the limit of open files",
    errno.ENFILE: "let other programs close files",
    errno.ESTALE: "mount the file system anew",
}


def told(
    error: OSError,
    folders: Sequence[Path] = (),
    *,
    unnamed: str = "the disk",
    then: str = "then `fireloop resume` goes on",
) -> str | None:
    """Return what happened and what to do in one line, None for an error that tells of a fault of ours.

    Where the error names no file, as one of writing does not, the first of the folders is named whose disk is full.
    """
    remedy = REMEDIES.get(error.errno or 0)
    if remedy is None:
        return None
    name = repr(str(error.filename)) if error.filename else next(_full(folders), unnamed)
    return f"cannot use {name}: {error.strerror}; {remedy}, {then}"


def is_behind(error: BaseException) -> bool:
    """Whether a fault of the world, by its number or in words, is what an error of ours tells of."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in REMEDIES:
            return True
        cause = cause.__cause__
    # what git says when it could not do its work, or that it was killed
    said = str(error)
    return said.startswith("git: ") or any(os.strerror(number) in said for number in REMEDIES)


def _full(folders: Iterable[Path]) -> Iterator[str]:
    for folder in folders:
        with suppress(OSError, AttributeError):  # a system without such a call
            found = os.statvfs(folder)
            if not found.f_bavail or (found.f_files and not found.f_favail):
                yield f"the disk of {str(folder)!r}"
