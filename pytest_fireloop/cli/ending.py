"""How a loop's end is told: the summary for scripts on standard output, the lines for people beside it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_fireloop.cli.arguments import usage_error
from pytest_fireloop.cli.streams import cannot_write, settle_output
from pytest_fireloop.judge.verdict import EXIT_CODES, Ending

if TYPE_CHECKING:
    from pytest_fireloop.act.loop import Loop

BEFORE_IT_BEGAN = Ending("interrupted", "interrupted from the keyboard or by a signal, before the loop had begun")


def tell_ending(program: str, summary: Mapping[str, Any], *, machine_output: bool, quiet: bool) -> int:
    """Tell how a loop ended and return its exit code; a wrong usage is one line and no summary."""
    from pytest_fireloop.show.display import Display
    from pytest_fireloop.show.summary import summary_lines

    if summary["verdict"] == "usage":
        return usage_error(program, summary["reason"])
    lost = tell_scripts(summary) if machine_output else None
    display = Display(machine_output=machine_output, quiet=quiet)
    for line in summary_lines(summary):
        display.always(line)
    return _settled(program, int(summary["exit_code"]), lost, machine_output=machine_output)


def tell_early_ending(program: str, ending: Ending, *, machine_output: bool, loop: Loop | None = None) -> int:
    """Tell in one line what kept a loop from an end of its own, with a summary for scripts, and return the exit code."""
    from pytest_fireloop.act.progress import Progress, summarise

    usage_error(program, ending.reason)
    lost = None
    if machine_output:
        lost = tell_scripts(
            summarise(
                loop_id=loop.loop_id if loop else None,
                ending=ending,
                progress=loop.progress if loop else Progress(),
                verification=None,
                duration_s=loop.gate.time.elapsed if loop else 0.0,
                files_changed=0,
                loop_file=None,
            )
        )
    return _settled(program, ending.exit_code, lost, machine_output=machine_output)


def tell_scripts(summary: Mapping[str, Any]) -> str | None:
    """Write the summary as one line on standard output; return why it is lost."""
    try:
        sys.stdout.write(json.dumps(summary) + "\n")
    except OSError as error:  # nothing waits where output is not buffered
        return settle_output() or cannot_write(error)
    return settle_output()


def _settled(program: str, exit_code: int, lost: str | None, *, machine_output: bool) -> int:
    """Return the exit code of a loop whose lines may be lost: only a summary that scripts wait for makes green an error."""
    lost = settle_output() or lost
    if lost is None:
        return exit_code
    usage_error(program, f"{lost}; the loop ended with exit code {exit_code}")
    return EXIT_CODES["error"] if machine_output and exit_code == 0 else exit_code
