"""The standard streams as a service or a scheduled job may leave them: closed, or too narrow for what is to be said."""

from __future__ import annotations

import contextlib
import os
import sys

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
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
