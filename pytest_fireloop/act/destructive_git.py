"""What a git command would throw away: git itself says it, without the words that do it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pytest_fireloop.act.braces import expanded

GIT_LIMIT_S = 30.0


def _git_clean(arguments: Sequence[str], folder: Path) -> bytes | None:
    words = [re.sub(r"^-(?!-)(\w*)f(\w*)$", r"-\1\2", word) for word in arguments if word not in {"-f", "--force"}]
    output = _ask_git(["clean", "-n", *(word for word in words if word not in {"-", "-q", "--quiet"})], folder)
    if output is None:
        return None
    lines = [line.removeprefix(b"Would remove ") for line in output.splitlines() if line.startswith(b"Would remove ")]
    return b"\0".join(line.rstrip(b"/") for line in lines)


def _git_rm(arguments: Sequence[str], folder: Path) -> bytes | None:
    paths = [word for word in arguments if not word.startswith("-")]
    return b"" if "--cached" in arguments else _ask_git(["ls-files", "-z", "--", *paths], folder)


def _git_mv(arguments: Sequence[str], _: Path) -> bytes | None:
    """Return what is moved: all but the last word."""
    paths = [word for word in arguments if not word.startswith("-")][:-1]
    return b"\0".join(os.fsencode(each) for path in paths for each in expanded(path))


def _git_checkout(arguments: Sequence[str], folder: Path) -> bytes | None:
    """Throws away edits where paths are given, or where it is forced."""
    paths = list(arguments[arguments.index("--") + 1 :]) if "--" in arguments else []
    paths = paths or [word for word in arguments if not word.startswith("-") and (folder / word).exists()]
    forced = {"-f", "--force", "--discard-changes"} & set(arguments)
    return _edited(folder, [] if forced else paths) if paths or forced else b""


def _git_restore(arguments: Sequence[str], folder: Path) -> bytes | None:
    if "--staged" in arguments and not {"--worktree", "-W"} & set(arguments):
        return b""
    return _edited(folder, [word for word in arguments if not word.startswith("-")])


def _git_reset(arguments: Sequence[str], folder: Path) -> bytes | None:
    return _edited(folder, []) if {"--hard", "--merge", "--keep"} & set(arguments) else b""


def _git_stash(arguments: Sequence[str], folder: Path) -> bytes | None:
    if arguments and arguments[0] not in {"push", "save"} and not arguments[0].startswith("-"):
        return b""
    more = b""
    if {"-u", "--include-untracked", "-a", "--all"} & set(arguments):
        ignored = [] if {"-a", "--all"} & set(arguments) else ["--exclude-standard"]
        more = _ask_git(["ls-files", "-z", "--others", *ignored], folder) or b""
    edited = _edited(folder, [])
    return None if edited is None else edited + b"\0" + more


def _edited(folder: Path, paths: Sequence[str]) -> bytes | None:
    return _ask_git(["diff", "--name-only", "--relative", "--no-ext-diff", "-z", "HEAD", "--", *paths], folder)


GIT: Mapping[str, Callable[[Sequence[str], Path], bytes | None]] = {
    "clean": _git_clean,
    "rm": _git_rm,
    "mv": _git_mv,
    "checkout": _git_checkout,
    "switch": _git_checkout,
    "restore": _git_restore,
    "reset": _git_reset,
    "stash": _git_stash,
}


def _ask_git(words: Sequence[str], folder: Path) -> bytes | None:
    return ask(["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *words], folder)


def ask(words: Sequence[str], folder: Path) -> bytes | None:
    """Run what only looks; None when it has no answer."""
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=GIT_LIMIT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None
