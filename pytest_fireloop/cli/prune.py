"""`fireloop prune`: drop all but the newest loops."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.lock import TreeLock
from pytest_fireloop.act.retention import KEPT, expendable, prune
from pytest_fireloop.cli.arguments import count
from pytest_fireloop.cli.tree import TreeState, parser
from pytest_fireloop.observe.text import plural


def main(argv: Sequence[str]) -> int:
    """Drop what is beyond the newest loops, and return 0; an open loop is kept."""
    made = parser(
        "prune", "Drop all but the newest loops of this tree, with their checkpoints.", "fireloop prune --keep 5"
    )
    made.add_argument("--keep", type=count, default=KEPT, metavar="N", help=f"loops to keep; default: {KEPT}")
    made.add_argument("--dry-run", action="store_true", help="say what would be dropped; drop nothing")
    options = made.parse_args(argv)
    state = TreeState(options.fire_loop_dir)
    journal = state.journal()
    if options.dry_run:
        for loop_id in expendable(journal.loops(), options.keep):
            print(f"would drop {loop_id}")
        return 0
    lock = TreeLock(state.folder)
    try:
        done = prune(
            state.folder, journal, Checkpoints.open(state.folder / "checkpoints.git", state.tree), options.keep
        )
    finally:
        lock.release()
    dropped = f"{plural(len(done.loops), 'loop')} and {plural(done.checkpoints, 'checkpoint')}"
    print(f"dropped {dropped}; kept {plural(len(journal.loops()), 'loop')}")
    return 0
