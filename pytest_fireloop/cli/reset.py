"""`fireloop reset`: close the circuit and begin anew."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from pytest_fireloop.act.lock import TreeLock
from pytest_fireloop.cli.tree import TreeState, parser
from pytest_fireloop.judge.circuit import CLOSED
from pytest_fireloop.remember.journal import Journal, JournalDamagedError, LoopRow


def main(argv: Sequence[str]) -> int:
    """End the open loops and close the circuits of all; a damaged journal is moved aside, never deleted."""
    made = parser("reset", "Close the circuit and begin anew with the next run.", "fireloop reset")
    state = TreeState(made.parse_args(argv).fire_loop_dir)
    lock = TreeLock(state.folder) if state.folder.exists() else None
    try:
        journal = state.journal()
        journal.check()
        for row in journal.loops():
            if row.verdict is None:
                journal.end_loop(
                    row.loop_id, _came_to(journal, row), {**(row.data.get("summary") or {}), "reason": "reset"}
                )
            if row.verdict in {None, "circuit_open"} or row.circuit.get("state", CLOSED) != CLOSED:
                # what it came to stays in the history
                journal.reset(row.loop_id)
    except JournalDamagedError:
        aside = state.journal_path.with_suffix(f".damaged-{int(time.time())}")
        os.replace(state.journal_path, aside)
        sys.stdout.write(f"the damaged journal is kept as {aside}\n")
    finally:
        if lock is not None:
            lock.release()
    sys.stdout.write(
        "the circuit is closed; the next red run begins a new loop, `fireloop resume` goes on with the last one\n"
    )
    return 0


def _came_to(journal: Journal, row: LoopRow) -> str:
    """Return the verdict of a loop that nobody ended: its circuit may have been open."""
    rows = journal.iterations(row.loop_id)
    try:
        decision = (rows[-1].get("decision") if rows else None) or {}
        return "circuit_open" if (decision.get("circuit") or {}).get("state") == "OPEN" else "interrupted"
    except AttributeError as error:
        raise journal.damaged(error) from error
