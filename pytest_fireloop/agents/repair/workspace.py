"""The user's tree, its copies, and what may be edited in it."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

MOST_BYTES = 1 << 30
_LEFT_OUT = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".bzr",
        ".tox",
        ".nox",
        ".venv",
        ".fireloop",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        "__pycache__",
        "node_modules",
    }
)
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "fixtures", "testdata"})
_TEST_FILE = re.compile(r"(test_.*|.*_tests?|tests?|conftest|setup|noxfile|sitecustomize|usercustomize)\.py")


class WorkspaceError(Exception):
    """The tree cannot be copied, or changed while it was worked on."""


def is_product(path: str, collected: Collection[str]) -> bool:
    """Tell whether a file may be edited: Python source that is no test, no conftest and no configuration."""
    parts = PurePosixPath(path)
    return (
        parts.suffix == ".py"
        and path not in collected
        and not _TEST_FILE.fullmatch(parts.name)
        and not any(part in _TEST_FOLDERS for part in parts.parts[:-1])
    )


def copy_tree(tree: Path, destination: Path) -> None:
    """Copy the files of a tree without repositories, environments and caches; raises WorkspaceError."""
    size = 0
    for folder, names, files in os.walk(tree):
        names[:] = [name for name in names if not _is_left_out(Path(folder, name))]
        target = destination / Path(folder).relative_to(tree)
        target.mkdir(parents=True, exist_ok=True)
        for name in [*files, *(name for name in names if Path(folder, name).is_symlink())]:
            path = Path(folder, name)
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode) or stat.S_ISREG(status.st_mode):
                size += status.st_size
                if size > MOST_BYTES:
                    raise WorkspaceError(f"the tree holds more than {MOST_BYTES >> 20} MB: too much to copy")
                shutil.copy2(path, target / name, follow_symlinks=False)


def _is_left_out(folder: Path) -> bool:
    return folder.name in _LEFT_OUT or (folder / "pyvenv.cfg").exists()


def python_files(tree: Path) -> Iterator[str]:
    """Yield the Python files of a tree, relative, with forward slashes."""
    for folder, names, files in os.walk(tree):
        names[:] = sorted(name for name in names if not _is_left_out(Path(folder, name)))
        for name in sorted(files):
            path = Path(folder, name)
            if name.endswith(".py") and not path.is_symlink():
                yield path.relative_to(tree).as_posix()


def replace_file(path: Path, old: bytes, new: bytes, scratch: Path) -> None:
    """Replace a file's content at once, keeping its mode; raises WorkspaceError if it is no longer the old one."""
    if path.read_bytes() != old:
        raise WorkspaceError(f"{path} changed while it was repaired")
    status = path.stat()
    folder = scratch if scratch.stat().st_dev == status.st_dev else path.parent
    descriptor, temporary = tempfile.mkstemp(prefix=".fireloop-", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
