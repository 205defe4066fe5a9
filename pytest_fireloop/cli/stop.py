"""`fireloop stop`: ask the running loop to stop."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pytest_fireloop.act.lock import LockedError, TreeLock
from pytest_fireloop.cli.arguments import usage_error
from pytest_fireloop.cli.tree import TreeState, parser


def main(argv: Sequence[str]) -> int:
    """Leave the request and return 0."""
    made = parser("stop", "Ask the running loop to stop before its next agent call.", "fireloop stop")
    state = TreeState(made.parse_args(argv).fire_loop_dir)
    journal = state.journal()
    try:
        TreeLock(state.folder).release()
    except LockedError:
        journal.request("stop")
    else:
        return usage_error("fireloop stop", "no loop is running here")
    sys.stdout.write("the loop stops before its next agent call\n")
    return 0
