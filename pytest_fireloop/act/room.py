"""The clean room: a tree of its own, with the tests of the start and the product files of the agent."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.observe.test_files import is_configuration


class Room:
    """A folder outside the tree; made anew for each use."""

    def __init__(self, checkpoints: Checkpoints, folder: Path) -> None:
        self._checkpoints = checkpoints
        self.folder = folder
        self._laid: dict[str, str] = {}
        self._seal: dict[str, Stamp] = {}

    def lay(self, baseline: str, candidate: str | None = None, *, keeps: Callable[[str], bool] = bool) -> None:
        """Fill the room from the baseline; then lay the candidate's files over it, but for those that `keeps` holds."""
        self.clear()
        self._checkpoints.export(baseline, self.folder)
        self._laid = self._checkpoints.files(baseline)
        if candidate is None:
            return
        old, new = self._checkpoints.files(baseline), self._checkpoints.files(candidate)
        kept = [path for path in old if keeps(path)]
        for path in old.keys() - new.keys() - set(kept):
            with contextlib.suppress(OSError):
                os.unlink(self.folder / path)
        # a link or file that would take the place of a folder with kept files stays out
        folders = {parent for path in kept for parent in _parents(path)}
        changed = [
            path for path, oid in new.items() if old.get(path) != oid and not keeps(path) and path not in folders
        ]
        if changed:
            self._checkpoints.export(candidate, self.folder, changed)
        self._laid = {path: oid for path, oid in old.items() if path in new or keeps(path)}
        self._laid |= {path: new[path] for path in changed}

    def altered(self, expected: Mapping[str, str], keeps: Callable[[str], bool]) -> list[str]:
        """Name the files that do not hold what they should: the kept ones by the blob ids in memory, those laid over by theirs."""
        wanted = {path: oid for path, oid in self._laid.items() if not keeps(path)}
        wanted |= {path: oid for path, oid in expected.items() if keeps(path)}
        return sorted(path for path, oid in wanted.items() if _blob_id(self.folder / path) != oid)

    def leading_out(self) -> frozenset[tuple[str, str]]:
        """Return the links in the room whose target lies outside it, with that target."""
        top = os.path.realpath(self.folder)
        links = [path for path in self._laid if os.path.islink(self.folder / path)]
        found = {path: os.path.realpath(self.folder / path) for path in links}
        return frozenset(pair for pair in found.items() if not _is_within(pair[1], top))

    def seal(self) -> None:
        """Note how the sources and folders stand, so that a change made while tests run is seen, even one that was undone."""
        sources = {path for path in self._laid if path.endswith(".py") or is_configuration(path)}
        folders = {parent for path in self._laid for parent in _parents(path)}
        self._seal = {path: stamp for path in sources | folders if (stamp := _stamp(self.folder / path)) is not None}

    def touched(self) -> list[str]:
        """Name the sources and folders that were replaced or written since the seal."""
        return sorted(path for path, stamp in self._seal.items() if not stamp.holds(_stamp(self.folder / path)))

    def clear(self) -> None:
        """Remove the room."""
        if self.folder.is_symlink():
            self.folder.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the file system tells of a file or folder, the times in nanoseconds; nobody can set the time of change."""

    mode: int
    inode: int
    modified: int
    changed: int

    def holds(self, now: Stamp | None) -> bool:
        """Whether it is still the same; tests may make files in a folder, which sets both of its times."""
        if now is None or (self.mode, self.inode) != (now.mode, now.inode):
            return False
        filled = stat.S_ISDIR(self.mode) and self.modified != now.modified
        return filled or self.changed == now.changed


def _stamp(path: Path) -> Stamp | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return Stamp(found.st_mode, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)


def _is_within(path: str, top: str) -> bool:
    return path == top or path.startswith(top + os.sep)


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _blob_id(path: Path) -> str:
    try:
        content = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
    except OSError:
        return ""
    # git's own name of a content, so that the ids noted at the start can be compared
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324
