"""Reads the objects of our own repository, and remembers what never changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import IO

#: Ids that are sent before the first answer is read: together well below what a pipe holds.
AT_ONCE = 250
#: Folders of trees that are kept in memory at most.
TREES_KEPT = 50_000
Children = tuple[tuple[str, str, str], ...]
#: Mode and blob id of files by path.
Entries = dict[str, tuple[str, str]]
_FOLDER = "40000"
#: Names that lead out of a folder, or into a repository; git itself stores none of them.
_REFUSED = frozenset({b"", b".", b"..", b".git"})


class CheckpointError(Exception):
    """Our own repository cannot be used; the message is one line."""


@dataclass(slots=True)
class Memory:
    """Objects that were read before: most folders are the same from checkpoint to checkpoint."""

    folders: dict[str, Children] = field(default_factory=dict)
    trees: dict[str, str] = field(default_factory=dict)


class ObjectReader:
    """Reads stored objects; each is checked against its id, so that what is read is what was stored."""

    def __init__(self, opened: Callable[[], tuple[IO[bytes], IO[bytes]]], memory: Memory) -> None:
        self._opened, self._memory = opened, memory
        self._pipes: tuple[IO[bytes], IO[bytes]] | None = None

    def read(self, wanted: str) -> bytes:
        """Return the content of an object; raises CheckpointError when it is missing or damaged."""
        return next(self.read_all([wanted]))

    def read_all(self, wanted: Iterable[str]) -> Iterator[bytes]:
        """Yield the contents of objects in their order, asked for many at a time."""
        rest = iter(wanted)
        while asked := list(islice(rest, AT_ONCE)):
            try:
                questions, answers = self._pipes = self._pipes or self._opened()
                questions.write("".join(f"{oid}\n" for oid in asked).encode("ascii"))
                questions.flush()
            except (OSError, ValueError) as error:
                raise CheckpointError(f"cannot read checkpoint object {asked[0]!r}: {error}") from error
            for oid in asked:
                yield _answer(answers, oid)

    def entries(self, commit: str) -> Entries:
        """Return mode and blob id of each file of a commit by path."""
        return dict(self._below("", self.tree(commit)))

    def entries_after(self, commit: str, before: Mapping[str, tuple[str, str]], known: str) -> Entries:
        """Return the same, made from the files of another commit: folders that both have alike are not looked at."""
        found = dict(before)
        for gone, came in self.differing(known, commit):
            for path in gone.keys() - came.keys():
                del found[path]
            found.update(came)
        return found

    def differing(self, old: str, new: str) -> Iterator[tuple[Entries, Entries]]:
        """Yield the files of two commits that differ, folder by folder: what was there, and what is there now."""
        pending = [("", self.tree(old), self.tree(new))]
        while pending:
            folder, before, after = pending.pop()
            if before == after:
                continue
            there_before, there_now = (
                {name: (mode, oid) for mode, name, oid in self._children(tree)} for tree in (before, after)
            )
            gone: Entries = {}
            came: Entries = {}
            for name in {**there_before, **there_now}:
                was, now = there_before.get(name), there_now.get(name)
                if was == now:
                    continue
                if was is not None and now is not None and was[0] == now[0] == _FOLDER:
                    pending.append((f"{folder}{name}/", was[1], now[1]))
                    continue
                for row, found in ((was, gone), (now, came)):
                    if row is not None and row[0] == _FOLDER:
                        found.update(self._below(f"{folder}{name}/", row[1]))
                    elif row is not None:
                        found[f"{folder}{name}"] = row
            yield gone, came

    def _below(self, folder: str, tree: str) -> Iterator[tuple[str, tuple[str, str]]]:
        pending = [(folder, tree)]
        while pending:
            folder, tree = pending.pop()
            for mode, name, oid in self._children(tree):
                if mode == _FOLDER:
                    pending.append((f"{folder}{name}/", oid))
                else:
                    yield f"{folder}{name}", (mode, oid)

    def find(self, commit: str, path: str) -> str | None:
        """Return the blob id of one file of a commit, or None."""
        found = (_FOLDER, self.tree(commit))
        for part in path.split("/"):
            if found[0] != _FOLDER:
                return None
            children = {name: (mode, oid) for mode, name, oid in self._children(found[1])}
            if part not in children:
                return None
            found = children[part]
        return found[1] if found[0] != _FOLDER else None

    def tree(self, commit: str) -> str:
        """Return the id of a commit's tree."""
        known = self._memory.trees.get(commit)
        if known is None:
            head, _, oid = self.read(commit).partition(b"\n")[0].partition(b" ")
            if head != b"tree":
                raise CheckpointError(f"{commit!r} is no checkpoint")
            known = self._memory.trees[commit] = oid.decode()
        return known

    def parent(self, commit: str) -> str | None:
        """Return the id of a commit's first parent, or None."""
        lines = self.read(commit).partition(b"\n\n")[0].split(b"\n")
        return next((line[7:].decode() for line in lines if line.startswith(b"parent ")), None)

    def _children(self, tree: str) -> Children:
        """Return mode, name and id of what a folder holds."""
        folders = self._memory.folders
        known = folders.get(tree)
        if known is None:
            if len(folders) > TREES_KEPT:
                folders.clear()
            known = folders[tree] = tuple(self._parsed(tree))
        return known

    def _parsed(self, tree: str) -> Iterator[tuple[str, str, str]]:
        content, id_bytes = self.read(tree), len(tree) // 2
        position = 0
        while position < len(content):
            end = content.index(b"\0", position) + 1
            mode, _, name = content[position : end - 1].partition(b" ")
            position = end + id_bytes
            if name in _REFUSED or b"/" in name:
                raise CheckpointError(f"checkpoint object {tree!r} holds the name {os.fsdecode(name)!r}")
            yield mode.decode(), os.fsdecode(name), content[end:position].hex()


def _answer(answers: IO[bytes], wanted: str) -> bytes:
    head = answers.readline().split()
    if len(head) != 3:
        raise CheckpointError(f"there is no checkpoint object {wanted!r}")
    content = answers.read(int(head[2]))
    answers.read(1)
    import hashlib

    found = hashlib.sha256() if len(head[0]) == 64 else hashlib.sha1(usedforsecurity=False)
    found.update(b"%s %d\0" % (head[1], len(content)))
    found.update(content)
    if found.hexdigest() != head[0].decode() or not found.hexdigest().startswith(wanted):
        raise CheckpointError(f"checkpoint object {wanted!r} is damaged")
    return content
