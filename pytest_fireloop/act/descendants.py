"""Finding and ending what descends from a child, whatever sessions, parents and environments it takes."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: Carried in the environment by every process that descends from a call.
MARK = "FIRELOOP_MARK"
INTERRUPT_GRACE_S = 2.0
TERMINATE_GRACE_S = 2.0
POLL_S = 0.02
KILL_LIMIT_S = 10.0
PR_SET_CHILD_SUBREAPER = 36
#: Direct children that are being waited for, by any thread.
RUNNING: set[int] = set()
LOCK = threading.Lock()


def end_tree(process: subprocess.Popen[bytes], mark: str, *, gently: bool) -> int:
    """End a child and all that carry its mark or descend from it: interrupt, terminate, kill; return how many were left over."""
    if gently:
        for signal_number, grace in ((signal.SIGINT, INTERRUPT_GRACE_S), (signal.SIGTERM, TERMINATE_GRACE_S)):
            send(members(process.pid, mark), signal_number)
            deadline = time.monotonic() + grace
            while time.monotonic() < deadline and process.poll() is None:
                time.sleep(POLL_S)
            if process.poll() is not None:
                break
    killed = 0
    deadline = time.monotonic() + KILL_LIMIT_S
    while time.monotonic() < deadline:
        left = members(process.pid, mark)
        if not left:
            break
        killed = max(killed, len(left))
        send(left, signal.SIGKILL)
        time.sleep(POLL_S)
        _reap(left - {process.pid})
        process.poll()
    with suppress(subprocess.TimeoutExpired):
        process.wait(max(0.0, deadline - time.monotonic()))
    return killed


def members(root: int, mark: str) -> set[int]:
    """Find the living processes that descend from a process or carry the mark; without /proc, the process group alone."""
    if not os.path.isdir("/proc/self"):
        return {root} if _alive(root) else set()
    parents = {pid: parent for pid, (parent, _) in _living().items()}
    marked = {pid for pid in parents if _carries(pid, f"{MARK}={mark}".encode())}
    found = marked | ({root} if root in parents else set())
    growing = True
    while growing:
        more = {pid for pid, parent in parents.items() if parent in found and pid not in found}
        growing = bool(more)
        found |= more
    found.discard(os.getpid())
    return found


def marked_or_in_session(mark: str, session: int) -> set[int]:
    """Find the living processes that carry a mark or are of a session, whose number lives as long as one of them does."""
    return {
        pid
        for pid, (_, its_session) in _living().items()
        if (session > 0 and its_session == session) or _carries(pid, f"{MARK}={mark}".encode())
    }


def orphans() -> set[int]:
    """Find the living processes that came to us as the subreaper: our children, but in a session that is not ours."""
    found = set()
    session = os.getsid(0)
    for pid, (parent, its_session) in _living().items():
        if parent == os.getpid() and its_session != session and pid not in RUNNING:
            found.add(pid)
    return found


def end_orphans() -> int:
    """Kill what left its tree and its environment behind; what it started comes to us in turn."""
    killed = 0
    deadline = time.monotonic() + KILL_LIMIT_S
    while (left := orphans()) and time.monotonic() < deadline:
        killed += len(left)
        send(left, signal.SIGKILL)
        time.sleep(POLL_S)
        _reap(left)
    return killed


def _living() -> dict[int, tuple[int, int]]:
    """Return parent and session of every process that is no zombie, by its id; empty without /proc."""
    found = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            # the first thread may have ended before the others, which work on or are still to die
            if fields[0] not in {b"Z", b"X"} or int(fields[17]) > 1:
                found[int(name)] = (int(fields[1]), int(fields[3]))
        except (OSError, IndexError, ValueError):
            continue
    return found


@contextmanager
def signals_held() -> Iterator[None]:
    """Hold back further interrupts while descendants are ended; one comes through afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    known = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]
    # what is ignored stays so, and is inherited by what is started meanwhile
    numbers = [number for number in known if number is not None and signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, _frame: received.append(number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        signal.raise_signal(received[0])


def become_subreaper() -> None:
    """On Linux, let orphans of our children come to us instead of leaving our sight."""
    if sys.platform.startswith("linux"):
        try:
            ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        except (OSError, AttributeError):
            return


def _carries(pid: int, mark: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark in file.read()
    except OSError:
        return False


def _alive(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except OSError:
        return False
    return True


def send(pids: set[int], number: signal.Signals) -> None:
    """Send a signal to processes, those that are gone left out."""
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
