"""Checkpoints: commits of the whole tree in a bare repository of our own."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fireloop.act.file_changes import changes_of
from pytest_fireloop.act.ignore_pattern import IgnorePatterns
from pytest_fireloop.act.ignore_rules import IgnoreRules, Rule, collect
from pytest_fireloop.act.object_reader import CheckpointError, Entries
from pytest_fireloop.act.permissions import Permissions
from pytest_fireloop.act.restore_scope import BEFORE, Stored
from pytest_fireloop.act.restored import Present, Restored, Wanted, put_back
from pytest_fireloop.act.shadow_git import ShadowGit
from pytest_fireloop.act.tree_difference import compare
from pytest_fireloop.act.tree_files import SIZE_LIMIT, TreeWalk
from pytest_fireloop.act.tree_index import TreeIndex
from pytest_fireloop.act.tree_writer import TEMPORARY, TreeWriter
from pytest_fireloop.observe.changes import FileChange

if TYPE_CHECKING:
    from pytest_fireloop.act.kept_repository import KeptRepository
    from pytest_fireloop.act.protected import ProtectedFiles

__all__ = ["Checkpoint", "CheckpointError", "Checkpoints", "Restored"]

#: Every checkpoint has a ref of its own here, named after its commit.
REFS = "refs/fireloop/"
#: The user's objects, beside what is ours.
OBJECTS = "repository-objects"
#: How often a tree is listed when files come and go between the walk and git.
TRIES = 3
#: Commits whose files are kept in memory.
COMMITS_HELD = 3


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One stored state; `files` counts what it holds, `left_out` names files too large or unreadable, and environments."""

    commit: str
    tree: str
    files: int
    left_out: tuple[str, ...] = ()


