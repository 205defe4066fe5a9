"""Changes tests in a clean room so that they must fail, as the last thing that is run there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_fireloop.observe.integrity.must_fail import must_fail, named


def changed_to_fail(room: Path, nodeids: Sequence[str], failed_at: Mapping[str, str]) -> list[str]:
    """Change the tests with these ids in the room's files, and return the ids of those that must fail now."""
    by_path: dict[str, list[str]] = {}
    for nodeid in nodeids:
        by_path.setdefault(nodeid.partition("::")[0], []).append(nodeid)
    changed = []
    for path, nodes in by_path.items():
        file = room / path
        if path.endswith(".py") and file.is_file() and not file.is_symlink():
            lines = {_name(node): _line(failed_at.get(node, ""), path) for node in nodes}
            made = must_fail(file.read_bytes(), lines)
            if made is not None:
                file.write_bytes(made[0])
                changed += named(nodes, made[1])
    return changed


def _name(nodeid: str) -> str:
    return nodeid.partition("::")[2].partition("[")[0]


def _line(location: str, path: str) -> int | None:
    where, _, line = location.rpartition(":")
    return int(line) if where == path and line.isdecimal() else None
