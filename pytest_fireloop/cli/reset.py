"""`fireloop reset`: close the circuit and begin anew."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pytest_fireloop.act.lock import TreeLock
from pytest_fireloop.cli.tree import TreeState, parser
from pytest_fireloop.judge import circuit
from pytest_fireloop.remember.journal import Journal, LoopRow
from pytest_fireloop.remember.journal_error import JournalDamagedError, JournalNewerError
from pytest_fireloop.remember.journal_file import move_aside

CLOSED = "the circuit is closed; the next red run begins a new loop"


def main(argv: Sequence[str]) -> int:
    """End the open loops and close the circuits of all; a journal that we cannot read is moved aside, never deleted."""
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
            if row.verdict in {None, "circuit_open"} or row.circuit.get("state", circuit.CLOSED) != circuit.CLOSED:
                # what it came to stays in the history
                journal.reset(row.loop_id)
    except JournalDamagedError as error:
        aside = move_aside(state.journal_path, "newer" if isinstance(error, JournalNewerError) else "damaged")
        sys.stdout.write(f"what stood there for a journal is kept as {aside}\n{CLOSED}, with a journal of its own\n")
        return 0
    finally:
        if lock is not None:
            lock.release()
    sys.stdout.write(f"{CLOSED}, `fireloop resume` goes on with the last one\n")
    return 0


def _came_to(journal: Journal, row: LoopRow) -> str:
    """Return the verdict of a loop that nobody ended: its circuit may have been open."""
    rows = journal.iterations(row.loop_id)
    try:
        decision = (rows[-1].get("decision") if rows else None) or {}
        return "circuit_open" if (decision.get("circuit") or {}).get("state") == "OPEN" else "interrupted"
    except AttributeError as error:
        raise journal.damaged(error) from error
