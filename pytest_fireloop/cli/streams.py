"""The standard streams as a service or a scheduled job may leave them: closed, or too narrow for what is to be said."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_streams() -> None:
    """Put the null device where a stream is closed, and write what an encoding lacks as an escape.

    Else the next file that is opened would get the number of the stream, and what is meant for the stream.
    """
    for number, (name, mode) in enumerate(STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for the whole process
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # something else that writes, as under a test runner
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def discard_output() -> None:
    """Let nothing more be written to a standard output that nobody reads."""
    _discard(sys.stdout)


def settle_output() -> str | None:
    """Write what still waits for the standard streams; return why standard output takes none of it, and then discard it.

    Else the interpreter would try it at its very end, and turn any exit code into 120.
    """
    with contextlib.suppress(OSError, ValueError):
        if _waits(sys.stderr):
            _discard(sys.stderr)
    try:
        sys.stdout.flush()
    except ValueError:  # closed by somebody
        return None
    except OSError as error:
        discard_output()
        return cannot_write(error)
    return None


def cannot_write(error: OSError) -> str:
    """Say that what was to be read is lost."""
    return f"standard output cannot be written: {error.strerror or error}"


def _waits(stream: TextIO) -> bool:
    try:
        stream.flush()
    except OSError:
        return True
    return False


def _discard(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
