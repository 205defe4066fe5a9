"""`fireloop report`: what was done to tests and product, so that a person can decide."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.loop_report import report_of
from pytest_fireloop.cli.tree import TreeState, parser
from pytest_fireloop.show.report import report_lines


def main(argv: Sequence[str]) -> int:
    """Print the report of one loop and return 0."""
    made = parser(
        "report",
        "Show what a loop did to tests and product, and which green runs were not believed.",
        "fireloop report --json",
    )
    made.add_argument("loop", nargs="?", metavar="ID", help="default: this tree's last loop")
    made.add_argument("--json", action="store_true", help="one JSON object")
    options = made.parse_args(argv)
    state = TreeState(options.fire_loop_dir)
    journal = state.journal(to_read=True)
    row = state.loop(journal, options.loop)
    report = report_of(
        row, journal.iterations(row.loop_id), Checkpoints.open(state.folder / "checkpoints.git", state.tree)
    )
    sys.stdout.write((json.dumps(report) if options.json else "\n".join(report_lines(report))) + "\n")
    return 0
