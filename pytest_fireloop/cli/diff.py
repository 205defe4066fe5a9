"""`fireloop diff`: what changed between the baseline and an iteration."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.cli.tree import TreeState, parser
from pytest_fireloop.observe.text import clean


def main(argv: Sequence[str]) -> int:
    """Print the difference as a patch and return 0."""
    made = parser("diff", "Show what changed from the baseline to an iteration.", "fireloop diff best")
    made.add_argument("target", nargs="?", metavar="[ID:]ITERATION|best", help="default: the last iteration")
    options = made.parse_args(argv)
    state = TreeState(options.fire_loop_dir)
    journal = state.journal(to_read=True)
    row, _, commit = state.iteration(journal, options.target)
    baseline = journal.iterations(row.loop_id)[0]["checkpoint"]
    text = Checkpoints.open(state.folder / "checkpoints.git", state.tree).diff(baseline, commit)
    sys.stdout.write(clean(text, max(len(text), 1)) if sys.stdout.isatty() else text)
    return 0
