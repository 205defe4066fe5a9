"""What git says differs between two checkpoints, file by file and line by line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pytest_fireloop.act.shadow_git import ShadowGit

#: Files beyond this size in bytes are compared as binary ones.
TEXT_LIMIT = 2_000_000
COMMAND = (
    *("-c", f"core.bigFileThreshold={TEXT_LIMIT}", "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "-p", "-U0"),
    *("-M50%", "-l200", "--no-ext-diff", "--no-textconv"),
)
_CHUNK = re.compile(rb"^diff --git ", re.MULTILINE)
#: A link that became a file, or the reverse: git shows it as a deletion and an addition.
KIND_CHANGED = "T"
RENAMED = "R"


@dataclass(frozen=True, slots=True)
class FileDifference:
    """One path: blob ids (None: absent), git's letter, and the lines that went and came; none for a binary file.

    `source` is the path from which a renamed file came; the lines are then those that differ between the two.
    """

    path: str
    before: str | None
    after: str | None
    letter: str
    binary: bool = False
    removed: tuple[bytes, ...] = field(default=(), repr=False)
    added: tuple[bytes, ...] = field(default=(), repr=False)
    source: str | None = None


def compare(git: ShadowGit, old: str, new: str) -> Iterator[FileDifference]:
    """Yield the differences of two commits in the order of their paths."""
    output = git.run(*COMMAND, old, new)
    rows, patch = _rows(output)
    if not rows:
        return
    starts = [found.start() for found in _CHUNK.finditer(patch)]
    chunks = iter([patch[start:end] for start, end in zip(starts, [*starts[1:], len(patch)], strict=True)])
    for path, before, after, letter, source in rows:
        chunk = next(chunks) + (next(chunks) if letter == KIND_CHANGED else b"")
        binary, removed, added = _lines(chunk)
        yield FileDifference(path, before, after, letter, binary, removed, added, source)


def _rows(output: bytes) -> tuple[list[tuple[str, str | None, str | None, str, str | None]], bytes]:
    rows = []
    position = 0
    while output.startswith(b":", position):
        head_end = output.index(b"\0", position)
        path_end = output.index(b"\0", head_end + 1)
        _, _, before, after, letter = output[position:head_end].decode().split(" ")
        path, source = os.fsdecode(output[head_end + 1 : path_end]), None
        if letter.startswith(RENAMED):
            end = output.index(b"\0", path_end + 1)
            path, source, path_end = os.fsdecode(output[path_end + 1 : end]), path, end
        rows.append((path, _present(before), _present(after), letter[0], source))
        position = path_end + 1
    return rows, output[position + 1 :]


def _present(oid: str) -> str | None:
    return oid if oid.strip("0") else None


def _lines(chunk: bytes) -> tuple[bool, tuple[bytes, ...], tuple[bytes, ...]]:
    """Return whether a chunk is of a binary file, and its removed and added lines."""
    removed, added = [], []
    binary = within = False
    for line in chunk.split(b"\n"):
        if line.startswith(b"@@"):
            within = True
        elif line.startswith(b"diff --git "):
            within = False
        elif not within:
            binary = binary or line.startswith(b"Binary files ")
        elif line.startswith(b"-"):
            removed.append(line[1:])
        elif line.startswith(b"+"):
            added.append(line[1:])
    return binary, tuple(removed), tuple(added)
