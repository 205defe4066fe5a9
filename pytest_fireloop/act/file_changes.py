"""Makes what git says of two trees into changes of files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_fireloop.act.object_reader import ObjectReader
from pytest_fireloop.act.tree_difference import FileDifference
from pytest_fireloop.observe.changes import FileChange, edit_digest, is_meaningful


def changes_of(each: FileDifference, objects: ObjectReader) -> Iterator[FileChange]:
    """Yield one change, of a renamed file one for each path: a line for the path itself, and the lines that differ."""
    found = _change(each, objects)
    if each.source is None:
        yield found
        return
    yield FileChange(each.source, 0, 1, digest=edit_digest([each.path.encode("utf-8", "surrogatepass")], ()))
    name = each.source.encode("utf-8", "surrogatepass")
    digest = edit_digest([name, *each.removed], each.added)
    yield replace(found, added=found.added + 1, digest=digest)


def _change(each: FileDifference, objects: ObjectReader) -> FileChange:
    """Count lines; read contents only where a text changed in place."""
    if each.binary and each.before == each.after:
        removed, added = [], []
    elif each.binary:
        removed, added = ([oid.encode()] if oid else [] for oid in (each.before, each.after))
    else:
        removed, added = list(each.removed), list(each.added)
    meaningful = True
    if each.letter == "M" and not each.binary and each.before != each.after and each.before and each.after:
        meaningful = is_meaningful(each.path, objects.read(each.before), objects.read(each.after))
    digest = edit_digest(removed, added)
    return FileChange(each.path, len(added), len(removed), meaningful=meaningful, digest=digest)
