"""Git on a bare repository of our own, cut off from every configuration of the user and of the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

TIMEOUT_S = 300.0
#: What git makes of a bare repository; where one of them is gone it is made again.
COMPLETE = ("HEAD", "config", "objects", "refs")
#: Ids that are sent before the first answer is read: together well below what a pipe holds.
AT_ONCE = 250
#: Folders of trees that are kept in memory at most.
TREES_KEPT = 50_000
Children = tuple[tuple[str, str, str], ...]
IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "fireloop"), ("EMAIL", "fireloop@invalid"))
}
#: Bytes come back as they were, and are compared as they are, whatever the tree's own attributes say.
ATTRIBUTES = "* -text -filter -ident -working-tree-encoding !eol !diff\n"
SETTINGS = {
    "core.quotePath": "false",
    "core.autocrlf": "false",
    "core.fileMode": "true",
    "core.symlinks": "true",
    "core.ignoreCase": "false",
    "core.protectNTFS": "false",
    "core.protectHFS": "false",
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.excludesFile": os.devnull,
    "core.attributesFile": os.devnull,
    "core.compression": "1",
    "gc.auto": "0",
}
_FOLDER = "40000"
#: Names that lead out of a folder, or into a repository; git itself stores none of them.
_REFUSED = frozenset({b"", b".", b"..", b".git"})


class CheckpointError(Exception):
    """Our own repository cannot be used; the message is one line."""


class ShadowGit:
    """Runs git against our bare repository, with the user's tree as the work tree and no index by default."""

    def __init__(self, repository: Path, tree: Path) -> None:
        self.repository, self.tree = repository, tree
        #: Folders of stored trees that were read before: most are the same from checkpoint to checkpoint.
        self._trees: dict[str, Children] = {}
        # found once, before any agent runs: the path may lead through folders that an agent can write to
        self._program = shutil.which("git") or "git"
        self._base = [self._program, *(word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}"))]
        self._environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
            **IDENTITY,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_DIR": str(repository),
            "GIT_WORK_TREE": str(tree),
            "GIT_INDEX_FILE": str(repository / "no-index"),
            "HOME": str(repository),
            "XDG_CONFIG_HOME": str(repository),
            "LC_ALL": "C",
        }

    def create(self) -> None:
        """Make the bare repository, or complete one; raises CheckpointError without git or room."""
        try:
            self.repository.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not all((self.repository / name).exists() for name in COMPLETE):
                environment = {key: value for key, value in self._environment.items() if key != "GIT_WORK_TREE"}
                _call([self._program, "init", "--quiet", "--bare", "--template="], environment, b"", self.repository)
            (self.repository / "info").mkdir(exist_ok=True)
            (self.repository / "info" / "attributes").write_text(ATTRIBUTES, encoding="utf-8")
        except OSError as error:
            raise CheckpointError(f"cannot make {str(self.repository)!r}: {error}") from error

    def run(self, *words: str, given: bytes = b"", index: str | None = None) -> bytes:
        """Run one git command, on an index file where it needs one; raises CheckpointError with git's last line."""
        return _call([*self._base, *words], self._with(index), given, self.tree)

    def text(self, *words: str, given: bytes = b"", index: str | None = None) -> str:
        """Run one git command and return its output as stripped text."""
        return os.fsdecode(self.run(*words, given=given, index=index)).strip()

    def store(self, paths: Sequence[str]) -> list[str]:
        """Store the bytes of files as they are, and return their blob ids; no path may hold a line break."""
        given = b"".join(os.fsencode(path) + b"\n" for path in paths)
        return self.text("hash-object", "-w", "--no-filters", "--stdin-paths", given=given).split()

    def enter(self, rows: Iterable[tuple[str, str, str]], index: str) -> None:
        """Put mode, blob id and path of files into an index."""
        given = b"".join(f"{mode} {oid}\t".encode("ascii") + os.fsencode(path) + b"\0" for mode, oid, path in rows)
        self.run("update-index", "--replace", "-z", "--index-info", given=given, index=index)

    @contextmanager
    def objects(self) -> Iterator[ObjectReader]:
        """Open one process that many objects are read from."""
        words = [*self._base, "cat-file", "--batch"]
        with subprocess.Popen(
            words,
            env=self._environment,
            cwd=self.repository,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            yield ObjectReader(process.stdin, process.stdout, self._trees)

    def _with(self, index: str | None) -> Mapping[str, str]:
        return {**self._environment, "GIT_INDEX_FILE": index} if index else self._environment


class ObjectReader:
    """Reads stored objects; each is checked against its id, so that what is read is what was stored."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes], trees: dict[str, Children] | None = None) -> None:
        self._questions, self._answers = questions, answers
        self._trees = {} if trees is None else trees

    def read(self, wanted: str) -> bytes:
        """Return the content of an object; raises CheckpointError when it is missing or damaged."""
        return next(self.read_all([wanted]))

    def read_all(self, wanted: Iterable[str]) -> Iterator[bytes]:
        """Yield the contents of objects in their order, asked for many at a time."""
        rest = iter(wanted)
        while asked := list(islice(rest, AT_ONCE)):
            try:
                self._questions.write("".join(f"{oid}\n" for oid in asked).encode("ascii"))
                self._questions.flush()
            except (OSError, ValueError) as error:
                raise CheckpointError(f"cannot read checkpoint object {asked[0]!r}: {error}") from error
            for oid in asked:
                yield self._answer(oid)

    def _answer(self, wanted: str) -> bytes:
        head = self._answers.readline().split()
        if len(head) != 3:
            raise CheckpointError(f"there is no checkpoint object {wanted!r}")
        content = self._answers.read(int(head[2]))
        self._answers.read(1)
        import hashlib

        found = hashlib.sha256() if len(head[0]) == 64 else hashlib.sha1(usedforsecurity=False)
        found.update(b"%s %d\0" % (head[1], len(content)))
        found.update(content)
        if found.hexdigest() != head[0].decode() or not found.hexdigest().startswith(wanted):
            raise CheckpointError(f"checkpoint object {wanted!r} is damaged")
        return content

    def entries(self, commit: str) -> Iterator[tuple[str, str, str]]:
        """Yield path, mode and blob id of each file of a commit, in no particular order."""
        pending = [("", self.tree(commit))]
        while pending:
            folder, tree = pending.pop()
            for mode, name, oid in self._children(tree):
                if mode == _FOLDER:
                    pending.append((f"{folder}{name}/", oid))
                else:
                    yield f"{folder}{name}", mode, oid

    def find(self, commit: str, path: str) -> str | None:
        """Return the blob id of one file of a commit, or None."""
        found = (_FOLDER, self.tree(commit))
        for part in path.split("/"):
            if found[0] != _FOLDER:
                return None
            children = {name: (mode, oid) for mode, name, oid in self._children(found[1])}
            if part not in children:
                return None
            found = children[part]
        return found[1] if found[0] != _FOLDER else None

    def tree(self, commit: str) -> str:
        """Return the id of a commit's tree."""
        head, _, oid = self.read(commit).partition(b"\n")[0].partition(b" ")
        if head != b"tree":
            raise CheckpointError(f"{commit!r} is no checkpoint")
        return oid.decode()

    def parent(self, commit: str) -> str | None:
        """Return the id of a commit's first parent, or None."""
        lines = self.read(commit).partition(b"\n\n")[0].split(b"\n")
        return next((line[7:].decode() for line in lines if line.startswith(b"parent ")), None)

    def _children(self, tree: str) -> Children:
        """Return mode, name and id of what a folder holds."""
        known = self._trees.get(tree)
        if known is None:
            if len(self._trees) > TREES_KEPT:
                self._trees.clear()
            known = self._trees[tree] = tuple(self._parsed(tree))
        return known

    def _parsed(self, tree: str) -> Iterator[tuple[str, str, str]]:
        content, id_bytes = self.read(tree), len(tree) // 2
        position = 0
        while position < len(content):
            end = content.index(b"\0", position) + 1
            mode, _, name = content[position : end - 1].partition(b" ")
            position = end + id_bytes
            if name in _REFUSED or b"/" in name:
                raise CheckpointError(f"checkpoint object {tree!r} holds the name {os.fsdecode(name)!r}")
            yield mode.decode(), os.fsdecode(name), content[end:position].hex()


def split_names(output: bytes) -> list[str]:
    """Split NUL-ended names."""
    return [name for name in os.fsdecode(output).split("\0") if name]


def join_names(names: Iterable[str]) -> bytes:
    """Join names for git's `-z --stdin`."""
    return b"".join(os.fsencode(name) + b"\0" for name in names)


def _call(words: Sequence[str], environment: Mapping[str, str], given: bytes, folder: Path) -> bytes:
    try:
        done = subprocess.run(
            words,
            env=environment,
            input=given,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            cwd=folder,
            process_group=0,  # an interrupt from the keyboard is for us to act on
        )
    except FileNotFoundError as error:
        if not folder.is_dir():
            raise CheckpointError(f"{str(folder)!r} is no folder") from error
        raise CheckpointError("git is not installed, and checkpoints need it: install git") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise CheckpointError(f"git cannot run: {error}") from error
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit status {done.returncode}"]
        raise CheckpointError(f"git: {lines[-1]}")
    return done.stdout
