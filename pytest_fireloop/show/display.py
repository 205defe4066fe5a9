"""Lines while a loop runs, on the terminal or on standard error, and a live clock where someone watches."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from pytest_fireloop.observe.text import one_line


class Display:
    """One event a line; text of tests and agents is cleaned before it is shown."""

    def __init__(self, *, machine_output: bool, quiet: bool, stream: TextIO | None = None) -> None:
        self._stream = stream or (sys.stderr if machine_output else sys.stdout)
        self._quiet = quiet

    def line(self, text: str) -> None:
        """Show one line, unless quiet was asked for."""
        if not self._quiet:
            self.always(text)

    @contextlib.contextmanager
    def working(self, text: str) -> Iterator[None]:
        """Show what is waited for and for how long, on a terminal only; the line goes when the wait ends."""
        if self._quiet or not self._stream.isatty() or os.environ.get("TERM") == "dumb":
            yield
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        console = Console(file=self._stream, no_color="NO_COLOR" in os.environ, markup=False, highlight=False)
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True, refresh_per_second=4) as progress:
            progress.add_task(one_line(text, 100), total=None)
            yield

    def always(self, text: str) -> None:
        """Show one line; a closed or narrow stream is no reason to end a loop."""
        indent = " " * (len(text) - len(text.lstrip(" ")))
        cleaned = indent + one_line(text, 1_000)
        encoding = self._stream.encoding or "ascii"
        try:
            self._stream.write(cleaned.encode(encoding, "backslashreplace").decode(encoding) + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            return
