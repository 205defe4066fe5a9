"""One loop a tree."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path


class LockedError(Exception):
    """Another loop holds this tree; the message says which."""


def is_held(folder: Path) -> bool:
    """Whether a loop works on a tree right now; where the system has no such locks, no loop does."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        descriptor = os.open(folder / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextlib.contextmanager
def in_line(folder: Path) -> Iterator[None]:
    """Let those that judge runs in one folder speak one after the other."""
    try:
        import fcntl
    except ImportError:  # no such locks here; the journal's own transactions still hold
        yield
        return
    descriptor = os.open(folder / "referee.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class TreeLock:
    """Held by the kernel for as long as this process lives; what the file says is for the message alone."""

    def __init__(self, folder: Path) -> None:
        import fcntl  # here, for commands that lock nothing run where there is none

        self._path = folder / "lock"
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._descriptor, 200, 0).decode("utf-8", "replace").strip() or "unknown"
            os.close(self._descriptor)
            raise LockedError(f"another loop works on this tree ({holder}); wait for it, or `fireloop stop`") from error
        import socket  # here, for each run of pytest asks for its turn, and only a loop tells where it is

        text = f"pid {os.getpid()} on {socket.gethostname()} since {time.strftime('%Y-%m-%d %H:%M:%S')}"
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)

    def release(self) -> None:
        """Let the next loop in."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
