"""The last guard between a command and the user's terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from pytest_fireloop.cli.arguments import usage_error
from pytest_fireloop.cli.streams import discard_output, open_streams, settle_output
from pytest_fireloop.judge.verdict import EXIT_CODES


def guarded(program: str, run: Callable[[], int], *, told: bool = False) -> int:
    """Run a command and return its exit code; a fault of ours is one line and 3, an interrupt is 2, lost output never 0.

    With `told` a loop's summary tells scripts of an interrupt that came before one could begin.
    """
    open_streams()
    try:
        return _settled(program, _guarded(program, run, told=told))
    except SystemExit as ended:  # a usage, or help that was asked for
        sys.exit(_settled(program, int(ended.code or 0)))


def _settled(program: str, code: int) -> int:
    lost = settle_output()
    if lost is None or code:
        return code
    usage_error(program, lost)
    return EXIT_CODES["error"]


def _guarded(program: str, run: Callable[[], int], *, told: bool) -> int:
    try:
        return run()
    except KeyboardInterrupt:
        if told:
            from pytest_fireloop.cli.ending import BEFORE_IT_BEGAN, tell_early_ending

            return tell_early_ending(program, BEFORE_IT_BEGAN, machine_output=True)
        return EXIT_CODES["interrupted"]
    except BrokenPipeError:
        # the reader went away, as `head` does; never 0, for what was to be said may have been red
        discard_output()
        return EXIT_CODES["error"]
    except Exception as error:  # the last guard
        if os.environ.get("FIRELOOP_DEBUG"):
            raise
        usage_error(program, settle_output() or _of_the_world(error) or internal_error(error))
        return EXIT_CODES["error"]


def _of_the_world(error: Exception) -> str | None:
    from pytest_fireloop.act.world_fault import told

    if not isinstance(error, OSError):
        return None
    return told(error, unnamed="standard output or the disk", then="and try again")


def internal_error(error: Exception) -> str:
    """Name a fault of ours in one line."""
    return f"internal error: {type(error).__name__}: {error} (FIRELOOP_DEBUG=1 shows where)"
