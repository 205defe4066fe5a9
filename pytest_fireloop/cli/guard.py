"""`fireloop guard`: say what a command would take away, and refuse it where that is protected."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_fireloop.act.guard import Guard
from pytest_fireloop.act.settings import project_settings
from pytest_fireloop.cli.arguments import usage_error
from pytest_fireloop.cli.tree import parser
from pytest_fireloop.judge.verdict import EXIT_CODES
from pytest_fireloop.observe.text import one_line
from pytest_fireloop.remember.paths import state_folder

PROGRAM = "fireloop guard"
SHOWN = 20


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
    options, more = made.parse_known_args(argv[:cut])
    if more and cut == len(argv):
        return usage_error(PROGRAM, f"-- is missing before the command; write: fireloop guard -- {shlex.join(more)}")
    if more:
        made.error(f"unrecognized arguments: {' '.join(more)}")
    guard = _guard(options.protect, options.fire_loop_dir)
    if options.hook:
        told = guard.refusal_of_call(sys.stdin.read())
        if told is not None:
            answer = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": told}
            sys.stdout.write(json.dumps({"hookSpecificOutput": answer}) + "\n")
        return 0
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


def _guard(globs: Sequence[str], wanted: str | None) -> Guard:
    """Make the guard of a loop that called the agent, else of the project."""
    tree = Path(os.environ.get("FIRELOOP_TREE") or os.getcwd()).resolve()
    told = os.environ.get("FIRELOOP_PROTECT")
    named = json.loads(told) if told is not None else _of_project(tree)
    call = Path(os.environ["FIRELOOP_CALL"]) if os.environ.get("FIRELOOP_CALL") else None
    # of a loop that is at work, the folder that it really uses
    state = call.parents[2] if call is not None else state_folder(tree, os.environ, wanted)
    return Guard(tree, [*named, *globs], state, call)


def _of_project(tree: Path) -> list[str]:
    """Read `protect` of the project; other settings are of no concern here."""
    from pytest_fireloop.cli.fireloop_test import setting_names

    value = project_settings(tree, {name: name for name in setting_names()}).get("protect", [])
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]
