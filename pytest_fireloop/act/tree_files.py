"""The files of a tree that a checkpoint stores, found by one walk that follows no link."""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
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
    """Paths relative to the tree, with what the file system tells; `left_out` are too large, unreadable, or of a name that git refuses."""

    present: Mapping[str, Stamp]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TreeWalk:
    """What decides about each path; `skipped` is a folder of ours that lies inside the tree, `known` is sorted."""

    tree: Path
    patterns: IgnorePatterns
    prefix: str
    skipped: str | None
    size_limit: int
    known: Sequence[str]

    def files(self, always: Iterable[str]) -> TreeFiles:
        """Walk the tree; the paths in `always` are looked at even where a rule ignores them."""
        present: dict[str, Stamp] = {}
        left_out: list[str] = []
        pending = [""]
        top, ignores = os.path.join(self.tree, ""), self.patterns.ignores
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
            if folder and any(entry.name == ENVIRONMENT_MARK for entry in found) and not self._holds_known(folder):
                continue
            for entry in found:
                path = folder + entry.name
                if entry.name == ".git" or path == self.skipped:
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                if ignores(self.prefix + path, folder=is_folder):
                    continue
                if is_folder:
                    pending.append(f"{path}/")
                    continue
                try:
                    seen = entry.stat(follow_symlinks=False)
                    if _is_plain(seen, self.size_limit) and ".git" not in path.lower():
                        present[path] = stamp(seen)  # nearly all files: what follows takes as long as the look itself
                    else:
                        self._file(path, entry.path, seen, present, left_out)
                except OSError:
                    continue
        for path in always:
            if path not in present and not through_link(self.tree, path):
                with suppress(OSError):
                    self._file(path, top + path, os.lstat(top + path), present, left_out)
        return TreeFiles(present, tuple(sorted(set(left_out))))

    def _file(
        self, path: str, full: str, found: os.stat_result, present: dict[str, Stamp], left_out: list[str]
    ) -> None:
        link = stat.S_ISLNK(found.st_mode)
        if not link and not stat.S_ISREG(found.st_mode):
            return
        open_to_all = found.st_mode & READ_BY_ALL == READ_BY_ALL
        readable = link or (found.st_size <= self.size_limit and (open_to_all or os.access(full, os.R_OK)))
        if readable and not _refused(path, link=link):
            present[path] = stamp(found)
        else:
            left_out.append(path)

    def _holds_known(self, folder: str) -> bool:
        """Whether files below a folder are stored already: a mark of an environment put there later hides nothing."""
        place = bisect_left(self.known, folder)
        return place < len(self.known) and self.known[place].startswith(folder)


def _is_plain(found: os.stat_result, size_limit: int) -> bool:
    mode = found.st_mode
    return stat.S_ISREG(mode) and mode & READ_BY_ALL == READ_BY_ALL and found.st_size <= size_limit


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
