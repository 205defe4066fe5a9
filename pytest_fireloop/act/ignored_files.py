"""Files of a tree that no checkpoint holds: build products, of which a clean room may need some. Caches are none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pytest_fireloop.act.ignore_rules import ENVIRONMENT_MARK
from pytest_fireloop.observe.integrity.finding import Finding

CACHES = frozenset(
    {".git", ".fireloop", "__pycache__", ".tox", ".nox", "node_modules", ".hypothesis", "htmlcov"}
    | {".pytest_cache", ".mypy_cache", ".ruff_cache"}
)
BYTE_CODE = (".pyc", ".pyo")
#: More than this is no build product of a library; then the room does without.
FILES_LIMIT, BYTES_LIMIT = 20_000, 300_000_000
#: Size, the two times and the inode; nobody can set the second time.
Stamp = tuple[int, int, int, int]


class IgnoredFiles:
    """Looked at before an agent works; what belongs to the tests is kept as it was then."""

    def __init__(
        self, tree: Path, held: Collection[str], keeps: Callable[[str], bool], *, work: Path, state: Path
    ) -> None:
        self._tree, self._keeps = tree, keeps
        #: A folder of ours, which may lie in the tree.
        self._state = state
        self._kept = work / "ignored"
        self.found = dict(_ignored(tree, held, state))
        sizes = (stamp[0] for stamp in self.found.values())
        self.fit = bool(self._products(self.found)) and len(self.found) <= FILES_LIMIT and sum(sizes) <= BYTES_LIMIT
        if self.fit:
            for path in filter(keeps, self._products(self.found)):
                _copy(tree / path, self._kept / path)

    def lay(self, room: Path, held: Collection[str]) -> list[Finding]:
        """Copy the build products as they are now into a room, the tests' own as they were; name what changed since."""
        now = dict(_ignored(self._tree, held, self._state))
        changed = []
        for path in self._products(now):
            if not self._keeps(path):
                _copy(self._tree / path, room / path)
                if self.found.get(path) != now[path]:
                    changed.append(path)
        for path in filter(self._keeps, self._products(self.found)):
            _copy(self._kept / path, room / path)
        detail = "an ignored file as it was at the start -> changed, and taken for product"
        return [Finding.of("build_product_changed", path, 0, detail) for path in changed]

    def planted(self, held: Collection[str]) -> Iterator[Finding]:
        """Find byte code that Python would import in place of a source, or without one."""
        for path, stamp in _ignored(self._tree, held, self._state, BYTE_CODE):
            if self.found.get(path) == stamp:
                continue
            # beside its source it may be what a run of the tests writes each time
            source = self._tree / f"{path.rpartition('.')[0]}.py"
            if path not in self.found or not source.exists():
                yield Finding.of("byte_code_added", path, 0, "no such file -> code that nobody can read")

    def _products(self, files: Mapping[str, Stamp]) -> list[str]:
        return [path for path in files if not path.endswith(BYTE_CODE)]


def byte_code_since(tree: Path, seconds: float) -> Iterator[Finding]:
    """Find byte code outside the caches that came or changed since a time: Python imports it without a source."""
    for path, stamp in _ignored(tree, (), None, BYTE_CODE):
        if stamp[2] > seconds * 1e9:
            yield Finding.of("byte_code_added", path, 0, "no such file -> code that nobody can read")


def _ignored(
    tree: Path, held: Collection[str], state: Path | None, endings: str | tuple[str, ...] = ""
) -> Iterator[tuple[str, Stamp]]:
    """Walk the tree without its caches and environments, and follow no link; of files take those with such an ending."""
    known = held if isinstance(held, dict) else frozenset(held)
    pending = [""]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(tree / folder) as entries:
                found = list(entries)
        except OSError:
            continue
        if folder and any(entry.name == ENVIRONMENT_MARK for entry in found):
            continue
        for entry in found:
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in CACHES and (state is None or Path(entry.path) != state):
                        pending.append(f"{folder}{entry.name}/")
                    continue
                if not entry.name.endswith(endings) or entry.name.startswith(".cov"):
                    continue
                path = folder + entry.name
                if path not in known and entry.is_file(follow_symlinks=False):
                    seen = entry.stat(follow_symlinks=False)
                    yield path, (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)


def _copy(source: Path, target: Path) -> None:
    with suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
