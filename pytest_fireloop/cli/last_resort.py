"""The last guard between a command and the user's terminal."""

from __future__ import annotations

import os
from collections.abc import Callable

from pytest_fireloop.cli.arguments import usage_error
from pytest_fireloop.cli.streams import discard_output, open_streams
from pytest_fireloop.judge.verdict import EXIT_CODES


def guarded(program: str, run: Callable[[], int], *, told: bool = False) -> int:
    """Run a command and return its exit code; a fault of ours is one line and 3, an interrupt is 2.

    With `told` a loop's summary tells scripts of an interrupt that came before one could begin.
    """
    open_streams()
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
        usage_error(program, internal_error(error))
        return EXIT_CODES["error"]


def internal_error(error: Exception) -> str:
    """Name a fault of ours in one line."""
    return f"internal error: {type(error).__name__}: {error} (FIRELOOP_DEBUG=1 shows where)"
