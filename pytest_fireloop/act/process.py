"""One child process and everything that descends from it."""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Carried by every process that descends from a call, whatever sessions and parents it takes.
MARK = "FIRELOOP_MARK"
INTERRUPT_GRACE_S = 2.0
TERMINATE_GRACE_S = 2.0
LINGER_S = 0.25
POLL_S = 0.02
PR_SET_CHILD_SUBREAPER = 36


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
    before_kill: Callable[[], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Finished:
    """Run a command in a session of its own, its output in a capped file; on the way out every descendant is dead."""
    become_subreaper()
    mark = secrets.token_hex(12)
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env={**environment, MARK: mark},
            stdin=subprocess.DEVNULL if standard_input is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
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
                if before_kill is not None:
                    before_kill()
                break
            time.sleep(POLL_S)
    finally:
        killed = end_tree(process, mark, gently=process.poll() is None)
        reader.close()
    return Finished(
        process.returncode,
        timed_out=timed_out,
        stopped=stopped,
        output=output,
        output_bytes=reader.total,
        duration_s=time.monotonic() - started,
        killed=killed,
    )


def end_tree(process: subprocess.Popen[bytes], mark: str, *, gently: bool) -> int:
    """End a child and all that carry its mark or descend from it: interrupt, terminate, kill; return how many were left over."""
    if gently:
        for signal_number, grace in ((signal.SIGINT, INTERRUPT_GRACE_S), (signal.SIGTERM, TERMINATE_GRACE_S)):
            _signal(members(process.pid, mark), signal_number)
            deadline = time.monotonic() + grace
            while time.monotonic() < deadline and process.poll() is None:
                time.sleep(POLL_S)
            if process.poll() is not None:
                break
    killed = 0
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        left = members(process.pid, mark)
        if not left:
            break
        killed = max(killed, len(left))
        _signal(left, signal.SIGKILL)
        time.sleep(POLL_S)
        _reap(left - {process.pid})
        process.poll()
    process.poll()
    return killed


def members(root: int, mark: str) -> set[int]:
    """Find the living processes that descend from a process or carry the mark; without /proc, the process group alone."""
    if not os.path.isdir("/proc/self"):
        return {root} if _alive(root) else set()
    parents: dict[int, int] = {}
    marked: set[int] = set()
    needle = f"{MARK}={mark}".encode()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        pid = int(name)
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            if fields[0] in {b"Z", b"X"}:
                continue
            parents[pid] = int(fields[1])
            with open(f"/proc/{pid}/environ", "rb") as file:
                if needle in file.read():
                    marked.add(pid)
        except (OSError, IndexError, ValueError):
            continue
    found = marked | ({root} if root in parents else set())
    growing = True
    while growing:
        more = {pid for pid, parent in parents.items() if parent in found and pid not in found}
        growing = bool(more)
        found |= more
    found.discard(os.getpid())
    return found


def become_subreaper() -> None:
    """On Linux, let orphans of our children come to us instead of leaving our sight."""
    if sys.platform.startswith("linux"):
        try:
            ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        except (OSError, AttributeError):
            return


def _alive(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except OSError:
        return False
    return True


def _signal(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            if os.path.isdir("/proc/self"):
                os.kill(pid, number)
            else:
                os.killpg(pid, number)
        except OSError:
            continue


def _reap(pids: set[int]) -> None:
    for pid in pids:
        try:
            os.waitpid(pid, os.WNOHANG)
        except OSError:
            continue


def _feed(process: subprocess.Popen[bytes], content: bytes) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(content)
        process.stdin.close()
    except OSError:
        return  # the child does not read its input, which is its own affair


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
