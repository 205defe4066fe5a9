"""The files of the user's git objects, kept in our state: what a commit needs outlives a gc and the folder itself."""

from __future__ import annotations

import filecmp
import os
import shutil
import stat
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from pytest_fireloop.act.git_places import GitPlaces

#: Where nothing can be linked, as between file systems, objects are copied up to so many bytes in all.
COPY_LIMIT = 1_000_000_000
#: What is written over in place takes a link along, so that small ones are copied, up to so many bytes each and in all.
SMALL, SMALL_IN_ALL = 1_000_000, 100_000_000


class ObjectStore:
    """Object files never change by git's own doing, so that of large ones a second name is enough, and costs nothing."""

    def __init__(self, folder: Path, *, copy_limit: int = COPY_LIMIT) -> None:
        self._folder, self._copy_limit = folder, copy_limit
        self._held: set[str] | None = None
        self._copied = 0
        self._links = True

    def keep(self, places: GitPlaces) -> tuple[frozenset[str], frozenset[str]]:
        """Take what is new, and return the names of all object files there are and of those that could not be taken."""
        held = self._names()
        present, missed = set(), set()
        for name, entry in places.object_files():
            present.add(name)
            if name not in held:
                if self._take(entry, name):
                    held.add(name)
                else:
                    missed.add(name)
        return frozenset(present), frozenset(missed)

    def put_back(self, names: Iterable[str], roots: dict[str, Path]) -> list[str]:
        """Bring back object files that are gone or damaged, and return those that cannot be."""
        failed = []
        for name in names:
            root, _, path = name.partition("/")
            target = roots[root] / path
            try:
                if _is_same(target, self._folder / name):
                    continue
                _make_way(roots[root], path)
                # a copy: what the user's git does to its file later is not to reach ours
                temporary = target.with_name(f"{target.name}.fireloop-tmp")
                shutil.copy2(self._folder / name, temporary)
                os.replace(temporary, target)
            except OSError:
                failed.append(name)
        return failed

    def forget_all_but(self, wanted: Collection[str]) -> None:
        """Drop the files that no kept state of the repository had."""
        for name in self._names() - set(wanted):
            with suppress(OSError):
                (self._folder / name).unlink()
        self._held = None

    def _take(self, entry: os.DirEntry[str], name: str) -> bool:
        target = self._folder / name
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            size = entry.stat(follow_symlinks=False).st_size
            small = size <= SMALL and self._copied + size <= SMALL_IN_ALL
            if self._links and not small:
                try:
                    os.link(entry.path, target, follow_symlinks=False)
                except FileExistsError:
                    return True
                except OSError:
                    self._links = False
                else:
                    return True
            if self._copied + size > self._copy_limit:
                return False
            temporary = target.with_name(f"{target.name}.fireloop-tmp")
            shutil.copy2(entry.path, temporary)
            os.replace(temporary, target)
        except OSError:
            return False
        self._copied += size
        return True

    def _names(self) -> set[str]:
        if self._held is None:
            top = len(str(self._folder)) + 1
            self._held = {
                os.path.join(base, name)[top:]
                for base, _, names in os.walk(self._folder)
                for name in names
                if not name.endswith(".fireloop-tmp")
            }
        return self._held


def _is_same(there: Path, kept: Path) -> bool:
    """Whether an object file is there as it was kept."""
    try:
        found, wanted = os.lstat(there), os.lstat(kept)
        if os.path.samestat(found, wanted):
            return True
        return stat.S_ISREG(found.st_mode) and found.st_size == wanted.st_size and filecmp.cmp(there, kept, False)
    except OSError:
        return False


def _make_way(root: Path, path: str) -> None:
    """Make the folders that a file needs; what stands in their place, a file or a link, goes."""
    folder = root
    for part in path.split("/")[:-1]:
        folder /= part
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            folder.unlink()
        folder.mkdir(exist_ok=True)
    if (root / path).is_dir() and not (root / path).is_symlink():
        shutil.rmtree(root / path)
