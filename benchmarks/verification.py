"""What the verification of a green run costs beside one more run of the suite and the tests that failed, each alone.

The suite sleeps, so that a busy machine changes little of it. The exit code is 1 when the rest takes longer than 2
seconds; on a machine with more work than processors, where starting one takes long, when it computes for longer.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.test_run import TestCommand, run_tests
from pytest_fireloop.act.verify import Verifier

LIMIT_S = 2.0
TESTS = """import time

import pytest
import calc


@pytest.mark.parametrize("n", range({slow}))
def test_slow(n):
    time.sleep({sleep})
    assert calc.twice(n) == 2 * n


@pytest.mark.parametrize("n", range(1, {failing} + 1))
def test_failing(n):
    time.sleep(0.05)
    assert calc.half(2 * n) == n
"""


def processor_s() -> float:
    """Return what this process and its ended children have computed, which hardly grows on a busy machine."""
    return sum(os.times()[:4])


class Clock:
    """Adds up what is spent in some methods."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self.worked: dict[str, float] = {}

    def watch(self, thing: Any, name: str) -> None:
        """Measure a method from now on."""
        method: Callable[..., Any] = getattr(thing, name)

        def timed(*words: Any, **more: Any) -> Any:
            start, before = time.perf_counter(), processor_s()
            try:
                return method(*words, **more)
            finally:
                self.spent[name] = self.spent.get(name, 0.0) + time.perf_counter() - start
                self.worked[name] = self.worked.get(name, 0.0) + processor_s() - before

        setattr(thing, name, timed)


def main() -> int:
    """Verify one honest fix, print what each part took, and return 1 when the rest is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="how long the suite takes (default: 20)")
    parser.add_argument("--failing", type=int, default=3, help="how many tests fail at the start (default: 3)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree, state = Path(folder, "tree"), Path(folder, "state")
        tree.mkdir()
        sleep = 0.25
        slow = int(options.seconds / sleep)
        (tree / "test_calc.py").write_text(TESTS.format(slow=slow, sleep=sleep, failing=options.failing))
        product = "def twice(n):\n    return 2 * n\n\n\ndef half(n):\n    return n {sign} 2\n"
        (tree / "calc.py").write_text(product.format(sign="*"))
        command = TestCommand(Path(sys.executable), tree, (), dict(os.environ))
        checkpoints = Checkpoints.open(state / "checkpoints.git", tree)
        commit = checkpoints.take("baseline").commit
        baseline = run_tests(command, work=state).record
        verifier = Verifier(checkpoints, commit, baseline, command, work=state / "verify")
        start = time.perf_counter()
        verifier.calibrate()
        calibration = time.perf_counter() - start
        (tree / "calc.py").write_text(product.format(sign="//"))
        in_place = run_tests(command, work=state)
        candidate = checkpoints.take("candidate").commit
        clock = Clock()
        runs: Any = vars(verifier)["_runs"]
        disguised: Any = vars(verifier)["_disguised"]
        for thing, name in (
            (runs, "with_flaky_tries"),
            (runs, "alone"),
            (runs, "hidden_failures"),
            (disguised, "fault"),
        ):
            clock.watch(thing, name)
        start, before = time.perf_counter(), processor_s()
        found = verifier.verify(candidate, (), in_place.record)
        whole, worked = time.perf_counter() - start, processor_s() - before
    spent = clock.spent
    rest = whole - spent["with_flaky_tries"] - spent["alone"]
    for name, seconds in (
        ("the suite in place", in_place.record.duration_s),
        ("calibration, while the agent works", calibration),
        ("verification", whole),
        ("  the suite in the room", spent["with_flaky_tries"]),
        (f"  {options.failing} tests that failed, each alone", spent["alone"]),
        ("  tests that must fail", spent["hidden_failures"]),
        ("  tests in disguise", spent["fault"]),
        (f"  beside the suite and those alone (limit {LIMIT_S:g})", rest),
    ):
        print(f"{name:<52}{seconds:>8.2f} s")
    computed = worked - clock.worked["with_flaky_tries"] - clock.worked["alone"]
    print(f"{'  of it computed':<52}{computed:>8.2f} s")
    print(f"green: {found.green}, {found.where}; load {os.getloadavg()[0]:.1f}")
    counts = rest if os.getloadavg()[0] < (os.cpu_count() or 1) else computed
    return int(counts > LIMIT_S or not found.green)


if __name__ == "__main__":
    sys.exit(main())
