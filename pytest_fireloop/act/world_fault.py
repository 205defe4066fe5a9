"""Faults of the world, no fault of ours: a disk that is full or cannot be written."""

from __future__ import annotations

import errno

#: What a person can mend, by the error's number.
REMEDIES = {
    errno.ENOSPC: "make room",
    errno.EDQUOT: "make room in your quota",
    errno.EROFS: "make the folder writable, or name another one with --fire-loop-dir",
    errno.EACCES: "make the folder writable, or name another one with --fire-loop-dir",
    errno.EPERM: "make the folder writable, or name another one with --fire-loop-dir",
    errno.EIO: "look after the disk",
    errno.EMFILE: "raise the limit of open files",
    errno.ENFILE: "let other programs close files",
    errno.ESTALE: "mount the file system anew",
}


def told(error: OSError) -> str | None:
    """Return what happened and what to do in one line, None for an error that tells of a fault of ours."""
    remedy = REMEDIES.get(error.errno or 0)
    if remedy is None:
        return None
    where = f" {str(error.filename)!r}" if error.filename is not None else ""
    return f"cannot use{where}: {error.strerror}; {remedy}, then `fireloop resume` goes on"
