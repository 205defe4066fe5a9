"""What a runner that was killed left behind: noted while a child runs, ended when the next loop of the tree begins."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from pytest_fireloop.act.descendants import KILL_LIMIT_S, POLL_S, marked_or_in_session, send

SUFFIX = ".child"
BOOT = Path("/proc/sys/kernel/random/boot_id")


class Note:
    """Mark and session of one child, on disk for as long as it runs; where that cannot be, there is none."""

    def __init__(self, output: Path, mark: str) -> None:
        self._path, self._mark = output.with_suffix(SUFFIX), mark
        # before the child is there: a runner may be killed at any moment
        self.began(0)

    def began(self, session: int) -> None:
        """Add the session of the child that was started."""
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"mark": self._mark, "session": session, "boot": _boot()})
            self._path.write_text(text, encoding="utf-8")

    def ended(self) -> None:
        """Forget the child: nothing of it is left."""
        with suppress(OSError):
            self._path.unlink()


def end_left_behind(folder: Path) -> int:
    """End the processes of every note below a folder, by their mark or their session, and return how many there were.

    The caller holds the tree's lock, so that no note is of a runner that lives.
    """
    ended = 0
    for note in sorted(folder.rglob(f"*{SUFFIX}")):
        try:
            data = json.loads(note.read_text(encoding="utf-8"))
            mark, session = str(data["mark"]), int(data["session"])
            same_boot = data["boot"] == _boot()
        except (OSError, ValueError, KeyError, TypeError):
            same_boot = False
        if same_boot:
            ended += _end(mark, session)
        with suppress(OSError):
            note.unlink()
    return ended


def _end(mark: str, session: int) -> int:
    found: set[int] = set()
    deadline = time.monotonic() + KILL_LIMIT_S
    while (left := marked_or_in_session(mark, session) - {os.getpid()}) and time.monotonic() < deadline:
        found |= left
        send(left, signal.SIGKILL)
        time.sleep(POLL_S)
    return len(found)


def _boot() -> str:
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
