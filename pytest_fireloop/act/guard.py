"""What a command or a tool call would take away, held against what is protected."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fireloop.act.denials import note_denial
from pytest_fireloop.act.destructive import affected
from pytest_fireloop.act.protected import ProtectedPaths
from pytest_fireloop.observe.text import one_line

SCHEMA = "fireloop.guard/1"
#: What of a tool's input names a file that it writes.
FILE_FIELDS = ("file_path", "notebook_path")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a command would take away; `protected` and `unknown` are why it is refused."""

    command: str
    files: tuple[str, ...]
    protected: tuple[str, ...]
    unknown: tuple[str, ...] = ()

    @property
    def refusal(self) -> str | None:
        """Why it is refused, in one line, or None."""
        if self.protected:
            more = f" and {len(self.protected) - 1} more" if len(self.protected) > 1 else ""
            return f"protected, not to be removed or overwritten: {self.protected[0]}{more}"
        if self.unknown:
            return f"cannot tell what {self.unknown[0]!r} stands for; name the paths plainly"
        return None

    def to_json(self) -> dict[str, Any]:
        """Return the judgement as JSON."""
        return {
            "schema": SCHEMA,
            "command": self.command,
            "files": list(self.files),
            "protected": list(self.protected),
            "unknown": list(self.unknown),
            "allowed": self.refusal is None,
        }


class Guard:
    """Knows a tree, what is protected in it, and our own state; `call` is the folder of the call that is under way."""

    def __init__(self, tree: Path, globs: Sequence[str], state: Path, call: Path | None = None) -> None:
        self._tree, self._state, self._call = tree, state, call
        self._paths = ProtectedPaths(globs)

    def judge(self, line: str, folder: Path) -> Judgement:
        """Look at a command line without running it."""
        found = affected(line, folder, os.environ)
        targets = {*found.paths, *(path.resolve() for path in found.paths)}
        held = [path for path, _, _ in self._paths.files(self._tree)]
        protected = [path for path in sorted(held) if _hit(self._tree / path, targets)]
        protected += [
            _shown(folder, self._tree)
            for folder in (self._tree / ".git", self._state)
            if os.path.lexists(folder)
            and (_hit(folder, targets) or any(folder in target.parents for target in targets))
        ]
        files = sorted({file for target in targets for file in _files(target, self._tree)})
        return Judgement(line, tuple(files), tuple(protected), tuple(found.unknown))

    def refusal_of_call(self, text: str) -> str | None:
        """Return why a tool call is refused, as an agent hands it to its hooks, and note that.

        What is no such call, or cannot be read, is left to the agent's own rules.
        """
        try:
            event = json.loads(text)
            tool, given = event["tool_name"], event["tool_input"]
            folder = Path(event.get("cwd") or os.getcwd())
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        if not isinstance(given, Mapping):
            return None
        reason = self.judge(str(given["command"]), folder).refusal if "command" in given else self._edit(given, folder)
        if reason is None:
            return None
        told = f"fireloop guard: {one_line(reason)}"
        if self._call is not None:
            note_denial(self._call, f"{tool}: {told}")
        return told

    def _edit(self, given: Mapping[str, Any], folder: Path) -> str | None:
        """Refuse to write what the user named; plans and instructions may be changed."""
        for name in FILE_FIELDS:
            if name in given:
                path = Path(os.path.normpath(folder / str(given[name]))).resolve()
                if path.is_relative_to(self._tree) and self._paths.is_named(path.relative_to(self._tree).as_posix()):
                    return f"protected, not to be changed: {path.relative_to(self._tree).as_posix()}"
        return None


def _hit(path: Path, targets: set[Path]) -> bool:
    return path in targets or any(parent in targets for parent in path.parents)


def _files(target: Path, tree: Path) -> list[str]:
    """Return the files at or below a path; a folder above the tree is named alone."""
    if target.is_dir() and not target.is_symlink():
        if target in tree.parents:
            return [f"{target}/"]
        return [_shown(Path(base, name), tree) for base, _, names in os.walk(target) for name in names]
    return [_shown(target, tree)] if os.path.lexists(target) else []


def _shown(path: Path, tree: Path) -> str:
    return path.relative_to(tree).as_posix() if path.is_relative_to(tree) else str(path)
