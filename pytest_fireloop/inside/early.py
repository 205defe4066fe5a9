"""What must happen before the project's first conftest is imported."""

from __future__ import annotations

import os
import sys
from typing import Any

from . import scope
from .record_file import SCHEMA, RecordFile

FALSE_GREEN = 13


def begin(options: Any, root: str) -> None:
    """Replace an earlier run's record, so that nobody takes it for this run's; a fault of ours is left for later."""
    if not options.fire_loop_record or scope.is_no_run(options) or "PYTEST_XDIST_WORKER" in os.environ:
        return
    header = {
        "schema": SCHEMA,
        "run_id": os.urandom(8).hex(),
        "started": "",
        "rootdir": root,
        "python": "",
        "pytest": "",
        "environment": scope.environment_name(),
        "scope": "",
        "partial": False,
    }
    try:
        RecordFile(options.fire_loop_record, header).close()
    except OSError:
        return


def ended(options: Any, code: Any) -> int | None:
    """Return the exit code for a conftest that ends the process as if all were well, or None to let it be."""
    if code or not options.fire_loop or scope.is_no_run(options):
        return None
    sys.stderr.write(
        f"fire-loop: exit code {FALSE_GREEN}: a conftest ended the process with 0 before any test was collected\n"
    )
    return FALSE_GREEN
