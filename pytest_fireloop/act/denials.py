"""What the guard refused an agent during one call: noted by the guard's own process, counted by the loop."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

NAME = "denials.jsonl"


def note_denial(folder: Path, reason: str) -> None:
    """Add one; where nothing can be written, the refusal stands all the same."""
    with suppress(OSError), (folder / NAME).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"reason": reason}) + "\n")


def read_denials(folder: Path) -> list[str]:
    """Return the lines of a call."""
    try:
        return (folder / NAME).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def clear_denials(folder: Path) -> None:
    """Forget those of a call that was cut off."""
    with suppress(OSError):
        (folder / NAME).unlink()
