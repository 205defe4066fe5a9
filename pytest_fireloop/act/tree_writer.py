"""Writes and removes single files below a folder, never through a link."""

from __future__ import annotations

import os
import re
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import Self

LINK, EXECUTABLE, PLAIN = "120000", "100755", "100644"
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


#: What a process that was killed while it wrote leaves in a tree.
TEMPORARY = re.compile(r"\.fireloop-[0-9a-f]{12}")
#: Made again by whoever needs it.
CACHES = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"})


def git_mode(mode: int) -> str:
    """Return how git stores a file of such permissions."""
    return EXECUTABLE if mode & 0o100 else PLAIN


class TreeWriter:
    """Keeps the folder open that it wrote to last, so that many files are written fast; close it, or use `with`.

    `force` makes way where a link, a file or a folder stands in the way: for folders that are ours alone.
    """

    def __init__(self, top: Path, *, force: bool = False) -> None:
        self._top = os.open(top, os.O_RDONLY)
        self._force = force
        self._folder: str | None = None
        self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._leave()
        os.close(self._top)

    def write(self, path: str, mode: str, content: bytes, permissions: int | None = None) -> None:
        """Put a file or link in place at once, with git's mode; raises OSError when something stands in the way.

        Without `permissions` a file that is there keeps its own, as far as git's mode lets it.
        """
        folder, _, name = path.rpartition("/")
        within = self._enter(folder, create=True)
        before = _mode(name, within)
        temporary = name if self._force and not before else f".fireloop-{os.urandom(6).hex()}"
        try:
            if mode == LINK:
                os.symlink(content, os.fsencode(temporary), dir_fd=within)
            else:
                descriptor = os.open(temporary, _NEW, 0o777 if mode == EXECUTABLE else 0o666, dir_fd=within)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                    if permissions is not None:
                        os.fchmod(descriptor, permissions)
                    elif stat.S_ISREG(before):
                        os.fchmod(descriptor, _adapted(stat.S_IMODE(before), executable=mode == EXECUTABLE))
            if self._force and stat.S_ISDIR(before):
                shutil.rmtree(name, dir_fd=within)
            if temporary != name:
                os.replace(temporary, name, src_dir_fd=within, dst_dir_fd=within)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=within)
            raise

    def permit(self, path: str, permissions: int) -> None:
        """Give a file these permissions; raises OSError when it is none."""
        folder, _, name = path.rpartition("/")
        flags = os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0)
        within = self._enter(folder, create=False)
        if not stat.S_ISREG(_mode(name, within)):
            raise FileNotFoundError(path)
        try:
            descriptor = os.open(name, flags, dir_fd=within)
        except PermissionError:
            os.chmod(name, permissions, dir_fd=within)
            return
        try:
            os.fchmod(descriptor, permissions)
        finally:
            os.close(descriptor)

    def remove(self, path: str) -> None:
        """Remove a file or link and the folders that this leaves empty; raises OSError when it cannot."""
        folder, _, name = path.rpartition("/")
        os.unlink(name, dir_fd=self._enter(folder, create=False))
        while folder:
            folder, _, name = folder.rpartition("/")
            try:
                os.rmdir(name, dir_fd=self._enter(folder, create=False))
            except OSError:
                return

    def _enter(self, folder: str, *, create: bool) -> int:
        if folder == self._folder:
            return self._descriptor
        self._leave()
        current = os.dup(self._top)
        for part in folder.split("/") if folder else ():
            try:
                deeper = self._open(part, current, create=create)
            finally:
                os.close(current)
            current = deeper
        self._folder, self._descriptor = folder, current
        return current

    def _leave(self) -> None:
        if self._folder is not None:
            os.close(self._descriptor)
            self._folder = None

    def _open(self, part: str, within: int, *, create: bool) -> int:
        if create:
            if self._force and not stat.S_ISDIR(_mode(part, within) or stat.S_IFDIR):
                os.unlink(part, dir_fd=within)
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=within)
        return os.open(part, _FOLDER, dir_fd=within)


def make_way(path: Path) -> None:
    """Remove what stands in the way of a file and holds nothing; raises FileExistsError where it may hold something."""
    kind = os.lstat(path).st_mode
    if stat.S_ISREG(kind) or stat.S_ISLNK(kind):
        raise FileExistsError(str(path))
    if not stat.S_ISDIR(kind):
        path.unlink()
        return
    for base, _, names in os.walk(path):
        if names and not CACHES.intersection(Path(base).relative_to(path.parent).parts):
            raise FileExistsError(str(path))
    shutil.rmtree(path)


def _mode(name: str, within: int) -> int:
    """Return kind and permissions of what stands there; 0 for nothing."""
    try:
        return os.stat(name, dir_fd=within, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0


def _adapted(mode: int, *, executable: bool) -> int:
    """Keep who may read and write; who may read may execute, or nobody."""
    return mode | 0o100 | (mode & 0o444) >> 2 if executable else mode & ~0o111
