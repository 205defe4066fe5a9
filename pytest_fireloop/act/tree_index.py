"""The index of our own repository: which file of the tree is stored as what, and which may have changed since."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from pytest_fireloop.act.shadow_git import ShadowGit, join_names, split_names
from pytest_fireloop.act.stored_files import Stamp
from pytest_fireloop.act.tree_writer import git_mode

#: A file that changed so shortly before it was looked at may change again without a sign of it, in nanoseconds.
UNSETTLED = 100_000_000


class TreeIndex:
    """Goes by the stamps of files that it saw itself, and lets git look at all others."""

    def __init__(self, git: ShadowGit) -> None:
        self._git = git
        self._path = git.repository / "fireloop.index"
        #: Files whose stamps tell whether they changed since the last checkpoint.
        self._settled: Mapping[str, Stamp] = {}
        self._seen: Collection[str] = ()

    @contextmanager
    def working_copy(self) -> Iterator[str]:
        """Work on a copy of the index: no lock that a killed process leaves behind, none to wait for."""
        with tempfile.TemporaryDirectory(prefix="index-", dir=self._git.repository) as folder:
            index = os.path.join(folder, "index")
            if not self._path.exists():
                self.forget()
            else:
                shutil.copy2(self._path, index)  # the time stamp matters: git looks again at files as new as its index
            yield index

    def known(self, index: str) -> list[str]:
        """Return the paths that an index holds, sorted."""
        return sorted(split_names(self._git.run("ls-files", "-z", index=index)))

    def update(self, index: str, known: Sequence[str], present: Mapping[str, Stamp]) -> None:
        """Bring an index that holds the known files up to what is present; git looks at those that may have changed."""
        held = set(known)
        gone = sorted(held - present.keys())
        if gone:
            self._git.run("update-index", "--force-remove", "-z", "--stdin", given=join_names(gone), index=index)
        fresh = sorted(path for path, seen in present.items() if path not in held or self._settled.get(path) != seen)
        # git goes by whole seconds; what this process has seen before it hashes itself
        changed = [path for path in fresh if path in self._seen and stat.S_ISREG(present[path][0]) and "\n" not in path]
        if changed:
            modes = (git_mode(present[path][0]) for path in changed)
            self._git.enter(zip(modes, self._git.store(changed), changed, strict=True), index)
        others = sorted(set(fresh).difference(changed))
        if others:
            words = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
            self._git.run(*words, given=join_names(others), index=index)

    def forget(self) -> None:
        """Go by no stamp of before."""
        self._settled, self._seen = {}, ()

    def accept(self, index: str, present: Mapping[str, Stamp], looked: int) -> None:
        """Take a working copy for the index, of files as they were seen at a time in nanoseconds."""
        os.replace(index, self._path)
        self._settled, self._seen = settled(present, looked), present.keys()


def settled(present: Mapping[str, Stamp], looked: int) -> dict[str, Stamp]:
    """Return the files that lay still for a while when they were looked at: a later change shows in their stamps."""
    return {path: seen for path, seen in present.items() if max(seen[2], seen[3]) < looked - UNSETTLED}
