"""The state of the tree that a command is run in."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_fireloop.act.settings import SettingsError
from pytest_fireloop.cli.arguments import Parser
from pytest_fireloop.remember.journal import Journal, LoopRow
from pytest_fireloop.remember.paths import is_history, state_folder, unfit


class NoLoopError(Exception):
    """There is no such loop or iteration in this tree; the message is one line."""


def current_folder() -> Path:
    """Return the real path of the current folder; raises SettingsError where it was removed under us."""
    try:
        return Path.cwd().resolve()
    except OSError as error:
        raise SettingsError("the current folder does not exist any more; change to the folder of a project") from error


class TreeState:
    """The journal of one tree, opened only where it exists."""

    def __init__(self, wanted: str | None) -> None:
        self.tree = current_folder()
        self.folder = state_folder(self.tree, os.environ, wanted)
        self.journal_path = self.folder / "journal.sqlite"
        self._named = bool(wanted)

    def journal(self) -> Journal:
        """Open the journal; raises NoLoopError when no loop was ever recorded here."""
        if not self.journal_path.exists():
            raise NoLoopError(f"no loop was recorded in {str(self.tree)!r}")
        # a folder that was named for all trees holds another one's loop and files
        refused = unfit(self.tree, self.folder, os.environ)
        # the history of `fireloop decide` lies where it was said, in a cache folder of the project too
        if refused is not None and not (self._named and is_history(self.folder)):
            raise NoLoopError(refused)
        return Journal(self.journal_path)

    def loop(self, journal: Journal, loop_id: str | None) -> LoopRow:
        """Return the loop by its id, or the last one; raises NoLoopError."""
        loops = journal.loops()
        if loop_id is None and loops:
            # a start that was refused ran nothing, and hides no loop before it
            return next((row for row in loops if journal.count_iterations(row.loop_id)), loops[0])
        for row in loops:
            if row.loop_id == loop_id:
                return row
        if loop_id is None:
            raise NoLoopError(f"no loop was recorded in {str(self.tree)!r}")
        known = ", ".join(row.loop_id for row in loops[:3]) or "none"
        raise NoLoopError(f"there is no loop {loop_id!r} here; the last ones are {known}")

    def iteration(self, journal: Journal, target: str | None) -> tuple[LoopRow, int, str]:
        """Resolve `ID:ITERATION`, `ITERATION`, `best` or nothing (the last) to a loop, a number and a checkpoint."""
        loop_id, _, wanted = (target or "").rpartition(":")
        row = self.loop(journal, loop_id or None)
        rows = journal.iterations(row.loop_id)
        commits = {each["facts"]["iteration"]: each["checkpoint"] for each in rows}
        if not commits:
            raise NoLoopError(f"loop {row.loop_id} has no iteration")
        if wanted == "best":
            number = best_iteration(rows)
        elif wanted == "":
            number = max(commits)
        elif wanted.isdigit() and int(wanted) in commits:
            number = int(wanted)
        else:
            raise NoLoopError(f"loop {row.loop_id} has no iteration {wanted!r}; it has 0 to {max(commits)}")
        return row, number, commits[number]


def best_iteration(rows: list[dict[str, object]]) -> int:
    """Return the earliest iteration with the most passing tests, the baseline included."""

    def passing(row: dict[str, object]) -> int:
        facts = row["facts"]
        assert isinstance(facts, dict)
        return sum(outcome in {"passed", "xpassed"} for outcome in (facts["outcomes"] or {}).values())

    best = max(range(len(rows)), key=lambda index: (passing(rows[index]), -index))
    facts = rows[best]["facts"]
    assert isinstance(facts, dict)
    return int(facts["iteration"])


def parser(name: str, description: str, example: str) -> Parser:
    """Return a command's parser with the option that all of them share."""
    made = Parser(prog=f"fireloop {name}", description=description, epilog=f"example: {example}", allow_abbrev=False)
    made.add_argument("--fire-loop-dir", metavar="DIR", help="the folder of the loop's state")
    return made
