"""The work tree of a loop: its checkpoints from iteration to iteration, and what changed between them."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_fireloop.act.checkpoints import Checkpoint, Checkpoints
from pytest_fireloop.act.protected import Violation
from pytest_fireloop.observe.changes import ChangeSet
from pytest_fireloop.observe.matrix_record import plain
from pytest_fireloop.observe.record import RunRecord
from pytest_fireloop.observe.test_files import is_configuration, predicate_of, with_data
from pytest_fireloop.show.display import Display

#: The folder of the views.
VIEWS = ".fireloop"


class WatchedTree:
    """Takes checkpoints and compares them; `latest` is the last one, `start` the baseline's."""

    def __init__(
        self, repository: Path, tree: Path, loop_id: str, display: Display, protect: Sequence[str] = ()
    ) -> None:
        self.checkpoints = Checkpoints.open(repository, tree, with_repository=True)
        self._protected = self.checkpoints.protected(protect)
        self.latest: Checkpoint | None = None
        self.start: str | None = None
        self._loop_id, self._display = loop_id, display
        #: Where a file goes that an agent put in the place of the tree.
        self._instead = repository.parent / "loops" / loop_id
        self._left_out: set[str] = set()
        self._had_views = False

    def take(self, message: str) -> Checkpoint:
        """Store the tree as it is; raises CheckpointError."""
        taken = self.checkpoints.take(f"{self._loop_id}: {message}")
        self._tell_left_out(taken.left_out)
        self.latest = taken
        self._had_views = self._has_views()
        return taken

    def protect(self) -> None:
        """Keep the protected files as they are, for the agent is about to be called; raises CheckpointError."""
        self._protected.keep()
        self._had_views = self._has_views()
        self._tell_left_out(self._protected.left_out)

    def violations(self, message: str, *, cut_off: bool = False) -> tuple[Violation, ...]:
        """Look at the protected files, put back what has to be, and take a checkpoint again where that was done.

        With `cut_off` they are held against what a runner that was killed had kept.
        """
        if cut_off:
            self._protected.take_up()
        found = self._protected.verify()
        for each in found:
            self._display.always(f"warning: {each.told}")
        if any(each.restored for each in found):
            self.take(f"{message}, protected files restored")
        return found

    def missing(self) -> tuple[str, ...]:
        """Name the folders that are gone: the tree's own, which is made again, and the one of the views, if it was there."""
        tree, views = self.checkpoints.tree, self.checkpoints.tree / VIEWS
        found = []
        if not tree.is_dir():
            found.append(f"the folder {str(tree)!r} is gone with all that was in it{self._make_way(tree)}")
            tree.mkdir(parents=True, exist_ok=True)
        elif self._had_views and not views.is_dir():
            found.append(f"the folder {VIEWS!r} is gone; its files are written again")
        if views.is_symlink() and self._had_views:
            found.append(f"{VIEWS!r} is a link now, so that no loop file is written any more")
        return tuple(found)

    def _make_way(self, tree: Path) -> str:
        """Move what stands in the place of the tree's folder into the state, and say where it is."""
        if not os.path.lexists(tree):
            return ""
        self._instead.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = self._instead / f"instead-of-the-tree-{time.time_ns()}"
        shutil.move(tree, aside)
        return f"; what stood in its place is kept as {str(aside)!r}"

    def _has_views(self) -> bool:
        views = self.checkpoints.tree / VIEWS
        return views.is_dir() and not views.is_symlink()

    def _tell_left_out(self, paths: Sequence[str]) -> None:
        for path in sorted(set(paths) - self._left_out):
            self._display.always(
                f"warning: too large or unreadable for a checkpoint, or an environment, so it cannot be restored: {path}"
            )
        self._left_out |= set(paths)

    @property
    def commit(self) -> str:
        """The commit of the last checkpoint."""
        assert self.latest is not None
        return self.latest.commit

    def changes(self, old: str, new: str, baseline: RunRecord) -> ChangeSet:
        """Return what changed from one checkpoint to another, tests told from source by the baseline's run."""
        is_test = with_data(is_test_file(baseline), plain(baseline).outcomes, self.checkpoints.files(new))
        return ChangeSet.of(self.checkpoints.changes(old, new), is_test)

    def files_changed(self) -> int:
        """Count the files that differ from the start."""
        if self.latest is None or self.start is None:
            return 0
        return len(self.checkpoints.changed(self.start, self.latest.commit))

    def is_at(self, commit: str) -> bool:
        """Whether the last checkpoint holds the same files as another one."""
        return self.latest is not None and not self.checkpoints.changed(commit, self.latest.commit)

    def hint(self, baseline: RunRecord) -> str:
        """Propose the option by which a person allows a change of tests or configuration that is right."""
        if self.latest is None or self.start is None:
            return ""
        is_test = is_test_file(baseline)
        changed = self.checkpoints.changed(self.start, self.latest.commit)
        paths = [path for path in changed if is_test(path) or is_configuration(path)]
        options = " ".join(f"--allow-test-edits={shlex.quote(path)}" for path in paths[:3])
        return f"; where the change is right, allow it with {options}" if options else ""


def is_test_file(baseline: RunRecord) -> Callable[[str], bool]:
    """Return what tells a test file, by what the baseline's run collected."""
    baseline = plain(baseline)
    return predicate_of(baseline.outcomes, [error.path for error in baseline.collection_errors])
