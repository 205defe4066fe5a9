"""What starts the tests where a command of the user's own does, noted at the start and compared before green counts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from pytest_fireloop.act.environment_record import digest, is_harmless
from pytest_fireloop.act.ignore_rules import ENVIRONMENT_MARK
from pytest_fireloop.act.own_command import OwnCommand
from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.shadowing import START_MODULES
from pytest_fireloop.observe.integrity.start_files import same_start, start_files
from pytest_fireloop.observe.test_files import is_configuration

#: Folders of the system, which no agent of a user's own can write to, or which a compare with the environment looks at.
SYSTEM = ("/bin/", "/dev/", "/etc/", "/lib", "/opt/", "/proc/", "/sbin/", "/sys/", "/usr/")
#: Files beside the checkpoints count where they can be run, or are read by what runs.
READ = (".sh", ".bash", ".env", ".mk", ".py", ".js", ".rb", ".pl", ".cfg", ".ini", ".toml", ".yml", ".yaml")
#: How deep environments of tox, nox and by hand lie in a tree.
DEPTH = 3
IMPORTED = r"\b(?:import|from|require|include|use|load)\b[^\n]{0,200}?\b"


class StartOfTests:
    """Holds the files by which a command starts the tests; `read_all` gives the bytes of files of the start."""

    def __init__(
        self,
        own: OwnCommand,
        tree: Path,
        blobs: Mapping[str, str],
        read_all: Callable[[Iterable[str]], Mapping[str, bytes]],
        *,
        keeps: Callable[[str], bool],
        is_opened: Callable[[str], bool],
    ) -> None:
        self._tree, self._blobs = tree, blobs
        self._keeps, self._is_opened = keeps, is_opened
        self._reports = {str(path) for pattern in own.reports for path in tree.glob(pattern)}
        kept = {path for path in blobs if keeps(path)}
        tests = b"\n".join(read_all(path for path in kept if not is_configuration(path)).values())

        def is_product(path: str) -> bool:
            stem = re.escape(path.rpartition("/")[2].partition(".")[0])
            return re.search(f"{IMPORTED}{stem}\\b".encode("utf-8", "surrogateescape"), tests) is not None

        held = [path for path in blobs if path not in kept]
        self._files = start_files(own.words, held, lambda path: read_all([path])[path], is_product)
        self._contents = read_all(self._files.paths)
        self._beside = dict(self._look_beside())
        self._environments = frozenset(_environments(tree))
        self._startup = dict(self._look_at_environments())

    def changes(self, now: Mapping[str, str], read: Callable[[str], bytes]) -> Iterator[Finding]:
        """Find what no longer starts the tests as it did; `now` holds the blob ids of the candidate, `read` its bytes."""
        for path in sorted(self._files.paths):
            if self._is_opened(path) or now.get(path) == self._blobs[path]:
                continue
            if path not in now or not same_start(path, self._contents[path], read(path)):
                yield _changed(path, "as it was at the start", "edited" if path in now else "gone")
        for path in sorted(now.keys() - self._blobs.keys()):
            if self._files.takes_over(path) and not self._keeps(path) and not self._is_opened(path):
                yield _changed(path, "no such file", "new, and a program that starts the tests would take it")
        yield from self._differences(self._beside, dict(self._look_beside()))
        yield from self._differences(self._startup, dict(self._look_at_environments()))

    def _differences(self, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Finding]:
        for path in sorted(before.keys() | after.keys()):
            was, is_now = before.get(path), after.get(path)
            if was != is_now and not self._is_opened(path):
                change = "changed" if was and is_now else "new" if is_now else "gone"
                yield _changed(path, "as it was at the start" if was else "no such file", change)

    def _look_beside(self) -> Iterator[tuple[str, str]]:
        """Yield the files that the command names and no checkpoint holds: ignored ones, and those of other folders."""
        for name in sorted(self._files.elsewhere):
            path = os.path.normpath(os.path.join(self._tree, os.path.expanduser(name)))
            relative = os.path.relpath(path, self._tree)
            if path.startswith(SYSTEM) or path in self._reports or relative in self._blobs:
                continue
            found = digest(path)
            if found and (path.endswith(READ) or os.access(path, os.X_OK) or name in self._files.run):
                yield relative if not relative.startswith("..") else path, found

    def _look_at_environments(self) -> Iterator[tuple[str, str]]:
        """Yield what starts code in every interpreter of an environment that lies in the tree.

        Of an environment that came later, path files are what its maker wrote.
        """
        for environment in _environments(self._tree):
            for folder in (*environment.glob("lib/python*/site-packages"), environment / "Lib" / "site-packages"):
                for path in sorted(folder.glob("*.p*")) if folder.is_dir() else ():
                    starts = path.suffix == ".pth" and environment in self._environments and not is_harmless(path)
                    if starts or path.name.partition(".")[0] in START_MODULES:
                        yield str(path.relative_to(self._tree)), digest(path)


def _changed(path: str, was: str, change: str) -> Finding:
    detail = f"{was} -> {change}; it decides how the test command runs the tests"
    return Finding.of("start_of_tests_changed", path, 0, detail)


def _environments(tree: Path) -> Iterator[Path]:
    pending: list[tuple[Path, int]] = [(tree, 0)]
    while pending:
        folder, depth = pending.pop()
        try:
            with os.scandir(folder) as entries:
                found = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        if (folder / ENVIRONMENT_MARK).is_file():
            yield folder
        elif depth < DEPTH:
            pending += [(Path(entry.path), depth + 1) for entry in found if entry.name not in {".git", "node_modules"}]
