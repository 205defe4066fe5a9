"""Git on a bare repository of our own, cut off from every configuration of the user and of the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from pytest_fireloop.act.object_reader import CheckpointError, Memory, ObjectReader

TIMEOUT_S = 300.0
#: What git makes of a bare repository; where one of them is gone it is made again.
COMPLETE = ("HEAD", "config", "objects", "refs")
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


class ShadowGit:
    """Runs git against our bare repository, with the user's tree as the work tree and no index by default."""

    def __init__(self, repository: Path, tree: Path) -> None:
        self.repository, self.tree = repository, tree
        #: What the readers have read.
        self.memory = Memory()
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
        """Read many objects from one process, which starts when something is asked that is not known."""
        with ExitStack() as ended:
            yield ObjectReader(lambda: self._opened(ended), self.memory)

    def _opened(self, ended: ExitStack) -> tuple[IO[bytes], IO[bytes]]:
        words = [*self._base, "cat-file", "--batch"]
        process = ended.enter_context(
            subprocess.Popen(
                words,
                env=self._environment,
                cwd=self.repository,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=0,
            )
        )
        assert process.stdin is not None
        assert process.stdout is not None
        return process.stdin, process.stdout

    def _with(self, index: str | None) -> Mapping[str, str]:
        return {**self._environment, "GIT_INDEX_FILE": index} if index else self._environment


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
