"""The last guard between a command and the user's terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from pytest_fireloop.cli.arguments import usage_error
from pytest_fireloop.judge.verdict import EXIT_CODES


def guarded(program: str, run: Callable[[], int]) -> int:
    """Run a command and return its exit code; a fault of ours is one line and 3, an interrupt is 2."""
    try:
        return run()
    except KeyboardInterrupt:
        return EXIT_CODES["interrupted"]
    except BrokenPipeError:
        # the reader went away, as `head` does; never 0, for what was to be said may have been red
        discard_output()
        return EXIT_CODES["error"]
    except Exception as error:  # the last guard
        if os.environ.get("FIRELOOP_DEBUG"):
            raise
        usage_error(program, f"internal error: {type(error).__name__}: {error} (FIRELOOP_DEBUG=1 shows where)")
        return EXIT_CODES["error"]


def discard_output() -> None:
    """Let nothing more be written to a standard output that nobody reads."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
