"""What a recorded run costs a test, beside plain pytest and other reporters.

Runs one suite of trivial tests with each reporter in turn, round by round, and prints the extra time and the extra peak
memory of each, as medians of the differences to the plain run of the same round. The targets for this plugin are
0.05 ms and 0.5 KB a test, and less than the others in the same table. Times are processor time, which other work on
the machine disturbs less than the clock does.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TIME_TARGET_MS = 0.05
MEMORY_TARGET_KB = 0.5
FILES = 50


@dataclass(frozen=True, slots=True)
class Reporter:
    """One way to run the suite; `module` must be installed, `{out}` is the file it writes."""

    name: str
    module: str
    arguments: tuple[str, ...]
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor seconds and peak resident kilobytes of one run."""

    seconds: float
    kilobytes: float


PLAIN = Reporter("plain pytest", "pytest", ())
REPORTERS = (
    Reporter("--fire-loop-record", "pytest_fireloop", ("-p", "fireloop", "--fire-loop-record={out}"), ours=True),
    Reporter("--fire-loop", "pytest_fireloop", ("-p", "fireloop", "--fire-loop"), ours=True),
    Reporter("--junitxml", "pytest", ("--junitxml={out}",)),
    Reporter("pytest-reportlog", "pytest_reportlog", ("-p", "pytest_reportlog.plugin", "--report-log={out}")),
    Reporter(
        "pytest-json-report",
        "pytest_jsonreport",
        ("-p", "pytest_metadata.plugin", "-p", "pytest_jsonreport.plugin", "--json-report", "--json-report-file={out}"),
    ),
)


def make_suite(folder: Path, tests: int) -> Path:
    """Write a suite of trivial tests, spread over some files."""
    tree = folder / f"suite-{tests}"
    tree.mkdir()
    (tree / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    each = tests // FILES
    body = "\n".join(f"def test_{number}():\n    pass\n" for number in range(each))
    for number in range(FILES):
        (tree / f"test_{number:02}.py").write_text(body, encoding="utf-8")
    return tree


def run(reporter: Reporter, tree: Path, scratch: Path) -> Cost:
    """Run the suite once; raises RuntimeError when a run does not pass."""
    out = scratch / "out"
    out.unlink(missing_ok=True)
    words = [word.format(out=out) for word in reporter.arguments]
    environment = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONHASHSEED": "0",
        "XDG_STATE_HOME": str(scratch / "state"),
        "HOME": str(scratch),
    }
    # byte code is kept, as it is where a package is installed: else each run would compile every reporter anew
    hidden = ("FIRELOOP", "PYTEST_ADDOPTS", "TOX_", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
    for name in [name for name in environment if name.startswith(hidden)]:
        del environment[name]
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=tree,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{reporter.name}: exit code {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def compare(tests: int, rounds: int, reporters: tuple[Reporter, ...]) -> bool:
    """Print the table for one size of suite; return whether the targets were met."""
    shuffle = random.Random(tests)
    costs: dict[str, list[Cost]] = {reporter.name: [] for reporter in (PLAIN, *reporters)}
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        tree = make_suite(scratch, tests)
        order = [PLAIN, *reporters]
        for reporter in order:
            run(reporter, tree, scratch)  # byte code, file cache
        for _ in range(rounds):
            # each time in another order: what runs before, and a machine that slows down, must not favour one of them
            shuffle.shuffle(order)
            for reporter in order:
                costs[reporter.name].append(run(reporter, tree, scratch))
    plain = costs[PLAIN.name]
    print(
        f"\n{tests} tests, {rounds} rounds; plain pytest: {statistics.median(c.seconds for c in plain):.2f} s, ", end=""
    )
    print(f"{statistics.median(c.kilobytes for c in plain) / 1024:.0f} MB")
    print(f"{'':<22}{'+ms a test':>12}{'+KB a test':>12}")
    extra: dict[str, tuple[float, float]] = {}
    for reporter in reporters:
        pairs = list(zip(costs[reporter.name], plain, strict=True))
        milliseconds = statistics.median(a.seconds - b.seconds for a, b in pairs) * 1000 / tests
        kilobytes = statistics.median(a.kilobytes - b.kilobytes for a, b in pairs) / tests
        extra[reporter.name] = milliseconds, kilobytes
        print(f"{reporter.name:<22}{milliseconds:>12.4f}{kilobytes:>12.3f}")
    others = [extra[reporter.name] for reporter in reporters if not reporter.ours]
    return all(
        extra[ours.name][0] <= min([TIME_TARGET_MS, *(other[0] for other in others)])
        and extra[ours.name][1] <= min([MEMORY_TARGET_KB, *(other[1] for other in others)])
        for ours in reporters
        if ours.ours
    )


def main() -> int:
    """Print one table for each size and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    present = tuple(each for each in REPORTERS if importlib.util.find_spec(each.module) is not None)
    for missing in (each for each in REPORTERS if each not in present):
        print(f"left out, not installed: {missing.name}")
    met = [compare(tests, options.rounds, present) for tests in options.tests]
    print(f"\ntargets: {TIME_TARGET_MS} ms and {MEMORY_TARGET_KB} KB a test, and less than the others: ", end="")
    print("met" if all(met) else "missed")
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
