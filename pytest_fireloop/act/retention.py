"""What is kept of past loops: the newest ones with all that they stored, and whatever is still open."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fireloop.act.checkpoints import CheckpointError, Checkpoints
from pytest_fireloop.act.end_signals import finish_undisturbed, interrupt_work
from pytest_fireloop.remember.journal import Journal, LoopRow
from pytest_fireloop.remember.journal_error import JournalError

#: Loops that are kept unless another number is asked for, and how many more there may be before the rest is dropped.
KEPT, SLACK = 50, 10
#: Checkpoints of no loop that are kept: the newest runs of pytest, and the states before a restore.
LOOSE = 100
#: Checkpoints since the last time that are too many, seen without asking git.
UNPACKED = 500


@dataclass(frozen=True, slots=True)
class Pruned:
    """Loops that were dropped, and how many checkpoints went with them."""

    loops: tuple[str, ...]
    checkpoints: int


def expendable(loops: Sequence[LoopRow], keep: int) -> tuple[str, ...]:
    """Return the loops beyond the newest ones, those that are open apart; `loops` are given newest first."""
    return tuple(row.loop_id for row in loops[keep:] if row.verdict is not None)


def prune(state: Path, journal: Journal, checkpoints: Checkpoints, keep: int = KEPT) -> Pruned:
    """Drop all but the newest loops: their rows, their folders, their checkpoints; the caller holds the tree's lock."""
    gone = expendable(journal.loops(), keep)
    for loop_id in gone:
        journal.forget(loop_id)
        shutil.rmtree(state / "loops" / loop_id, ignore_errors=True)
    dropped = checkpoints.forget_all_but(_wanted(journal, checkpoints))
    return Pruned(gone, dropped)


def is_due(journal: Journal, checkpoints: Checkpoints) -> bool:
    """Whether much more than what is kept has come together."""
    return len(expendable(journal.loops(), KEPT)) > SLACK or checkpoints.unpacked() > UNPACKED


def keep_small(state: Path, journal: Journal, checkpoints: Checkpoints) -> str | None:
    """Drop old loops where it is time, and return a line on it; where it cannot be done now, the next loop does it."""
    try:
        if not is_due(journal, checkpoints):
            return None
        interrupt_work()  # it may take long, and nothing is lost by a stop
        done = prune(state, journal, checkpoints)
    except (CheckpointError, JournalError, OSError, KeyboardInterrupt) as error:
        return f"warning: old loops could not be dropped: {str(error) or 'interrupted'}"
    finally:
        finish_undisturbed()
    return f"{len(done.loops)} old loops and their checkpoints are dropped; the newest {KEPT} are kept"


def _wanted(journal: Journal, checkpoints: Checkpoints) -> Collection[str]:
    held = journal.checkpoints()
    loose = [commit for commit in checkpoints.newest_first() if commit not in held]
    return held | set(loose[:LOOSE])
