"""What may be read as a report, and what would be waited for without end."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pytest_fireloop.observe.record import RecordError


def refuse_named_pipe(path: Path) -> None:
    """Raise RecordError for a named pipe, whose writer may never come; one that a shell opened for us has its writer."""
    try:
        if not stat.S_ISFIFO(os.stat(path).st_mode):
            return
    except (OSError, ValueError):
        return  # whoever opens it is told
    real = os.path.realpath(path)
    # under Linux what a shell opened leads to no path that exists, elsewhere it is a device
    if os.path.lexists(real) and not real.startswith("/dev/fd/"):
        raise RecordError(
            f"cannot read {str(path)!r}: it is a named pipe, whose writer may never come; write to a file instead"
        )
