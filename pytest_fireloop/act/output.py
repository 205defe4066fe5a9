"""What a child writes: drained as it comes, kept in a capped file, and handed on line by line where somebody reads it."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

LINGER_S = 2.0
#: What is handed on and kept of one line, in bytes.
LINE_LIMIT = 2_000_000
_CHUNK = 65_536

#: Takes a line, and whether it came by error output.
OnLine = Callable[[str, bool], None]


class CappedFile:
    """A file that keeps the head and the tail of what is too long."""

    def __init__(self, path: Path, limit: int) -> None:
        self.total = 0
        self._keep = limit // 2
        self._tail = bytearray()
        self._file: IO[bytes] | None = None
        with contextlib.suppress(OSError):  # without room for a log the child is drained all the same
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb")

    def write(self, content: bytes) -> None:
        """Add to the file; the head is on disk at once."""
        room = max(0, self._keep - self.total)
        self.total += len(content)
        if room and self._file is not None:
            with contextlib.suppress(OSError):  # a full disk must not stop the draining, on which the child would wait
                self._file.write(content[:room])
                self._file.flush()
        self._tail += content[room:]
        if len(self._tail) > 2 * self._keep:
            del self._tail[: len(self._tail) - self._keep]

    def close(self) -> None:
        """Write the tail."""
        if self._file is None:
            return
        dropped = self.total - min(self.total, self._keep) - min(len(self._tail), self._keep)
        with contextlib.suppress(OSError):
            if dropped > 0:
                self._file.write(b"\n[... %d bytes left out ...]\n" % dropped)
            self._file.write(self._tail[-self._keep :] if self._keep else b"")
        with contextlib.suppress(OSError):
            self._file.close()


class Lines:
    """Cuts bytes into lines; what a carriage return overwrites is dropped, and so is the rest of a line that is too long."""

    def __init__(self, sink: Callable[[bytes], None]) -> None:
        self._sink = sink
        self._line = bytearray()
        self._dropped = 0
        self._overwrites = False

    def feed(self, content: bytes) -> None:
        """Take some bytes."""
        *whole, rest = content.split(b"\n")
        for part in whole:
            self._add(part)
            self._end()
        self._add(rest)

    def close(self) -> None:
        """Hand on the last line, which nothing ended."""
        if self._line:
            self._end()

    def _add(self, part: bytes) -> None:
        if not part:
            return
        shown = part.rstrip(b"\r")
        start = shown.rfind(b"\r") + 1
        if start or (self._overwrites and shown):
            self._line.clear()
            self._dropped = 0
            shown = shown[start:]
        self._overwrites = part.endswith(b"\r")
        room = LINE_LIMIT - len(self._line)
        self._line += shown[:room]
        self._dropped += max(0, len(shown) - room)

    def _end(self) -> None:
        if self._dropped:
            self._line += b" [... %d bytes left out ...]" % self._dropped
        self._sink(bytes(self._line))
        self._line.clear()
        self._dropped, self._overwrites = 0, False


class Output:
    """Drains a child's pipes in a thread of its own; with `on_line` its error output is a pipe apart."""

    def __init__(self, process: subprocess.Popen[bytes], path: Path, limit: int, on_line: OnLine | None = None) -> None:
        self._file = CappedFile(path, limit)
        self._closed = False
        self._on_line = on_line
        self._pipes: dict[int, tuple[IO[bytes], Callable[[bytes], None], Lines | None]] = {}
        for pipe, error in ((process.stdout, False), (process.stderr, True)):
            if pipe is None:
                continue
            lines = Lines(self._handing_on(error=error)) if on_line else None
            self._pipes[pipe.fileno()] = (pipe, lines.feed if lines else self._file.write, lines)
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    @property
    def total(self) -> int:
        """Bytes that came, without what was overwritten or belongs to lines that are too long."""
        return self._file.total

    def close(self) -> None:
        """Wait shortly for what is left in the pipes, then hand on the last lines and close the file."""
        self._thread.join(LINGER_S)
        ended = not self._thread.is_alive()
        self._closed = True
        for pipe, _, lines in self._pipes.values():
            if ended:
                if lines:
                    self._closed = False
                    lines.close()
                    self._closed = True
                pipe.close()
        self._file.close()

    def _handing_on(self, *, error: bool) -> Callable[[bytes], None]:
        on_line = self._on_line
        assert on_line is not None

        def hand_on(line: bytes) -> None:
            if not self._closed:
                self._file.write(line + b"\n")
                on_line(line.decode("utf-8", "replace"), error)

        return hand_on

    def _drain(self) -> None:
        with selectors.DefaultSelector() as selector:
            for descriptor in self._pipes:
                selector.register(descriptor, selectors.EVENT_READ)
            while selector.get_map():
                for key, _ in selector.select():
                    try:
                        chunk = os.read(key.fd, _CHUNK)
                    except OSError:
                        chunk = b""
                    if not chunk:
                        selector.unregister(key.fd)
                    elif not self._closed:
                        self._pipes[key.fd][1](chunk)
