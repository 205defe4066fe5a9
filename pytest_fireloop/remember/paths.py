"""Where the state of a tree lies: outside the work tree and outside `.git`."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pytest_fireloop.inside.hashing import blake2b

#: In a state folder, the file that holds the real path of the tree.
OWNER = "tree"


def state_root(environment: Mapping[str, str]) -> Path:
    """Return the folder for the state of all trees of this user."""
    base = environment.get("XDG_STATE_HOME") or ""
    if os.path.isabs(base):
        return Path(base) / "fireloop"
    home = environment.get("HOME") or ""
    folder = Path(home) / ".local" / "state" / "fireloop"
    return folder if os.path.isabs(home) and _is_or_can_be_made(folder) else temporary_root(environment)


def temporary_root(environment: Mapping[str, str]) -> Path:
    """Return the folder for users without a home to speak of, as under some service managers and in containers."""
    place = environment.get("TMPDIR") or "/tmp"  # noqa: S108 - what is made there is private, and only used when it is ours
    return Path(place) / (f"fireloop-{os.getuid()}" if hasattr(os, "getuid") else "fireloop")


def _is_or_can_be_made(folder: Path) -> bool:
    """Whether a folder is there, however it may be used, or may be made; state that is there is never passed over."""
    for each in (folder, *folder.parents):
        if os.path.lexists(each):
            return each == folder or (os.path.isdir(each) and os.access(each, os.W_OK | os.X_OK))
    return False


def state_folder(tree: Path, environment: Mapping[str, str], wanted: str | None = None) -> Path:
    """Return the folder for one tree: the option's, else $FIRELOOP_DIR, else one named after the tree's real path."""
    if wanted:
        return Path(os.path.realpath(wanted))
    if environment.get("FIRELOOP_DIR"):
        return Path(os.path.realpath(environment["FIRELOOP_DIR"]))
    real = os.path.realpath(tree)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(real))[:40] or "root"
    digest = blake2b(os.fsencode(real), digest_size=6).hexdigest()
    return Path(os.path.realpath(state_root(environment))) / f"{name}-{digest}"


def unfit(tree: Path, folder: Path, environment: Mapping[str, str]) -> str | None:
    """Say why a tree or its state folder is refused, in one line, or return None."""
    real = Path(os.path.realpath(tree))
    if is_no_project(real, environment):
        return f"{str(tree)!r} is no project; change to the folder of one"
    if lies_inside(folder, real):
        return f"the state folder {str(folder)!r} lies inside the work tree; name one outside with --fire-loop-dir"
    root = temporary_root(environment)
    if Path(os.path.realpath(root)) in (folder, *folder.parents) and not _is_ours(root):
        return f"the temporary folder {str(root)!r} belongs to somebody else; name another one with --fire-loop-dir"
    owner = _owner(folder)
    if owner is not None and owner != str(real) and os.path.isdir(owner):
        return f"the state folder {str(folder)!r} belongs to the tree {owner!r}; name another one for {str(real)!r}"
    return None


def gone_trees(tree: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return trees that are gone, of the name or from beside of one, with the folders of their loops, the latest first."""
    found = []
    for journal in state_root(environment).glob("*/journal.sqlite"):
        owner = _owner(journal.parent)
        if owner is None or os.path.lexists(owner):
            continue
        if os.path.basename(owner) == tree.name or os.path.dirname(owner) == str(tree.parent):
            with suppress(OSError):
                found.append((journal.stat().st_mtime, owner, str(journal.parent)))
    yield from (each[1:] for each in sorted(found, reverse=True))


def is_history(folder: Path) -> bool:
    """Whether a folder holds the history of a matrix, which may lie anywhere: no tree ever claimed it as its own."""
    return os.path.lexists(folder / "journal.sqlite") and _owner(folder) is None


def is_no_project(real: Path, environment: Mapping[str, str]) -> bool:
    """Whether a folder is the root of all or the user's home."""
    home = environment.get("HOME")
    return real == Path(real.anchor) or bool(home and real == Path(os.path.realpath(home)))


def lies_inside(folder: Path, tree: Path) -> bool:
    """Whether a state folder lies in the work tree, where the agent and its clean-ups reach it."""
    real = Path(os.path.realpath(tree))
    return folder == real or real in folder.parents


def claim(folder: Path, tree: Path) -> Path:
    """Create the folder, and note the tree that it belongs to: two trees in one would be taken for one loop."""
    make_private(folder)
    real = os.path.realpath(tree)
    if _owner(folder) != real:
        temporary = folder / f"{OWNER}.{os.getpid()}"
        temporary.write_bytes(os.fsencode(real))
        os.replace(temporary, folder / OWNER)
    return folder


def _is_ours(root: Path) -> bool:
    """Whether a folder in a place where everybody writes is ours, which it is where it is yet to be made."""
    try:
        found = os.lstat(root)
    except OSError:
        return True
    return stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())


def _owner(folder: Path) -> str | None:
    try:
        return os.fsdecode((folder / OWNER).read_bytes())
    except OSError:
        return None


def make_private(folder: Path) -> Path:
    """Create a folder, with its parents, that only this user can enter."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
