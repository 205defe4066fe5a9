"""Plain lines while a loop runs, on the terminal or on standard error."""

from __future__ import annotations

import sys
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
