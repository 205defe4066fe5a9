"""One child process and everything that descends from it."""

from __future__ import annotations

import contextlib
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

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
from pytest_fireloop.act.output import Output

#: How long an agent may stay after its final event.
GRACE_S = 30.0


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child ended; `exit_code` is negative for a signal and None when it could not start.

    `lingered` says that it was ended because it stayed after its final event, `hopeless` that it would only have repeated a failure.
    """

    exit_code: int | None
    timed_out: bool = False
    stopped: bool = False
    output: Path | None = None
    output_bytes: int = 0
    duration_s: float = 0.0
    killed: int = 0
    problem: str | None = None
    lingered: bool = False
    hopeless: bool = False


class Watch(Protocol):
    """Reads a child's output as it comes, in another thread."""

    @property
    def delivered(self) -> bool:
        """Whether the child has said its last and should end now."""

    @property
    def hopeless(self) -> bool:
        """Whether the child is better ended."""

    def line(self, text: str, *, error: bool) -> None:
        """Take one line of output, or of error output."""


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
    watch: Watch | None = None,
    grace_s: float = GRACE_S,
) -> Finished:
    """Run a command in a session of its own, its output in a capped file; on the way out every descendant is dead.

    With `watch` error output is a pipe apart, so that no line of the one is torn by the other.
    """
    become_subreaper()
    mark = secrets.token_hex(12)
    started = time.monotonic()
    note = Note(output, mark)
    held = contextlib.ExitStack()
    # an interrupt right after the start comes through below, where what was started is ended
    held.enter_context(signals_held())
    try:
        with LOCK:  # no sweep for orphans may meet a child before it is known
            process = subprocess.Popen(
                list(argv),
                cwd=cwd,
                env={**environment, MARK: mark},
                stdin=subprocess.DEVNULL if standard_input is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if watch is None else subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
            RUNNING.add(process.pid)
        note.began(process.pid)
    except (OSError, ValueError) as error:
        held.close()
        note.ended()
        return Finished(None, problem=f"cannot start {argv[0]!r}: {error}")
    on_line = None if watch is None else _guarded(watch)
    reader = Output(process, output, output_limit, on_line)
    if standard_input is not None:
        threading.Thread(target=_feed, args=(process, standard_input), daemon=True).start()
    timed_out = stopped = lingered = hopeless = False
    delivered_at = None
    try:
        held.close()
        while process.poll() is None:
            now = time.monotonic()
            if watch is not None:
                delivered_at = (delivered_at or now) if watch.delivered else None
                lingered = delivered_at is not None and now - delivered_at > grace_s
                hopeless = watch.hopeless
            timed_out = now - started > timeout_s
            stopped = stop is not None and stop()
            if timed_out or stopped or lingered or hopeless:
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
        # killed and not seen to end, as on a machine that is too busy for it
        -signal.SIGKILL if process.returncode is None else process.returncode,
        timed_out=timed_out,
        stopped=stopped,
        output=output,
        output_bytes=reader.total,
        duration_s=time.monotonic() - started,
        killed=killed,
        lingered=lingered,
        hopeless=hopeless,
    )


def _guarded(watch: Watch) -> Callable[[str, bool], None]:
    """Hand lines on; what reads them may be another package's, and a fault of it must not stop the draining."""

    def on_line(text: str, error: bool) -> None:
        with contextlib.suppress(Exception):
            watch.line(text, error=error)

    return on_line


def _feed(process: subprocess.Popen[bytes], content: bytes) -> None:
    assert process.stdin is not None
    left = memoryview(content)
    with contextlib.suppress(OSError):  # a child that does not read its input is its own affair
        while left:
            left = left[process.stdin.write(left) or 0 :]
    with contextlib.suppress(OSError):
        process.stdin.close()
