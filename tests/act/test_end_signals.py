"""Signals that end a loop, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: What ends the children is interrupted by no second signal, however soon it comes.
BURST = """
import os, signal
from pytest_fireloop.act.end_signals import finish_undisturbed, interrupt_work
interrupt_work()
ended = False
try:
    try:
        os.kill(os.getpid(), signal.{first})
    finally:
        for _ in range(50):
            os.kill(os.getpid(), signal.{second})
        ended = True
except KeyboardInterrupt:
    finish_undisturbed()
    os.kill(os.getpid(), signal.{second})
    print("ended" if ended else "cut short")
"""


@pytest.mark.parametrize(("first", "second"), [("SIGINT", "SIGINT"), ("SIGTERM", "SIGHUP")])
def test_signals_in_a_burst_interrupt_once(first: str, second: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    code = BURST.format(first=first, second=second)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr
