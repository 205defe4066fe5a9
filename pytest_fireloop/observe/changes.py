"""What changed between two states of the tree, and what share of it touches tests."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from pytest_fireloop.inside.hashing import blake2b

#: Written by tools, by file name or by folder; named among the files, left out of the line counts.
GENERATED_NAMES = (
    "*.lock",
    "*.lockb",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "conda-lock.yml",
    "pylock.toml",
    "pylock.*.toml",
    "go.sum",
    "*_pb2.py",
    "*_pb2.pyi",
    "*_pb2_grpc.py",
    "*.min.js",
    "*.min.css",
    "*.js.map",
    "*.css.map",
)
GENERATED_FOLDERS = ("build", "dist", "*.egg-info", "*.dist-info")
PYTHON = (".py", ".pyi", ".pyw")


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed file, in lines.

    A renamed file is two: the old path loses one line, the new one gains one beside the lines that differ. A binary file, or one over 2 MB, counts one line for each side that has it. `digest` is the fingerprint of its edit.
    """

    path: str
    added: int
    removed: int
    kind: str = "source"
    meaningful: bool = True
    digest: str = ""


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """All changed files; `test_fix_ratio` is None when no line counted, `approach` when no file changed."""

    files: tuple[FileChange, ...] = ()
    source_lines: int = 0
    test_lines: int = 0
    test_fix_ratio: float | None = None
    approach: str | None = None

    @classmethod
    def of(cls, changes: Iterable[FileChange], is_test: Callable[[str], bool] = lambda _path: False) -> ChangeSet:
        """Build the set from single changes, in the order of their paths."""
        files = tuple(
            replace(change, kind=_kind(change.path, is_test)) for change in sorted(changes, key=lambda each: each.path)
        )
        lines = Counter[str]()
        for change in files:
            lines[change.kind] += change.added + change.removed
        source, test = lines["source"], lines["test"]
        ratio = test / (source + test) if source + test else None
        approach = _hash(f"{change.path}\0{change.digest}" for change in files) if files else None
        return cls(files, source, test, ratio, approach)

    def to_json(self) -> dict[str, Any]:
        """Return the change set as it stands in a run record."""
        return {
            "files": [change.path for change in self.files],
            "source_lines": self.source_lines,
            "test_lines": self.test_lines,
            "test_fix_ratio": self.test_fix_ratio,
        }


def approach_of(edits: Iterable[tuple[str, Sequence[bytes], Sequence[bytes]]]) -> str | None:
    """Return the fingerprint of edits given as path, removed lines, added lines; None without any.

    Where the lines stand, how they are indented and spaced, and blank lines among them play no part.
    """
    return ChangeSet.of(FileChange(path, 0, 0, digest=edit_digest(old, new)) for path, old, new in edits).approach


def edit_digest(removed: Iterable[bytes], added: Iterable[bytes]) -> str:
    """Return the fingerprint of one file's edit."""
    sides = ([squeezed for line in lines if (squeezed := _squeeze(line))] for lines in (removed, added))
    return _hash(repr(side) for side in sides)


def is_meaningful(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Whether more than white space and, in Python, comments and layout differs; None stands for no file."""
    if before is None or after is None or b"\0" in before or b"\0" in after:
        return before != after
    if path.endswith(PYTHON):
        old, new = _syntax(before), _syntax(after)
        if old is not None or new is not None:
            return old != new
    return _squeeze(before) != _squeeze(after)


def _syntax(source: bytes) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.dump(ast.parse(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _squeeze(text: bytes) -> bytes:
    return b"".join(text.split())


def _kind(path: str, is_test: Callable[[str], bool]) -> str:
    *folders, name = path.split("/")
    if any(fnmatchcase(name, pattern) for pattern in GENERATED_NAMES):
        return "generated"
    if is_test(path):
        return "test"
    made = any(fnmatchcase(folder, pattern) for folder in folders for pattern in GENERATED_FOLDERS)
    return "generated" if made else "source"


def _hash(parts: Iterable[str]) -> str:
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=8).hexdigest()
