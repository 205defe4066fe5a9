"""What is installed beside the tested project, by what the file system tells of each file: no content is read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

CODE = (".py", ".so", ".pyd")
#: Parts of the standard library that no run of tests loads.
LEFT_OUT = frozenset({"test", "tests", "idlelib", "lib2to3", "site-packages", "dist-packages", "ensurepip"})
STANDARD = "os.py"
Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class InstalledFiles:
    """Stamps by path: of code, of byte code, and of what installers note of their distributions."""

    code: Mapping[str, Stamp]
    byte_code: Mapping[str, Stamp]
    distributions: Mapping[str, Stamp]

    @classmethod
    def look(cls, folders: Iterable[Path]) -> InstalledFiles:
        """Look through the folders of an environment."""
        code: dict[str, Stamp] = {}
        byte_code: dict[str, Stamp] = {}
        distributions: dict[str, Stamp] = {}
        for folder in folders:
            for entry in _files(str(folder), standard=(folder / STANDARD).is_file()):
                if entry.name.endswith(CODE):
                    code[entry.path] = _stamp(entry)
                elif entry.name.endswith(".pyc"):
                    byte_code[entry.path] = _stamp(entry)
                elif entry.name in {"RECORD", "METADATA", "PKG-INFO"}:
                    distributions[entry.path] = _stamp(entry)
        return cls(code, byte_code, distributions)

    def changed_code(self, now: InstalledFiles) -> list[str]:
        """Name the code that came, went or changed."""
        return _changed(self.code, now.code)

    def byte_code_changed(self, now: InstalledFiles) -> bool:
        """Whether any byte code is not what it was; it need not be of the source beside it."""
        return bool(_changed(self.byte_code, now.byte_code))

    def installer_ran(self, now: InstalledFiles) -> bool:
        """Whether an installer noted anything since."""
        return bool(_changed(self.distributions, now.distributions))


def _files(top: str, *, standard: bool) -> Iterator[os.DirEntry[str]]:
    pending = [top]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                found = list(entries)
        except OSError:
            continue
        for entry in found:
            if not entry.is_dir(follow_symlinks=False):
                yield entry
            elif not (standard and entry.name in LEFT_OUT):
                pending.append(entry.path)


def _stamp(entry: os.DirEntry[str]) -> Stamp:
    """Return size, the two times and the inode; nobody can set the second time, which a further hard link moves too."""
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return 0, 0, 0, 0
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _changed(was: Mapping[str, Stamp], now: Mapping[str, Stamp]) -> list[str]:
    return sorted(path for path in was.keys() | now.keys() if was.get(path) != now.get(path))
