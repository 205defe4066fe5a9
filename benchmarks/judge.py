"""What one decision of the judge costs, early in a loop and late, and with many tests of which few changed.

The targets are less than 2 ms with 10,000 tests, and after 10,000 iterations no more than 1.5 times what it costs after
10. Both are measured in one process, in turns; times are processor time, the median of many decisions.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_fireloop.judge.facts import Facts
from pytest_fireloop.judge.judge import State, begin, decide
from pytest_fireloop.judge.settings import PROFILES, Settings

DECISIONS, FEW = 200, 5
TARGET_MS, TARGET_RATIO = 2.0, 1.5


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--tests", type=int, default=10_000)
    made.add_argument("--iterations", type=int, default=10_000)
    options = made.parse_args()
    print(f"{options.tests} tests, {FEW} of which change in each iteration")
    print(f"{'profile':<12}{'ms after 10':>14}{f'ms after {options.iterations}':>20}{'ratio':>8}")
    missed = False
    for profile in PROFILES:
        early = loop(profile, options.tests, 10)
        late = loop(profile, options.tests, options.iterations)
        first, last = cost(early, options.tests), cost(late, options.tests)
        print(f"{profile:<12}{first:>14.3f}{last:>20.3f}{last / first:>8.2f}")
        missed = missed or last > TARGET_MS or last > TARGET_RATIO * first
    print(f"targets: {TARGET_MS} ms and a ratio of {TARGET_RATIO}: {'missed' if missed else 'met'}")
    return int(missed)


def facts(number: int, tests: int) -> Facts:
    """Return an iteration that mends a few tests and breaks as many others: the loop goes on for ever."""
    outcomes = {f"tests/test_{index % 50}.py::test_{index}": "passed" for index in range(tests)}
    names = list(outcomes)
    for offset in range(FEW):
        outcomes[names[(number * FEW + offset) % tests]] = "failed"
    red = [name for name in outcomes if outcomes[name] == "failed"]
    row = {
        "iteration": number,
        "at": number * 3600.0 * 9,
        "agent": "ok",
        "outcomes": outcomes,
        "signatures": dict.fromkeys(red, f"signature {number}"),
        "changed": {f"shop/{number % 7}.py": [3, 1]},
        "tree": f"tree {number}",
        "approach": f"way {number}",
        "output_lines": 100,
    }
    return Facts.from_json(row)


def loop(profile: str, tests: int, iterations: int) -> State:
    """Return the state after so many iterations; the same few runs come again and again, for making them costs more."""
    runs = [facts(number, tests) for number in range(20)]
    state = begin(runs[0], Settings.for_profile(profile))
    for number in range(1, iterations):
        state, _ = decide(state, _at(runs[number % len(runs)], number))
    return state


def cost(state: State, tests: int) -> float:
    """Return the milliseconds of one more decision."""
    number = state.steps[-1].iteration + 1
    runs = [facts(number + offset, tests) for offset in range(20)]
    times = []
    for offset in range(DECISIONS):
        now = _at(runs[offset % len(runs)], number + offset)
        start = time.process_time()
        state, _ = decide(state, now)
        times.append(time.process_time() - start)
    return median(times) * 1e3


def _at(run: Facts, number: int) -> Facts:
    from dataclasses import replace

    return replace(run, iteration=number, at=number * 3600.0 * 9, tree=f"tree {number}", approach=f"way {number}")


if __name__ == "__main__":
    sys.exit(main())
