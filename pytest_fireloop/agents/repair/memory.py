"""Remembers within one loop that a tree has nothing left to try, so that a second call does not search again."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pytest_fireloop.agents.repair.workspace import python_files

NAME = "gave-up"


def fingerprint(tree: Path) -> str:
    """Hash the Python files of a tree, paths and bytes."""
    found = hashlib.blake2b(digest_size=16)
    for path in sorted(python_files(tree)):
        content = (tree / path).read_bytes()
        found.update(f"{path}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return found.hexdigest()


def gave_up_before(scratch: Path, mark: str) -> bool:
    """Whether an earlier call of the same loop, in a folder beside this one, found nothing for the same files."""
    return any(path.read_text(encoding="ascii") == mark for path in scratch.parent.glob(f"*/{NAME}"))


def note_giving_up(scratch: Path, mark: str) -> None:
    """Leave the note for the next call."""
    (scratch / NAME).write_text(mark, encoding="ascii")
