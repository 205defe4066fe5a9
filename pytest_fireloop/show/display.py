"""Lines while a loop runs, on the terminal or on standard error, and a live clock where someone watches."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
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
        if not self._live:
            yield
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        console = Console(file=self._stream, no_color="NO_COLOR" in os.environ, markup=False, highlight=False)
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True, refresh_per_second=4) as progress:
            progress.add_task(one_line(text, 100), total=None)
            yield

    @contextlib.contextmanager
    def countdown(self, text: str, seconds: float) -> Iterator[None]:
        """Show how long a wait still takes, on a terminal only."""
        if not self._live:
            yield
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(file=self._stream, no_color="NO_COLOR" in os.environ, markup=False, highlight=False)
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True, refresh_per_second=4) as progress:
            task = progress.add_task(one_line(text, 100), total=seconds)
            started = time.monotonic()
            ticker = _Ticker(lambda: progress.update(task, completed=time.monotonic() - started))
            with ticker:
                yield

    @property
    def _live(self) -> bool:
        return not self._quiet and self._stream.isatty() and os.environ.get("TERM") != "dumb"

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


class _Ticker:
    """Calls something every quarter of a second while a wait lasts."""

    def __init__(self, tick: Callable[[], object]) -> None:
        self._tick, self._done = tick, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._done.wait(0.25):
            self._tick()
