"""Processes of a loop are killed at random moments; nothing is lost, and the loop comes to its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: More than these take more than a minute: `tox -e kills` asks for 40, `benchmarks/kill_sweep.py` alone for 300.
KILLS = os.environ.get("FIRELOOP_KILLS", "4")


@pytest.mark.long
def test_nothing_is_lost_by_kills(checkout: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(checkout / "benchmarks" / "kill_sweep.py"),
        "--kills",
        KILLS,
        "--folder",
        str(tmp_path),
    ]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"{KILLS} kills ("), done.stdout
    assert last.endswith(": 0 loops wrong"), done.stdout
