"""The files of the user's git objects, linked into our state: what a commit needs outlives a gc and the folder itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from pytest_fireloop.act.git_places import GitPlaces

#: Where nothing can be linked, as between file systems, objects are copied up to so many bytes in all.
COPY_LIMIT = 1_000_000_000


class ObjectStore:
    """Object files never change, so that a second name is as good as a copy, and costs nothing."""

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
        """Bring back object files that are gone, and return those that cannot be."""
        failed = []
        for name in names:
            root, _, path = name.partition("/")
            target = roots[root] / path
            if target.exists():
                continue
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
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
            if self._links:
                try:
                    os.link(entry.path, target, follow_symlinks=False)
                except OSError:
                    self._links = False
                else:
                    return True
            size = entry.stat(follow_symlinks=False).st_size
            if self._copied + size > self._copy_limit:
                return False
            temporary = target.with_name(f"{target.name}.fireloop-tmp")
            shutil.copy2(entry.path, temporary)
            os.replace(temporary, target)
        except FileExistsError:
            return True
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
