"""`fireloop guard`: say what a command would take away, and refuse it where that is protected."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fireloop.act.denials import note_denial
from pytest_fireloop.act.destructive import affected
from pytest_fireloop.act.protected import ProtectedPaths
from pytest_fireloop.act.settings import project_settings
from pytest_fireloop.cli.arguments import usage_error
from pytest_fireloop.cli.tree import parser
from pytest_fireloop.judge.verdict import EXIT_CODES
from pytest_fireloop.observe.text import one_line
from pytest_fireloop.remember.paths import state_folder

PROGRAM = "fireloop guard"
SCHEMA = "fireloop.guard/1"
SHOWN = 20
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


def main(argv: Sequence[str]) -> int:
    """List the files that a command affects; return 0 where none of them is protected, else 11. Nothing is run."""
    cut = argv.index("--") if "--" in argv else len(argv)
    made = parser(
        "guard",
        "Say which files a command would remove or overwrite, and whether one of them is protected. Nothing is run.",
        "fireloop guard -- git clean -fdx",
    )
    made.add_argument("--protect", action="append", default=[], metavar="GLOB", help="more files, as in .gitignore")
    made.add_argument("--json", action="store_true", help="one JSON object")
    made.add_argument("--hook", action="store_true", help="read a tool call as Claude Code hands it to its hooks")
    options = made.parse_args(argv[:cut])
    guard = Guard(options.protect, options.fire_loop_dir)
    if options.hook:
        return guard.hook(sys.stdin.read())
    words = argv[cut + 1 :]
    if not words:
        return usage_error(PROGRAM, "there is no command; write it after --, as in: fireloop guard -- git clean -fdx")
    found = guard.judge(words[0] if len(words) == 1 else shlex.join(words), Path.cwd())
    if options.json:
        sys.stdout.write(json.dumps(found.to_json()) + "\n")
    else:
        for path in found.files[:SHOWN]:
            print(one_line(path))
        if len(found.files) > SHOWN:
            print(f"and {len(found.files) - SHOWN} more")
        print(
            one_line(
                f"refused: {found.refusal}" if found.refusal else f"files affected: {len(found.files)}, none protected"
            )
        )
    return EXIT_CODES["blocked"] if found.refusal else 0


class Guard:
    """Knows the tree and what is protected in it: from a loop that called the agent, else from the project."""

    def __init__(self, globs: Sequence[str], wanted: str | None) -> None:
        self._tree = Path(os.environ.get("FIRELOOP_TREE") or os.getcwd()).resolve()
        told = os.environ.get("FIRELOOP_PROTECT")
        named = json.loads(told) if told is not None else _of_project(self._tree)
        self._paths = ProtectedPaths([*named, *globs])
        call = os.environ.get("FIRELOOP_CALL")
        # of a loop that is at work, the folder that it really uses
        self._state = Path(call).parents[2] if call else state_folder(self._tree, os.environ, wanted)

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

    def hook(self, text: str) -> int:
        """Answer one tool call; what is no such call, or cannot be read, is left to the agent's own rules."""
        try:
            event = json.loads(text)
            tool, given = event["tool_name"], event["tool_input"]
            folder = Path(event.get("cwd") or os.getcwd())
        except (ValueError, KeyError, TypeError, AttributeError):
            return 0
        if not isinstance(given, Mapping):
            return 0
        reason = self.judge(str(given["command"]), folder).refusal if "command" in given else self._edit(given, folder)
        if reason is not None:
            told = f"fireloop guard: {one_line(reason)}"
            call = os.environ.get("FIRELOOP_CALL")
            if call:
                note_denial(Path(call), f"{tool}: {told}")
            answer = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": told}
            sys.stdout.write(json.dumps({"hookSpecificOutput": answer}) + "\n")
        return 0

    def _edit(self, given: Mapping[str, Any], folder: Path) -> str | None:
        """Refuse to write what the user named; plans and instructions may be changed."""
        for name in FILE_FIELDS:
            if name in given:
                path = Path(os.path.normpath(folder / str(given[name]))).resolve()
                if path.is_relative_to(self._tree) and self._paths.is_named(path.relative_to(self._tree).as_posix()):
                    return f"protected, not to be changed: {path.relative_to(self._tree).as_posix()}"
        return None


def _of_project(tree: Path) -> list[str]:
    """Read `protect` of the project; other settings are of no concern here."""
    from pytest_fireloop.cli.fireloop_test import setting_names

    value = project_settings(tree, {name: name for name in setting_names()}).get("protect", [])
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


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
