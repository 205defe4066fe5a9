"""The signals that end a loop: an interrupt of its work, and nothing any more once it is at its end."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType

#: Interrupt from the keyboard, end of a service, loss of the terminal.
NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
#: Signals within this time of one that interrupted mean the same: a second interrupt would cut short what ends the children.
BURST_S = 2.0


def interrupt_work() -> None:
    """Let each of them interrupt the work; one that the caller ignores, as `nohup` does, stays ignored."""
    interrupted_at = float("-inf")

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal interrupted_at
        now = time.monotonic()
        if now - interrupted_at >= BURST_S:
            interrupted_at = now
            raise KeyboardInterrupt

    _handle(interrupt)


def finish_undisturbed() -> None:
    """Let none of them disturb what is left to do, which is short: the summary is written whole."""
    _handle(lambda _number, _frame: None)


def _handle(handler: Callable[[int, FrameType | None], None]) -> None:
    for name in NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
