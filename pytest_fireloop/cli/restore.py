"""`fireloop restore`: bring the files of an iteration back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.left_behind import end_left_behind
from pytest_fireloop.act.lock import TreeLock
from pytest_fireloop.act.restore_scope import others_of
from pytest_fireloop.act.user_repository import moves, read_state
from pytest_fireloop.cli.tree import NoLoopError, TreeState, parser
from pytest_fireloop.judge.verdict import EXIT_CODES

#: Files that are named at most.
SHOWN = 5
#: The id of a checkpoint, as a restore prints it.
CHECKPOINT = re.compile(r"[0-9a-f]{40}")


def main(argv: Sequence[str]) -> int:
    """Checkpoint the present, write the target's files, remove only what the loop added later; return 0, else 3."""
    made = parser(
        "restore", "Bring the files of an iteration back; the present state is kept.", "fireloop restore best"
    )
    made.add_argument(
        "--git",
        action="store_true",
        help="put HEAD, branches, tags, index, stash, hooks and configuration of git back as well",
    )
    made.add_argument("target", nargs="?", metavar="[ID:]ITERATION|best|CHECKPOINT", help="default: the last iteration")
    options = made.parse_args(argv)
    state = TreeState(options.fire_loop_dir)
    journal = state.journal()
    given = options.target or ""
    rows: list[str] = []
    later: list[str] = []
    if CHECKPOINT.fullmatch(given):
        name, commit = f"checkpoint {given[:10]}", given
    else:
        row, number, commit = state.iteration(journal, options.target)
        name = f"iteration {number} of loop {row.loop_id}"
        iterations = journal.iterations(row.loop_id)
        rows = [each["checkpoint"] for each in iterations]
        later = [each["checkpoint"] for each in iterations if each["facts"]["iteration"] > number]
    lock = TreeLock(state.folder)
    try:
        ended = end_left_behind(state.folder)
        checkpoints = Checkpoints.open(state.folder / "checkpoints.git", state.tree, with_repository=True)
        if options.git and checkpoints.kept_repository(commit) is None:
            raise NoLoopError(f"{name} was stored without a repository; leave --git out to restore its files")
        before = read_state(state.tree)
        others = others_of(commit, checkpoints.stored(), later=later, rows=rows)
        done = checkpoints.restore(commit, later=others.later, known=others.known)
        failed = [*done.failed, *(checkpoints.restore_repository(commit) if options.git else ())]
        moved = moves(before, read_state(state.tree)) if options.git else ()
        git = "--git " if options.git and checkpoints.kept_repository(done.present) else ""
    finally:
        lock.release()
    print(f"restored {name}: {len(done.written)} written, {len(done.removed)} removed")
    if ended:
        print(f"{ended} processes of a loop that was killed were still running, and are ended")
    for move in moved:
        print(f"git: {move}")
    for path in failed:
        print(f"left as it is, for it could not be stored or written: {path!r}; move it away and restore again")
    if done.kept:
        more = f" and {len(done.kept) - SHOWN} more" if len(done.kept) > SHOWN else ""
        print(f"left, for no checkpoint of the loop holds it: {', '.join(map(repr, done.kept[:SHOWN]))}{more}")
    print(f"the state before is kept; undo with: fireloop restore {git}{done.present}")
    return EXIT_CODES["error"] if failed else 0
