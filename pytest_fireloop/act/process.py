"""One child process and everything that descends from it."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fireloop.act.descendants import (
    LOCK,
    MARK,
    POLL_S,
    RUNNING,
    become_subreaper,
    end_orphans,
    end_tree,
    signals_held,
)
from pytest_fireloop.act.left_behind import Note

LINGER_S = 0.25


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child ended; `exit_code` is negative for a signal and None when it could not start."""

    exit_code: int | None
    timed_out: bool = False
    stopped: bool = False
    output: Path | None = None
    output_bytes: int = 0
    duration_s: float = 0.0
    killed: int = 0
    problem: str | None = None


def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    output: Path,
    timeout_s: float,
    standard_input: bytes | None = None,
    output_limit: int = 50_000_000,
    stop: Callable[[], bool] | None = None,
) -> Finished:
    """Run a command in a session of its own, its output in a capped file; on the way out every descendant is dead."""
    become_subreaper()
    mark = secrets.token_hex(12)
    started = time.monotonic()
    note = Note(output, mark)
    try:
        with LOCK:  # no sweep for orphans may meet a child before it is known
            process = subprocess.Popen(
                list(argv),
                cwd=cwd,
                env={**environment, MARK: mark},
                stdin=subprocess.DEVNULL if standard_input is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                bufsize=0,
            )
            RUNNING.add(process.pid)
        note.began(process.pid)
    except (OSError, ValueError) as error:
        note.ended()
        return Finished(None, problem=f"cannot start {argv[0]!r}: {error}")
    reader = _Reader(process, output, output_limit)
    if standard_input is not None:
        threading.Thread(target=_feed, args=(process, standard_input), daemon=True).start()
    timed_out = stopped = False
    try:
        while process.poll() is None:
            if time.monotonic() - started > timeout_s:
                timed_out = True
            elif stop is not None and stop():
                stopped = True
            if timed_out or stopped:
                break
            time.sleep(POLL_S)
    finally:
        with signals_held():
            killed = end_tree(process, mark, gently=process.poll() is None)
            with LOCK:
                RUNNING.discard(process.pid)
                killed += end_orphans() if not RUNNING else 0
            reader.close()
        note.ended()
    return Finished(
        process.returncode,
        timed_out=timed_out,
        stopped=stopped,
        output=output,
        output_bytes=reader.total,
        duration_s=time.monotonic() - started,
        killed=killed,
    )


def _feed(process: subprocess.Popen[bytes], content: bytes) -> None:
    assert process.stdin is not None
    left = memoryview(content)
    with contextlib.suppress(OSError):  # a child that does not read its input is its own affair
        while left:
            left = left[process.stdin.write(left) or 0 :]
    with contextlib.suppress(OSError):
        process.stdin.close()


class _Reader:
    """Drains the pipe into a file, keeping the head and the tail of what is too long."""

    def __init__(self, process: subprocess.Popen[bytes], path: Path, limit: int) -> None:
        self.total = 0
        self._process = process
        self._limit = limit
        self._tail = bytearray()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb")
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        keep = self._limit // 2
        while True:
            try:
                chunk = os.read(descriptor, 65_536)
            except OSError:
                return
            if not chunk:
                return
            room = max(0, keep - self.total)
            self.total += len(chunk)
            if room:
                self._file.write(chunk[:room])
                self._file.flush()
            self._tail += chunk[room:]
            if len(self._tail) > 2 * keep:
                del self._tail[: len(self._tail) - keep]

    def close(self) -> None:
        self._thread.join(LINGER_S * 8)
        assert self._process.stdout is not None
        if not self._thread.is_alive():
            self._process.stdout.close()
        keep = self._limit // 2
        dropped = self.total - min(self.total, keep) - min(len(self._tail), keep)
        if dropped > 0:
            self._file.write(b"\n[... %d bytes left out ...]\n" % dropped)
        self._file.write(self._tail[-keep:] if keep else b"")
        self._file.close()
