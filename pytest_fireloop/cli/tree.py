"""The state of the tree that a command is run in."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_fireloop.act.git_places import GitPlaces
from pytest_fireloop.act.settings import SettingsError
from pytest_fireloop.cli.arguments import Parser
from pytest_fireloop.judge.verdict import GOES_ON
from pytest_fireloop.remember.journal import Journal, LoopRow
from pytest_fireloop.remember.paths import gone_trees, is_history, is_no_project, state_folder, unfit
from pytest_fireloop.remember.read_only_journal import ReadOnlyJournal, is_read_only


class NoLoopError(Exception):
    """There is no such loop or iteration in this tree; the message is one line."""


def current_folder() -> Path:
    """Return the real path of the current folder; raises SettingsError where it was removed under us."""
    try:
        return Path.cwd().resolve()
    except OSError as error:
        raise SettingsError("the current folder does not exist any more; change to the folder of a project") from error


def outside_note(tree: Path, environment: Mapping[str, str]) -> str | None:
    """Say what a loop in a folder of a repository does not see, and where to start one that sees it; None at its top."""
    places = GitPlaces.find(tree)
    if places is None or places.top == tree or is_no_project(places.top, environment):
        return None
    return (
        f"warning: files outside of {str(tree)!r} are neither watched nor restored; "
        f"where the product lies there, start in {str(places.top)!r}"
    )


class TreeState:
    """The journal of one tree, opened only where it exists."""

    def __init__(self, wanted: str | None) -> None:
        self.tree = current_folder()
        self.folder = state_folder(self.tree, os.environ, wanted)
        self.journal_path = self.folder / "journal.sqlite"
        self._named = bool(wanted)
        #: Whether one folder is meant for whichever tree.
        self._one_for_all = bool(wanted or os.environ.get("FIRELOOP_DIR"))

    def journal(self, *, to_read: bool = False) -> Journal:
        """Open the journal, to read it where it cannot be written; raises NoLoopError when no loop was ever recorded here."""
        if not os.path.lexists(self.journal_path):
            raise NoLoopError(self._nothing())
        # a folder that was named for all trees holds another one's loop and files
        refused = unfit(self.tree, self.folder, os.environ)
        # the history of `fireloop decide` lies where it was said, in a cache folder of the project too
        if refused is not None and not (self._named and is_history(self.folder)):
            raise NoLoopError(refused)
        if to_read and is_read_only(self.journal_path):
            return ReadOnlyJournal(self.journal_path)
        return Journal(self.journal_path)

    def loop(self, journal: Journal, loop_id: str | None) -> LoopRow:
        """Return the loop by its id, or the last one; raises NoLoopError."""
        loops = journal.loops()
        row = last_loop(journal, loops) if loop_id is None else next((r for r in loops if r.loop_id == loop_id), None)
        if row is not None:
            return row
        if loop_id is None:
            raise NoLoopError(self._nothing())
        known = ", ".join(row.loop_id for row in loops[:3]) or "none"
        raise NoLoopError(f"there is no loop {loop_id!r} here; the last ones are {known}")

    def _nothing(self) -> str:
        """Say that there is no loop, and what to do: go to the tree that has one, or begin one."""
        said = f"no loop was recorded in {str(self.tree)!r}"
        above = next((each for each in self.tree.parents if self._has_journal(each)), None)
        if above is not None:
            return f"{said}, but in {str(above)!r}: change to that folder"
        old = next(gone_trees(self.tree, os.environ), None) if not self._one_for_all else None
        if old is not None:
            owner, folder = old
            return f"{said}, but in {owner!r}, which is gone: if it is this one now, add --fire-loop-dir {shlex.quote(folder)}"
        return f"{said}; `fireloop-test PROMPT` or `pytest --fire-loop` begins one"

    def _has_journal(self, tree: Path) -> bool:
        """Whether loops of a tree were recorded where they are unless a folder is named."""
        return not self._one_for_all and (state_folder(tree, os.environ) / "journal.sqlite").exists()

    def iteration(self, journal: Journal, target: str | None) -> tuple[LoopRow, int, str]:
        """Resolve `ID:ITERATION`, `ITERATION`, `best` or nothing (the last) to a loop, a number and a checkpoint."""
        loop_id, _, wanted = (target or "").rpartition(":")
        row = self.loop(journal, loop_id or None)
        rows = journal.iterations(row.loop_id)
        commits = {each["facts"]["iteration"]: each["checkpoint"] for each in rows}
        if not commits:
            raise NoLoopError(
                f"loop {row.loop_id} ended before its first run of the tests; `fireloop history` lists all"
            )
        if wanted == "best":
            number = best_iteration(rows)
        elif wanted == "":
            number = max(commits)
        elif wanted.isdigit() and int(wanted) in commits:
            number = int(wanted)
        else:
            raise NoLoopError(f"loop {row.loop_id} has no iteration {wanted!r}; it has 0 to {max(commits)}")
        return row, number, commits[number]


def last_loop(journal: Journal, loops: Sequence[LoopRow]) -> LoopRow | None:
    """Return the last loop, of some given newest first, that ran its tests or can go on.

    A start that was refused ran nothing, and hides no loop before it.
    """
    for row in loops:
        if journal.count_iterations(row.loop_id) or (row.verdict in GOES_ON and row.verdict != "circuit_open"):
            return row
    return None


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
