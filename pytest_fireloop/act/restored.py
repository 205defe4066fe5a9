"""Puts the files of a checkpoint back into the tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from pytest_fireloop.act.object_reader import Entries, ObjectReader
from pytest_fireloop.act.permissions import Permissions
from pytest_fireloop.act.tree_writer import TreeWriter, make_way


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore wrote, removed and could not bring back; `present` is the commit of the state before it.

    `kept` are files that the target lacks, and that no checkpoint which was gone by holds.
    """

    written: tuple[str, ...]
    removed: tuple[str, ...]
    failed: tuple[str, ...] = ()
    present: str = ""
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Present:
    """The files that are stored of the tree as it is."""

    files: Entries
    permissions: Permissions


@dataclass(frozen=True, slots=True)
class Wanted:
    """The files of the target, and those of the present that go."""

    files: Entries
    permissions: Permissions
    surplus: Collection[str]


def put_back(tree: Path, objects: ObjectReader, wanted: Wanted, present: Present) -> Restored:
    """Remove what is too much, then write what differs, and return what was done; what cannot be done is named."""
    removed: list[str] = []
    written: list[str] = []
    failed: list[str] = []
    now = present.files
    with TreeWriter(tree) as writer:

        def write(path: str) -> None:
            mode, oid = wanted.files[path]
            if path not in now and os.path.lexists(tree / path):
                make_way(tree / path)
            bits = wanted.permissions.of(path, mode)
            if bits is not None and now.get(path) == wanted.files[path]:
                writer.permit(path, bits)
            else:
                writer.write(path, mode, objects.read(oid), bits)

        for path in sorted(wanted.surplus):
            (removed if _done(writer.remove, path) else failed).append(path)
        differing = (
            path
            for path, entry in wanted.files.items()
            if now.get(path) != entry
            or wanted.permissions.of(path, entry[0]) not in {None, present.permissions.of(path, entry[0])}
        )
        for path in sorted(differing):
            (written if _done(write, path) else failed).append(path)
    return Restored(tuple(written), tuple(removed), tuple(failed))


def _done(act: Callable[[str], None], path: str) -> bool:
    try:
        act(path)
    except OSError:
        return False
    return True
