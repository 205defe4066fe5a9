"""Files that no loop may lose: kept before each call of the agent, ignored ones too, and looked at after it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fireloop.act.ignore_pattern import IgnorePatterns, Pattern, parse
from pytest_fireloop.act.object_reader import CheckpointError
from pytest_fireloop.act.shadow_git import ShadowGit
from pytest_fireloop.act.stored_files import StoredFile, StoredFiles
from pytest_fireloop.act.tree_files import SIZE_LIMIT, through_link
from pytest_fireloop.act.tree_writer import LINK, TreeWriter, git_mode, make_way

#: Plans, specifications and instructions that agents work by, at the top of a tree.
DEFAULTS = (
    "/.ralph/",
    "/.ralphrc",
    "/IMPLEMENTATION_PLAN.md",
    "/AGENTS.md",
    "/specs/",
    "/.claude/",
    "/CLAUDE.md",
    "/memory/",
    "/.fireloop/skills/",
)
#: Folders that hold nothing of the user's own, however a pattern reads.
SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".tox", ".nox"})
#: What was kept last, so that it outlives the runner.
REF = "refs/fireloop-protected/last"
#: Of a file that was written anew so much must be left, or it was thrown away: a share of its lines.
KINSHIP = 0.5
#: What became of a file whose folder is reached through a link now.
BEHIND = "moved behind a link"


@dataclass(frozen=True, slots=True)
class Violation:
    """What became of one protected file; `restored` is None where a change is only reported, False where it failed."""

    path: str
    what: str
    restored: bool | None

    @property
    def told(self) -> str:
        """The violation as one line."""
        end = {None: "", True: "; it is restored", False: "; it could not be restored"}[self.restored]
        return f"protected file {self.path!r} was {self.what}{end}"

    def to_json(self) -> dict[str, Any]:
        """Return the violation as JSON."""
        return {"path": self.path, "what": self.what, "restored": self.restored}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Violation:
        """Read what `to_json` returned."""
        return cls(str(data["path"]), str(data["what"]), data["restored"])


class ProtectedPaths:
    """Which paths are protected: those of the table, and what the user names as in a `.gitignore`."""

    def __init__(self, globs: Sequence[str] = ()) -> None:
        self._globs = tuple(globs)
        self._own = _compiled(self._globs)
        self._all = _compiled((*DEFAULTS, *self._globs))

    def files(self, tree: Path) -> Iterator[tuple[str, str, os.stat_result]]:
        """Yield relative path, path and status of each protected file and link, in no particular order."""
        pending = [("", False)]
        while pending:
            folder, protected = pending.pop()
            try:
                with os.scandir(os.path.join(tree, folder)) as entries:
                    found = list(entries)
            except OSError:
                continue
            for entry in found:
                path, is_folder = folder + entry.name, entry.is_dir(follow_symlinks=False)
                inside = protected or self._all.ignores(path, folder=is_folder)
                if is_folder:
                    leads = bool(self._globs) or any(glob.startswith(f"/{path}/") for glob in DEFAULTS)
                    if inside or (leads and entry.name not in SKIPPED):
                        pending.append((f"{path}/", inside))
                elif inside:
                    try:
                        yield path, entry.path, entry.stat(follow_symlinks=False)
                    except OSError:
                        continue

    def is_named(self, path: str) -> bool:
        """Whether the user named a path, so that it may not even be changed."""
        parts = path.split("/")
        folders = ("/".join(parts[:count]) for count in range(1, len(parts)))
        return self._own.ignores(path, folder=False) or any(self._own.ignores(each, folder=True) for each in folders)


class ProtectedFiles:
    """The protected files of one tree, as they were before the agent's last call."""

    def __init__(self, git: ShadowGit, tree: Path, globs: Sequence[str] = ()) -> None:
        self._git, self._tree = git, tree
        self._paths = ProtectedPaths(globs)
        self._files = StoredFiles(git)
        self._committed: dict[str, StoredFile] | None = None
        self.left_out: tuple[str, ...] = ()

    def keep(self) -> None:
        """Store them as they are; raises CheckpointError."""
        found, left = {}, []
        for path, full, status in self._paths.files(self._tree):
            if stat.S_ISLNK(status.st_mode) or (stat.S_ISREG(status.st_mode) and os.access(full, os.R_OK)):
                if status.st_size > SIZE_LIMIT or "\n" in path:
                    left.append(path)
                else:
                    found[path] = full, status
        self._files.store(found)
        self.left_out = tuple(sorted(left))
        if self._files.rows != self._committed:
            self._git.run("update-ref", REF, self._files.commit("protected files"))
            self._committed = dict(self._files.rows)

    def take_up(self) -> None:
        """Go by what was kept last, by a runner that was cut off."""
        try:
            commit = self._git.text("rev-parse", "--verify", "--quiet", REF)
            with self._git.objects() as objects:
                entries = objects.entries(commit)
        except CheckpointError:
            return
        self._files.rows = {path: StoredFile(oid, mode, (0, 0, 0, 0, 0)) for path, (mode, oid) in entries.items()}

    def verify(self) -> tuple[Violation, ...]:
        """Look at each file that was kept, and put back what is gone, emptied or thrown away, and what the user named."""
        return tuple(found for path, stored in sorted(self._files.rows.items()) if (found := self._look(path, stored)))

    def _look(self, path: str, stored: StoredFile) -> Violation | None:
        full = self._tree / path
        try:
            status: os.stat_result | None = os.lstat(full)
        except OSError:
            status = None
        linked = through_link(self._tree, path)
        if not linked and status is not None and (status.st_mode, status.st_size, status.st_ctime_ns) == _short(stored):
            return None
        with self._git.objects() as objects:
            before = objects.read(stored.oid)
        what = self._change(path, status, stored, before)
        if linked and what in {None, "changed"}:
            what = BEHIND
        if what is None:
            return None
        if what in {"changed", BEHIND} and not self._paths.is_named(path):
            return Violation(path, what, None)
        try:
            if linked:
                _take_away_link(self._tree, path)
            elif status is not None and stat.S_ISDIR(status.st_mode):
                make_way(full)
            with TreeWriter(self._tree) as writer:
                writer.write(path, stored.mode, before)
            if stored.stamp[0] and stored.mode != LINK:
                full.chmod(stat.S_IMODE(stored.stamp[0]))
        except OSError:
            return Violation(path, what, False)
        return Violation(path, what, True)

    def _change(self, name: str, status: os.stat_result | None, stored: StoredFile, before: bytes) -> str | None:
        if status is None:
            return "deleted"
        if stat.S_ISLNK(status.st_mode):
            if stored.mode != LINK:
                return "replaced by a link"
            return None if os.fsencode(os.readlink(self._tree / name)) == before else "changed"
        if not stat.S_ISREG(status.st_mode):
            return "replaced by a folder" if stat.S_ISDIR(status.st_mode) else "replaced by what is no file"
        if stored.mode == LINK:
            return "changed"
        try:
            now = (self._tree / name).read_bytes()
        except OSError:
            return "made unreadable"
        if now == before:
            bits = stat.S_IMODE(stored.stamp[0]) or None
            other = self._paths.is_named(name) and bits not in {None, stat.S_IMODE(status.st_mode)}
            return "changed" if other or stored.mode != git_mode(status.st_mode) else None
        if not now.strip():
            return "emptied"
        anew = stored.stamp[4] not in {0, status.st_ino}
        return "deleted and made again" if anew and _kinship(before, now) < KINSHIP else "changed"


def _take_away_link(tree: Path, path: str) -> None:
    """Remove the link that stands where a folder of a protected file was; a checkpoint holds it."""
    folder = tree
    for part in path.split("/")[:-1]:
        folder /= part
        if folder.is_symlink():
            folder.unlink()
            return


def _kinship(before: bytes, now: bytes) -> float:
    """Return the share of a file's lines that are still there."""
    lines = [line.strip() for line in before.splitlines() if line.strip()]
    left = {line.strip() for line in now.splitlines()}
    return sum(line in left for line in lines) / len(lines) if lines else 1.0


def _short(stored: StoredFile) -> tuple[int, int, int]:
    mode, size, _, changed, _ = stored.stamp
    return mode, size, changed


def _compiled(lines: Sequence[str]) -> IgnorePatterns:
    parsed = (parse(line) for line in lines)
    return IgnorePatterns(each for each in parsed if isinstance(each, Pattern))
