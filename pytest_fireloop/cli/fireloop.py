"""`fireloop`: look at loops, stop, reset, restore and replay them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from pytest_fireloop.cli.arguments import usage_error, version
from pytest_fireloop.cli.last_resort import guarded
from pytest_fireloop.judge.verdict import EXIT_CODES

PROGRAM = "fireloop"
#: Command to what it is for; each is a module of this folder with a `main`.
COMMANDS = {
    "status": "show this tree's last loop and the state of its circuit",
    "stop": "ask the running loop to stop before its next agent call",
    "resume": "go on with a loop that was cut off, stopped, tripped or ended at a limit",
    "reset": "close the circuit and begin anew with the next run",
    "history": "list this tree's loops",
    "log": "show what one iteration saw: prompt, agent, tests, decision",
    "report": "show what a loop did to tests and product, and which green runs were not believed",
    "diff": "show what changed up to an iteration",
    "restore": "bring the files of an iteration back",
    "guard": "say what a command would remove, and refuse it where that is protected",
    "prune": "drop all but the newest loops",
    "replay": "run the judge again over a recorded loop",
    "decide": "make one decision from the JUnit reports of a matrix",
    "signature": "print the failure signatures of records",
    "doctor": "say what is installed and what would be called",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; a fault of ours is one line and 3."""
    words = list(sys.argv[1:] if argv is None else argv)
    return guarded(PROGRAM, lambda: _main(words))


def _main(words: Sequence[str]) -> int:
    if not words or words[0] in {"-h", "--help"}:
        sys.stdout.write(_help())
        return 0 if words else EXIT_CODES["usage"]
    if words == ["--version"]:
        sys.stdout.write(f"{PROGRAM} {version()}\n")
        return 0
    if words[0] not in COMMANDS:
        return usage_error(PROGRAM, f"there is no command {words[0]!r}; known are {', '.join(COMMANDS)}")
    return _run(words[0], words[1:])


def _run(command: str, words: Sequence[str]) -> int:
    from pytest_fireloop.act.interpreter import InterpreterError
    from pytest_fireloop.act.lock import LockedError
    from pytest_fireloop.act.object_reader import CheckpointError
    from pytest_fireloop.act.settings import SettingsError
    from pytest_fireloop.act.world_fault import is_behind
    from pytest_fireloop.cli.tree import NoLoopError
    from pytest_fireloop.remember.journal_error import JournalDamagedError, JournalError

    try:
        code = int(importlib.import_module(f"pytest_fireloop.cli.{command}").main(words))
        sys.stdout.flush()
    except (NoLoopError, LockedError, SettingsError, InterpreterError, JournalDamagedError) as error:
        return usage_error(f"{PROGRAM} {command}", str(error))
    except (JournalError, CheckpointError) as error:
        usage = usage_error(f"{PROGRAM} {command}", str(error))
        return EXIT_CODES["error"] if isinstance(error, JournalError) or is_behind(error) else usage
    return code


def _help() -> str:
    width = max(map(len, COMMANDS))
    rows = "".join(f"  {name:<{width}}  {text}\n" for name, text in COMMANDS.items())
    return f"usage: fireloop COMMAND [options]\n\n{__doc__}\n\n{rows}\n`fireloop COMMAND --help` says more.\n"


if __name__ == "__main__":
    sys.exit(main())
