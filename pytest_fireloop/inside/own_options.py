"""Options of ours that were given and do nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

#: Options that say how `--fire-loop` works.
BESIDE = frozenset({"--fire-loop-dir", "--fire-loop-profile", "--fire-loop-test-edits", "--fire-loop-force"})


def tell_unused(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name in one line those on the command line that have no effect; a fault of ours is left for another time."""
    with suppress(Exception):
        given = sorted({str(word).partition("=")[0] for word in config.invocation_params.args} & BESIDE)
        if given:
            verb = "has" if len(given) == 1 else "have"
            line = f"fire-loop: {', '.join(given)} {verb} no effect without --fire-loop"
            terminalreporter.write_line(line, yellow=True)
