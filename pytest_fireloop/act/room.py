"""The clean room: a tree of its own, with the tests of the start and the product files of the agent."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from pytest_fireloop.act.checkpoints import Checkpoints


class Room:
    """A folder outside the tree; made anew for each use."""

    def __init__(self, checkpoints: Checkpoints, folder: Path) -> None:
        self._checkpoints = checkpoints
        self.folder = folder

    def lay(self, baseline: str, candidate: str | None = None, *, keeps: Callable[[str], bool] = bool) -> None:
        """Fill the room from the baseline; then lay the candidate's files over it, but for those that `keeps` holds."""
        self.clear()
        self._checkpoints.export(baseline, self.folder)
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

    def altered(self, expected: Mapping[str, str], keeps: Callable[[str], bool]) -> list[str]:
        """Name the kept files whose bytes are not those of the blob ids in memory."""
        return sorted(path for path, oid in expected.items() if keeps(path) and _blob_id(self.folder / path) != oid)

    def clear(self) -> None:
        """Remove the room."""
        shutil.rmtree(self.folder, ignore_errors=True)


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
