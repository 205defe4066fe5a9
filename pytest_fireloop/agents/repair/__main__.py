"""The door of the embedded agent: `python -m pytest_fireloop.agents.repair`, described by its environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pytest_fireloop.agents.repair.agent import job_from, repair
from pytest_fireloop.agents.repair.workspace import WorkspaceError


def _say(line: str) -> None:
    plain = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)
    print(f"repair: {plain}".encode("utf-8", "replace").decode("utf-8"), flush=True)


def main() -> int:
    """Repair the current folder; the prompt on standard input is read and does not matter."""
    sys.stdin.buffer.read()
    try:
        repair(job_from(os.environ, Path.cwd()), _say)
    except (WorkspaceError, OSError) as error:
        _say(f"gives up: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
