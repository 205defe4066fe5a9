"""Where the user's repository lies, found without asking git, which refuses a damaged one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: A folder of objects, which are files that never change: linked and not stored.
OBJECTS = "objects"
WORKTREES = "worktrees"
#: Of a repository with several work trees, what they share; the rest is of the main one alone.
SHARED = ("refs", "packed-refs", "logs/refs", "config", "hooks", "info", "shallow", "modules")
PACKS = f"{OBJECTS}/pack/"
#: What git or an editor leaves while it works, and what is no file.
PASSING = (".lock", ".fireloop-tmp")


@dataclass(frozen=True, slots=True)
class GitPlaces:
    """The folder that holds `.git`, this work tree's own part, and the part that all work trees share."""

    top: Path
    own: Path
    common: Path
    #: Where `.git` leads, when it is a link.
    link: str | None = None

    @classmethod
    def find(cls, tree: Path) -> GitPlaces | None:
        """Look from a tree upwards; None without a repository or with one that leads nowhere."""
        absolute = Path(os.path.abspath(tree))
        for top in (absolute, *absolute.parents):
            found = top / ".git"
            if found.is_dir():
                return cls(top, found, found, os.readlink(found) if found.is_symlink() else None)
            if os.path.lexists(found):
                return cls._led(top, found)
        return None

    @classmethod
    def _led(cls, top: Path, file: Path) -> GitPlaces | None:
        """Follow the file that a linked work tree or a submodule has in its place."""
        try:
            own = top / file.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
            own = Path(os.path.normpath(own))
            shared = own / "commondir"
            common = own / shared.read_text(encoding="utf-8").strip() if shared.exists() else own
        except (OSError, ValueError):
            return None
        return cls(top, own, Path(os.path.normpath(common))) if own.is_dir() else None

    @property
    def roots(self) -> dict[str, Path]:
        """Return the folders that are kept, by the name they are kept under."""
        return {"own": self.own} if self.own == self.common else {"own": self.own, "common": self.common}

    def files(self) -> Iterator[tuple[str, str, os.stat_result]]:
        """Yield name, path and status of each file and link but objects."""
        for root, folder in self.roots.items():
            # of what several work trees share, the rest is the main one's alone
            for path, found in _walk(str(folder), SHARED if root == "common" else ()):
                yield f"{root}/{path}", os.path.join(folder, path), found

    def object_files(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yield the files of all object folders, those of submodules too."""
        for root, folder in self.roots.items():
            for store in _stores(str(folder)):
                for path, entry in _deep(os.path.join(folder, store)):
                    yield f"{root}/{store}/{path}", entry

    def other_heads(self) -> set[str]:
        """Name the branches that other work trees stand on: theirs to move."""
        heads = [self.common / "HEAD"] if self.own != self.common else []
        heads += [each / "HEAD" for each in (self.common / WORKTREES).glob("*") if each != self.own]
        found = set()
        for head in heads:
            try:
                text = head.read_text(encoding="utf-8", errors="surrogateescape").strip()
            except OSError:
                continue
            if text.startswith("ref:"):
                found.add(text.removeprefix("ref:").strip())
        return found


def _walk(folder: str, only: tuple[str, ...]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield path and status of each file and link but objects, of the named parts alone where any are named."""
    pending = [] if only else [""]
    for name in only:
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            found = os.lstat(path)
            if stat.S_ISDIR(found.st_mode):
                pending.append(f"{name}/")
            else:
                yield name, found
    while pending:
        base = pending.pop()
        try:
            with os.scandir(os.path.join(folder, base)) as entries:
                children = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in children:
            path = base + entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name != OBJECTS or not _may_hold_objects(base):
                    pending.append(f"{path}/")
                elif base == "":
                    # notes about the folder, such as where else objects lie, and an index over several packs
                    pending += [f"{path}/info/", f"{path}/pack/"]
                continue
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            kind = stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)
            if base.endswith(PACKS) and _never_changes(base, entry.name):
                continue
            if kind and not entry.name.endswith(PASSING):
                yield path, found


def _stores(folder: str) -> Iterator[str]:
    """Yield the object folders of a repository, of its submodules and of large files, none inside another."""
    pending = [""]
    while pending:
        base = pending.pop()
        try:
            with os.scandir(os.path.join(folder, base)) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        for name in names:
            if name == OBJECTS and _may_hold_objects(base):
                yield base + name
            elif base or name in {"modules", "lfs"}:
                pending.append(f"{base}{name}/")


def _may_hold_objects(base: str) -> bool:
    """Whether a folder of that name in this one is git's own, and not a branch that somebody named so."""
    own = base == "" or base.startswith(("modules/", "lfs/"))
    return own and "/refs/" not in f"/{base}" and "/logs/" not in f"/{base}"


def _never_changes(base: str, name: str) -> bool:
    """Whether a file of objects bears the hash of what it holds; one that git rewrites is stored as other files are."""
    return not name.startswith("tmp_") and (not base.endswith("pack/") or name.startswith("pack-"))


def _deep(folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    pending = [""]
    while pending:
        base = pending.pop()
        try:
            with os.scandir(os.path.join(folder, base)) as entries:
                children = list(entries)
        except OSError:
            continue
        for entry in children:
            if entry.is_dir(follow_symlinks=False):
                if base or entry.name != "info":
                    pending.append(f"{base}{entry.name}/")
            elif entry.is_file(follow_symlinks=False) and _never_changes(base, entry.name):
                yield base + entry.name, entry
