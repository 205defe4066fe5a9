"""The index of our own repository: which file of the tree is stored as what, and which may have changed since."""

from __future__ import annotations

import math
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from pytest_fireloop.act.shadow_git import ShadowGit, join_names, split_names
from pytest_fireloop.act.stored_files import Stamp, stamp
from pytest_fireloop.act.tree_files import TreeFiles
from pytest_fireloop.act.tree_writer import git_mode

#: A file that changed so shortly before it was looked at may change again without a sign of it, in nanoseconds.
UNSETTLED = 100_000_000
A_SECOND = 1_000_000_000


class TreeIndex:
    """Goes by the stamps of files that it saw itself, and lets git look at all others."""

    def __init__(self, git: ShadowGit) -> None:
        self._git = git
        self._path = git.repository / "fireloop.index"
        #: Files whose stamps tell whether they changed since the last checkpoint.
        self.settled: dict[str, Stamp] = {}
        #: What the index held that was made here last, and the stamp of that one.
        self._held: Mapping[str, Stamp] = {}
        self._made: Stamp | None = None
        self._looked = 0

    @contextmanager
    def working_copy(self, looked: int) -> Iterator[str]:
        """Work on a copy of the index: no lock that a killed process leaves behind, none to wait for.

        `looked` is the time by the clock in nanoseconds. Where the clock was set back, or another process wrote the index,
        no stamp of before tells anything.
        """
        with tempfile.TemporaryDirectory(prefix="index-", dir=self._git.repository) as folder:
            index = os.path.join(folder, "index")
            if looked < self._looked or self._made is None or self._made != self._stamp():
                self.forget()
            with suppress(FileNotFoundError):
                shutil.copy2(self._path, index)  # the time stamp matters: git looks again at files as new as its index
            yield index

    def known(self, index: str) -> Collection[str]:
        """Return the paths that an index holds."""
        return self._held.keys() if self._made else split_names(self._git.run("ls-files", "-z", index=index))

    def update(self, index: str, known: Collection[str], found: TreeFiles) -> None:
        """Bring an index that holds the known files up to what is present; git looks at those that may have changed."""
        present, second = found.present, _second(index)
        gone = sorted(path for path in known if path not in present)
        if gone:
            self._git.run("update-index", "--force-remove", "-z", "--stdin", given=join_names(gone), index=index)
        # git goes by whole seconds: what this process has seen before, or may have changed in the second in which the
        # index was made, is hashed whatever its stamp says
        changed = [
            path
            for path in found.fresh
            if (path in self._held or present[path][3] // A_SECOND >= second)
            and stat.S_ISREG(present[path][0])
            and "\n" not in path
        ]
        if changed:
            modes = (git_mode(present[path][0]) for path in changed)
            self._git.enter(zip(modes, self._git.store(changed), changed, strict=True), index)
        others = sorted(set(found.fresh).difference(changed))
        if others:
            words = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
            self._git.run(*words, given=join_names(others), index=index)

    def forget(self) -> None:
        """Go by no stamp of before: every file is looked at, by the rules of now."""
        self.settled, self._made = {}, None

    def accept(self, index: str, found: TreeFiles, looked: int, *, anew: Iterable[str] = ()) -> None:
        """Take a working copy for the index, of files as they were seen at a time in nanoseconds.

        The files `anew` are decided on again the next time, for they may be there against the rules.
        """
        # a file that changed while it was looked at is younger than the index
        os.utime(index, ns=(looked, looked))
        os.replace(index, self._path)
        present = found.present
        for path in self.settled.keys() - present.keys():
            del self.settled[path]
        for path in found.fresh:
            if is_settled(present[path], looked):
                self.settled[path] = present[path]
            else:
                self.settled.pop(path, None)
        for path in anew:
            self.settled.pop(path, None)
        self._held, self._made, self._looked = present, self._stamp(), looked

    def _stamp(self) -> Stamp | None:
        try:
            return stamp(os.stat(self._path))
        except OSError:
            return None


def is_settled(seen: Stamp, looked: int) -> bool:
    """Whether a file lay still for a while when it was looked at: a later change shows in its stamp."""
    return max(seen[2], seen[3]) < looked - UNSETTLED


def _second(index: str) -> int | float:
    """Return the second in which an index of another process was made; of none, all files are new to git."""
    try:
        return os.stat(index).st_mtime_ns // A_SECOND
    except OSError:
        return math.inf
