"""Argument types and the one-line error that all commands share."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import suppress
from typing import NoReturn

from pytest_fireloop.judge.verdict import EXIT_CODES

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
DURATION = re.compile(r"(\d+(?:\.\d+)?)([smh]?)")


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line and exits with 4."""

    def error(self, message: str) -> NoReturn:
        """Print one line, exit with 4."""
        sys.exit(usage_error(self.prog, message))


def version() -> str:
    """Return the installed version of this package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("pytest-fireloop")
    except PackageNotFoundError:  # run from a folder that was never installed
        return "unknown"


def usage_error(program: str, message: str) -> int:
    """Print one line on standard error and return 4."""
    text = " ".join(message.split())
    with suppress(OSError):  # nobody can be told; the exit code still tells
        sys.stderr.write(f"{program}: {text}\n".encode("ascii", "backslashreplace").decode("ascii"))
    return EXIT_CODES["usage"]


def duration(text: str) -> float:
    """Read `90`, `90s`, `30m` or `8h` as seconds."""
    found = DURATION.fullmatch(text.strip())
    if found is None or float(found[1]) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write 90, 90s, 30m or 8h")
    return float(found[1]) * UNITS[found[2]]


def amount(text: str) -> float:
    """Read an amount of money above 0, in USD."""
    try:
        number = float(text.strip().removeprefix("$"))
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no amount of USD above 0")
    return number


def count(text: str) -> int:
    """Read a whole number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return number
