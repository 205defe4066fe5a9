"""The record on disk: one JSON object that can be read at any moment, however the process ends."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from json import dumps, loads
from json.encoder import encode_basestring_ascii
from typing import Any

__all__ = ["ATTRIBUTE", "SCHEMA", "RecordFile", "dumps", "loads"]

SCHEMA = "fireloop.run/1"
#: The report attribute that carries a failure over xdist: one ASCII string, for nothing else survives the wire safely.
ATTRIBUTE = "fireloop_failure"
#: What a record says from its first byte on, until the run ends by itself.
UNFINISHED: dict[str, Any] = {
    "duration_s": 0.0,
    "exit_code": None,
    "complete": False,
    "incomplete_reason": "the run did not end by itself",
    "not_run": [],
    "collection_errors": [],
}
CHUNK = 1 << 16
#: Below the usual limit of open files; beyond it a process would pay for an ever larger table.
HIGH = 990


class RecordFile:
    """Grows in place with one write a step, each of which leaves whole JSON; the end replaces the file.

    Holds the functions that it needs, for tested code may replace them in their modules, and writes only to the file
    that it made and from the process that made it, for tested code may close descriptors and fork. A descriptor that it
    closed is opened again by name.
    """

    def __init__(self, path: str, header: dict[str, Any]) -> None:
        self.path = os.path.realpath(path)
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise OSError(f"{path} is no file, and is left as it is")
        self._write, self._unlink = _write_at, os.unlink
        self._system = (os.getpid, os.fstat, os.open, os.close, os.read, os.lseek, os.write, os.replace)
        self._pid = os.getpid()
        self._tail = dumps(UNFINISHED)[1:]
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self._temporary = f"{self.path}.{os.getpid()}.tmp"
        start = (dumps(header)[:-1] + ', "tests": [').encode("ascii")
        self._descriptor = os.open(self._temporary, FLAGS | os.O_CREAT | os.O_TRUNC, 0o600)
        self._descriptor = _out_of_the_way(self._descriptor)
        self._identity = _identity(os.fstat(self._descriptor))
        self._end, self._length, self._first = len(start), 0, True
        try:
            _write_all(os.write, self._descriptor, start)
            self.grow("", None, 0)
            os.replace(self._temporary, self.path)
        except OSError:
            os.close(self._descriptor)
            with suppress(OSError):
                os.unlink(self._temporary)
            raise

    def grow(self, rows: str, in_flight: str | None, collected: int, counts: str = "{}", failures: str = "[]") -> None:
        """Add finished tests' rows, or none, and name the test in flight, in one write."""
        getpid, *_ = self._system
        if getpid() != self._pid:
            return
        if rows:
            rows = rows if self._first else f",{rows}"
            self._first = False
        flying = "null" if in_flight is None else encode_basestring_ascii(in_flight)
        text = (
            f'{rows}], "collected": {collected}, "in_flight": {flying}, "counts": {counts}, "failures": {failures}, '
            f"{self._tail}"
        )
        spare = self._length - self._end - len(text)
        data = (text + " " * spare).encode("ascii")
        try:
            written = self._write(self._descriptor, data, self._end)
        except OSError:
            written = self._write(self._own_descriptor(), data, self._end)
        if written != len(data):
            self._unlink(self.path)  # half a write is no JSON
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
        self._length = max(self._length, self._end + len(text))
        self._end += len(rows)

    def close(self) -> None:
        """Leave the file as it is."""
        os.close(self._descriptor)

    def remove(self) -> None:
        """Delete the file; a child of the process that made it does not."""
        if self._system[0]() == self._pid:
            self._unlink(self.path)

    def finish(self, tail: dict[str, Any]) -> None:
        """Put the rows and what the end of the run adds into a new file and replace the old one by it."""
        getpid, _, open_, close, read, seek, write, replace = self._system
        if getpid() != self._pid:
            return
        source = self._own_descriptor()
        target = open_(self._temporary, FLAGS | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            seek(source, 0, 0)
            left = self._end
            while left > 0:
                chunk = read(source, min(CHUNK, left))
                if not chunk:
                    raise OSError(f"{self.path}: the rows are gone")
                _write_all(write, target, chunk)
                left -= len(chunk)
            for piece in ("], ", dumps(tail)[1:], "\n"):
                _write_all(write, target, piece.encode("ascii"))
        finally:
            close(target)
        replace(self._temporary, self.path)

    def _own_descriptor(self) -> int:
        """Return the descriptor, opened again by name when tested code closed it; raises OSError when it is lost."""
        _, fstat, open_, *_ = self._system
        try:
            if _identity(fstat(self._descriptor)) == self._identity:
                return self._descriptor
        except OSError:
            pass
        self._descriptor = open_(self.path, FLAGS)
        if _identity(fstat(self._descriptor)) != self._identity:
            raise OSError(f"{self.path}: another process has replaced the record")
        return self._descriptor


FLAGS = os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def _out_of_the_way(descriptor: int) -> int:
    """Move a descriptor to a high number, which no file gets that is opened after tested code closed ours."""
    try:
        os.fstat(HIGH)
    except OSError:
        try:
            # no module for limits is asked: a project may have one of its own by that name
            os.dup2(descriptor, HIGH, inheritable=False)
        except OSError:
            return descriptor
        os.close(descriptor)
        return HIGH
    return descriptor


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _write_all(write: Any, descriptor: int, data: bytes) -> None:
    while data:
        data = data[write(descriptor, data) :]


def _seek_and_write(descriptor: int, data: bytes, offset: int) -> int:
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.write(descriptor, data)


#: Where the system has no positioned write, seek first.
_write_at = getattr(os, "pwrite", _seek_and_write)
