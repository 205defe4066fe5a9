"""The files of a tree that a checkpoint stores, found by one walk that follows no link."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_fireloop.act.ignore_pattern import IgnorePatterns
from pytest_fireloop.act.ignore_rules import ENVIRONMENT_MARK
from pytest_fireloop.act.stored_files import Stamp, stamp

SIZE_LIMIT = 20_000_000
READ_BY_ALL = 0o444


@dataclass(frozen=True, slots=True)
class TreeFiles:
    """Paths relative to the tree, with what the file system tells; `fresh` are those that may have changed.

    `left_out` are too large, unreadable, or of a name that git refuses.
    """

    present: Mapping[str, Stamp]
    fresh: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TreeWalk:
    """What decides about each path; `skipped` is a folder of ours that lies inside the tree, `known` is stored already.

    `settled` are stored files whose stamps tell whether they changed, found by the same rules.
    """

    tree: Path
    patterns: IgnorePatterns
    prefix: str
    skipped: str | None
    size_limit: int
    known: Collection[str]
    settled: Mapping[str, Stamp]

    def files(self, always: Iterable[str]) -> TreeFiles:
        """Walk the tree; the paths in `always` are looked at even where a rule ignores them."""
        present: dict[str, Stamp] = {}
        left_out: list[str] = []
        pending = [""]
        top, ignores, before = os.path.join(self.tree, ""), self.patterns.ignores, self.settled.get
        fresh: list[str] = []

        def look(path: str, full: str, seen: os.stat_result) -> None:
            storable = self._storable(path, full, seen)
            if storable is False:
                left_out.append(path)
            elif storable:
                present[path] = stamp(seen)
                if before(path) != present[path]:
                    fresh.append(path)

        while pending:
            folder = pending.pop()
            try:
                with os.scandir(top + folder) as entries:
                    found = list(entries)
            except FileNotFoundError:
                continue
            except OSError:
                left_out.append(folder)
                continue
            if folder and os.path.lexists(top + folder + ENVIRONMENT_MARK) and not self._holds_known(folder):
                left_out.append(folder)
                continue
            for entry in found:
                path = folder + entry.name
                # nearly all files: what follows takes as long as the look itself
                settled = before(path)
                if settled is not None:
                    try:
                        if stamp(entry.stat(follow_symlinks=False)) == settled:
                            present[path] = settled
                            continue
                    except OSError:
                        continue
                if entry.name == ".git" or path == self.skipped:
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                if ignores(self.prefix + path, folder=is_folder):
                    continue
                if is_folder:
                    pending.append(f"{path}/")
                    continue
                with suppress(OSError):
                    look(path, entry.path, entry.stat(follow_symlinks=False))
        for path in always:
            if path not in present and not through_link(self.tree, path):
                with suppress(OSError):
                    look(path, top + path, os.lstat(top + path))
        return TreeFiles(present, tuple(sorted(fresh)), tuple(sorted(set(left_out))))

    def _storable(self, path: str, full: str, found: os.stat_result) -> bool | None:
        """Whether a file can be stored; None for what is no file."""
        link = stat.S_ISLNK(found.st_mode)
        if not link and not stat.S_ISREG(found.st_mode):
            return None
        open_to_all = found.st_mode & READ_BY_ALL == READ_BY_ALL
        readable = link or (found.st_size <= self.size_limit and (open_to_all or os.access(full, os.R_OK)))
        return readable and not _refused(path, link=link)

    def _holds_known(self, folder: str) -> bool:
        """Whether files below a folder are stored already: a mark of an environment put there later hides nothing."""
        return any(path.startswith(folder) for path in self.known)


def through_link(tree: Path, path: str) -> bool:
    """Whether a folder on the way to a file is a link, which may lead out of the tree."""
    folder = os.path.dirname(path)
    while folder:
        if os.path.islink(os.path.join(tree, folder)):
            return True
        folder = os.path.dirname(folder)
    return False


def _refused(path: str, *, link: bool) -> bool:
    """Whether git would not take this name: it could be its own folder where upper and lower case are one."""
    lower = path.lower()
    if ".git" not in lower:
        return False
    parts = lower.split("/")
    return ".git" in parts or (link and parts[-1] == ".gitmodules")
