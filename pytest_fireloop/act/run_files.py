"""The record of the run that is under way; one that nobody finished tells how the run before ended."""

from __future__ import annotations

import os
import re
from pathlib import Path

FOLDER = "runs"


def begin_run(state: Path, environment: str) -> tuple[Path, list[str]]:
    """Return where this run's record goes, and a line for each earlier run of this environment that was cut off."""
    folder = state / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", environment) or "environment"
    lines = []
    for path in sorted(folder.glob(f"{name}.*.json")):
        if not _alive(path):
            lines.append(_told(path))
            path.unlink(missing_ok=True)
    return folder / f"{name}.{os.getppid()}.json", lines


def _alive(path: Path) -> bool:
    """Whether the process that writes the record still runs; its number is in the name."""
    number = path.name.split(".")[-2]
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OSError):
        return True
    return int(number) != os.getppid()


def _told(path: Path) -> str:
    from pytest_fireloop.observe.record import RecordError, read_record

    try:
        record = read_record(path)
    except RecordError:
        return "the run before did not end by itself, and left no record that can be read"
    if record.exit_code is not None:
        return "the run before was not judged: its process died after the tests"
    where = f" in {record.in_flight}" if record.in_flight else ""
    return f"the run before died{where} after {len(record.tests)} of {record.collected} tests; it is no iteration"
