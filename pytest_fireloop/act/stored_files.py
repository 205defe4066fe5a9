"""Single files stored in our repository, ignored ones too; what has not changed is not read again."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pytest_fireloop.act.shadow_git import ShadowGit
from pytest_fireloop.act.tree_writer import LINK, PLAIN, git_mode

Stamp = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """Blob id, git's mode, and what the file system told when it was read."""

    oid: str
    mode: str
    stamp: Stamp


class StoredFiles:
    """`rows` are the files as they were stored last, by name."""

    def __init__(self, git: ShadowGit) -> None:
        self._git = git
        self.rows: dict[str, StoredFile] = {}

    def store(self, found: Mapping[str, tuple[str, os.stat_result]]) -> None:
        """Store these files, given with their paths; raises CheckpointError where one cannot be read any more."""
        rows: dict[str, StoredFile] = {}
        plain: list[str] = []
        for name, (path, status) in found.items():
            known = self.rows.get(name)
            if known is not None and known.stamp == stamp(status):
                rows[name] = known
            elif stat.S_ISLNK(status.st_mode):
                rows[name] = StoredFile(self.content(os.fsencode(os.readlink(path))), LINK, stamp(status))
            else:
                plain.append(name)
        if plain:
            for name, oid in zip(plain, self._git.store([found[name][0] for name in plain]), strict=True):
                status = found[name][1]
                rows[name] = StoredFile(oid, git_mode(status.st_mode), stamp(status))
        self.rows = rows

    def content(self, content: bytes) -> str:
        """Store bytes and return their id."""
        return self._git.text("hash-object", "-w", "--no-filters", "--stdin", given=content)

    def commit(self, message: str, more: Iterable[tuple[str, str]] = (), parents: Iterable[str] = ()) -> str:
        """Return a commit of all rows and of further blobs by name."""
        rows = [(PLAIN, oid, name) for name, oid in more]
        rows += [(stored.mode, stored.oid, name) for name, stored in self.rows.items()]
        with tempfile.TemporaryDirectory(prefix="index-", dir=self._git.repository) as folder:
            index = os.path.join(folder, "index")
            self._git.enter(rows, index)
            tree = self._git.text("write-tree", index=index)
        above = [word for parent in parents for word in ("-p", parent)]
        return self._git.text("commit-tree", tree, *above, "-m", message)


def stamp(status: os.stat_result) -> Stamp:
    """Return what changes when a file does."""
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