class Checkpoints:
    """Stores and restores the files of a tree; the user's repository is only written by `restore_repository`.

    Bytes, permissions and links come back as they were; empty folders are not kept. `with_repository` keeps the user's
    repository with each checkpoint, as the parent of its commit.
    """

    def __init__(
        self, repository: Path, tree: Path, *, size_limit: int = SIZE_LIMIT, with_repository: bool = False
    ) -> None:
        self.repository, self.tree = Path(os.path.abspath(repository)), Path(os.path.abspath(tree))
        self._size_limit = size_limit
        self._git = ShadowGit(self.repository, self.tree)
        self._index = TreeIndex(self._git)
        self._rules_file = self.repository / "fireloop.ignore.json"
        self._rules: IgnoreRules | None = None
        self._patterns: IgnorePatterns | None = None
        self._held: dict[str, Entries] = {}
        self._blobs: tuple[str, dict[str, str]] = ("", {})
        self._with_repository = with_repository

    @classmethod
    def open(cls, repository: Path, tree: Path, *, with_repository: bool = False) -> Checkpoints:
        """Open the bare repository, made when absent, with the ignore rules of then; raises CheckpointError."""
        opened = cls(repository, tree, with_repository=with_repository)
        if not opened._rules_file.exists():
            opened.refresh_rules()
        return opened

    def protected(self, globs: Sequence[str]) -> ProtectedFiles:
        """Return the protected files of the tree, which are stored here too."""
        from pytest_fireloop.act.protected import ProtectedFiles

        return ProtectedFiles(self._git, self.tree, globs)

    def refresh_rules(self, outputs: Sequence[str] = ()) -> None:
        """Take the ignore rules and the tracked files as they are now: at the start of each loop.

        `outputs` are patterns of files that the tests write, as in an ignore file at the top of the tree.
        """
        self._git.create()
        try:
            found = collect(self.tree)
            own = tuple(Rule(found.prefix, f"/{pattern}") for pattern in outputs)
            self._rules, self._patterns = replace(found, rules=(*found.rules, *own)) if own else found, None
            self._index.forget()
            self._rules.write(self._rules_file)
        except OSError as error:
            raise CheckpointError(f"cannot write below {str(self.repository)!r}: {error}") from error

    def take(self, message: str) -> Checkpoint:
        """Commit the tree as it is, untracked files included, those ignored at the start not."""
        return self._take(message, ())

    def changes(self, old: str, new: str) -> tuple[FileChange, ...]:
        """Return what changed from one checkpoint to another, by path."""
        with self._git.objects() as objects:
            trees = objects.tree(old), objects.tree(new)
            if trees[0] == trees[1]:
                return ()
            return tuple(change for each in compare(self._git, *trees) for change in changes_of(each, objects))

    def changed(self, old: str, new: str) -> list[str]:
        """Name the files that differ between two checkpoints, sorted."""
        with self._git.objects() as objects:
            return sorted({path for sides in objects.differing(old, new) for side in sides for path in side})

    def diff(self, old: str, new: str, paths: Sequence[str] = ()) -> str:
        """Return the changes as a patch, of all files or of those at or below the given paths."""
        with self._git.objects() as objects:
            trees = objects.tree(old), objects.tree(new)
        words = ("diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", *trees, "--", *paths)
        return self._git.run(*words).decode("utf-8", "replace")

    def read(self, commit: str, path: str) -> bytes:
        """Return one file's bytes, of a link its target; raises CheckpointError when the checkpoint lacks it."""
        with self._git.objects() as objects:
            oid = objects.find(commit, path)
            if oid is None:
                raise _lacks(commit, path)
            return objects.read(oid)

    def read_all(self, commit: str, paths: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of files that a checkpoint holds, by path."""
        held = self._entries(commit)
        wanted = [path for path in paths if path in held]
        with self._git.objects() as objects:
            return dict(zip(wanted, objects.read_all(held[path][1] for path in wanted), strict=True))

    def files(self, commit: str) -> dict[str, str]:
        """Return blob ids by path."""
        entries = self._entries(commit)
        if self._blobs[0] != commit:
            self._blobs = commit, {path: oid for path, (_, oid) in entries.items()}
        return self._blobs[1]

    def export(self, commit: str, destination: Path, paths: Iterable[str] | None = None) -> None:
        """Write a checkpoint's files, or some of them, below a folder of ours, made when absent.

        What stands in the way there is replaced; raises CheckpointError for a path that the checkpoint lacks.
        """
        held = self._entries(commit)
        wanted = sorted(held if paths is None else set(paths))
        for path in wanted:
            if path not in held:
                raise _lacks(commit, path)
        try:
            destination.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._git.objects() as objects, TreeWriter(destination, force=True) as writer:
                contents = objects.read_all(held[path][1] for path in wanted)
                for path, content in zip(wanted, contents, strict=True):
                    writer.write(path, held[path][0], content)
        except OSError as error:
            raise CheckpointError(f"cannot export to {str(destination)!r}: {error}") from error

    def restore(self, commit: str, *, later: Iterable[str], known: Iterable[str] = ()) -> Restored:
        """Write the target's files into the tree; remove only what a later checkpoint has and the target lacks.

        What the target lacks goes as well where it is exactly as another checkpoint, of the `known` ones, holds it. The
        present state is stored first; a file that could not be stored is left as it is and named in `failed`.
        """
        target = self._entries(commit)
        surplus = {path for each in later for path in self.files(each)} - target.keys()
        as_stored: dict[str, set[tuple[str, str]]] = {}
        for each in known:
            for path, entry in self._entries(each).items():
                if path not in target:
                    as_stored.setdefault(path, set()).add(entry)
        present = self._take(f"{BEFORE}{commit}", [*target, *surplus, *as_stored])
        now = self._entries(present.commit)
        surplus |= {path for path, entries in as_stored.items() if now.get(path) in entries}
        surplus |= {path for path in now if TEMPORARY.fullmatch(path.rpartition("/")[2])}
        with self._git.objects() as objects:
            bits, found = (Permissions.read(objects.read(each)) for each in (commit, present.commit))
            wanted = Wanted(target, bits, surplus & now.keys())
            done = put_back(self.tree, objects, wanted, Present(now, found))
        failed = (*done.failed, *(path for path in present.left_out if path in surplus))
        kept = tuple(sorted(now.keys() - target.keys() - surplus))
        return replace(done, failed=tuple(sorted(failed)), present=present.commit, kept=kept)

    def kept_repository(self, commit: str) -> str | None:
        """Return the commit that holds the user's repository as it was at a checkpoint, None where none was kept."""
        with self._git.objects() as objects:
            return objects.parent(commit)

    def restore_repository(self, commit: str) -> list[str]:
        """Make the user's repository what it was at a checkpoint, and return what could not be written.

        HEAD, branches, index, stash, hooks and configuration; the caller has taken a checkpoint of the present.
        """
        kept = self.kept_repository(commit)
        if kept is None:
            raise CheckpointError(f"checkpoint {commit[:10]} was taken without a repository")
        return self._users.put_back(kept)

    def newest_first(self) -> list[str]:
        """Return the commits of all checkpoints."""
        return [each.commit for each in self.stored()]

    def stored(self) -> list[Stored]:
        """Return all checkpoints, the newest first."""
        words = (
            "for-each-ref",
            "--sort=-committerdate",
            "--format=%(objectname) %(committerdate:unix) %(subject)",
            REFS,
        )
        rows = (line.split(" ", 2) for line in self._git.text(*words).splitlines())
        return [Stored(row[0], int(row[1]), row[2] if len(row) > 2 else "") for row in rows]

    def unpacked(self) -> int:
        """Count the checkpoints since some were dropped last."""
        try:
            return len(os.listdir(self.repository / REFS))
        except OSError:
            return 0

    def forget_all_but(self, wanted: Collection[str]) -> int:
        """Drop all other checkpoints and what only they hold, and return how many there were."""
        gone = [commit for commit in self.newest_first() if commit not in wanted]
        if gone:
            commands = "".join(f"delete {REFS}{commit}\n" for commit in gone)
            self._git.run("update-ref", "--stdin", given=commands.encode("ascii"))
            self._git.run("gc", "--quiet", "--prune=now")
            for left in self.repository.glob("index-*"):
                shutil.rmtree(left, ignore_errors=True)
            kept = {self.kept_repository(commit) for commit in self.newest_first()} - {None}
            self._users.forget_all_but([commit for commit in kept if commit is not None])
        return len(gone)

    def _take(self, message: str, also: Sequence[str]) -> Checkpoint:
        # held in memory from then on, where nothing that works in the tree can change them
        rules = self._rules = self._rules or IgnoreRules.read(self._rules_file)
        patterns = self._patterns = self._patterns or rules.compile()
        try:
            looked = time.time_ns()
            with self._index.working_copy(looked) as index:
                for left in reversed(range(TRIES)):
                    try:
                        walk = TreeWalk(
                            tree=self.tree,
                            patterns=patterns,
                            prefix=rules.prefix,
                            skipped=self._inside(),
                            size_limit=self._size_limit,
                            known=self._index.known(index),
                            settled=self._index.settled,
                        )
                        found = walk.files([*rules.tracked, *also])
                        self._index.update(index, walk.known, found)
                        tree = self._git.text("write-tree", index=index)
                        break
                    except CheckpointError:
                        if not left:
                            raise
                        self._index.forget()
                        Path(index).unlink(missing_ok=True)
                self._index.accept(index, found, looked, anew=also)
        except OSError as error:
            raise CheckpointError(f"cannot store a checkpoint in {str(self.repository)!r}: {error}") from error
        told = message.replace("\0", " ").encode("utf-8", "backslashreplace")
        given = told + f"\n\n{Permissions.seen(found.present).told()}\n".encode()
        parent, missed = self._repository()
        commit = self._git.text("commit-tree", tree, *parent, "-F", "-", given=given)
        self._git.memory.trees[commit] = tree
        self._git.run("update-ref", f"{REFS}{commit}", commit)
        return Checkpoint(commit, tree, len(found.present), (*found.left_out, *missed))

    def _repository(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Keep the user's repository; one that cannot be kept is no reason to keep no files."""
        if not self._with_repository:
            return (), ()
        for _ in range(TRIES):
            with suppress(CheckpointError, OSError, ValueError):
                kept = self._users.keep()
                return ("-p", kept) if kept else (), tuple(f".git: {name}" for name in self._users.left_out)
        return (), (".git",)

    @cached_property
    def _users(self) -> KeptRepository:
        # imported where a runner works: each run of pytest takes checkpoints, and keeps no repository
        from pytest_fireloop.act.kept_repository import KeptRepository
        from pytest_fireloop.act.object_store import ObjectStore

        return KeptRepository(self._git, self.tree, ObjectStore(self.repository.parent / OBJECTS))

    def _inside(self) -> str | None:
        """Return the folder of our own state when it lies in the tree."""
        for folder in (self.repository.parent, self.repository):
            if self.tree in folder.parents:
                return folder.relative_to(self.tree).as_posix()
        return None

    def _entries(self, commit: str) -> Entries:
        held = self._held.get(commit)
        if held is None:
            last = next(reversed(self._held), None)
            with self._git.objects() as objects:
                held = objects.entries_after(commit, self._held[last], last) if last else objects.entries(commit)
            # the last few are asked for again and again
            self._held = {**dict(list(self._held.items())[1 - COMMITS_HELD :]), commit: held}
        return held


def _lacks(commit: str, path: str) -> CheckpointError:
    return CheckpointError(f"checkpoint {commit[:10]} holds no file {path!r}")
