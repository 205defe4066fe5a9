"""What it costs to read a JUnit report of 200 MB: one of many tests, and one of few tests that said much."""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_fireloop.observe.junit import read_junit

LINE = "all work and no play makes a long report\n" * 1_000
CASE = '<testcase classname="tests.test_module_{number}.TestClass" name="test_with_a_long_name_{number}" time="0.00123" />\n'


def many(size: int) -> Iterator[str]:
    """Return a report of passing tests alone."""
    yield '<testsuites><testsuite name="pytest" failures="0">'
    for number in range(size // (len(CASE) + 4)):
        yield CASE.format(number=number)
    yield "</testsuite></testsuites>"


def long(size: int) -> Iterator[str]:
    """Return a report of one failure and some output, each as long as half of the file."""
    yield '<testsuites><testsuite name="pytest" tests="1"><testcase classname="a" name="b"><failure message="m">'
    yield from (LINE for _ in range(size // 2 // len(LINE)))
    yield "</failure><system-out>"
    yield from (LINE for _ in range(size // 2 // len(LINE)))
    yield "</system-out></testcase></testsuite></testsuites>"


KINDS: dict[str, Callable[[int], Iterator[str]]] = {"many tests": many, "long texts": long}


def main() -> int:
    """Print time and memory of each kind, measured in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read is not None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.perf_counter()
        record = read_junit(options.read)
        seconds = time.perf_counter() - began
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1_000
        print(f"{len(record.tests):>9} tests  {seconds:6.1f} s  {grown:6.0f} MB more memory")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for name, made in KINDS.items():
            path = Path(folder) / "report.xml"
            with path.open("w") as file:
                file.writelines(made(options.megabytes * 1_000_000))
            print(f"{name:<12} {path.stat().st_size / 1e6:5.0f} MB", end="  ", flush=True)
            subprocess.run([sys.executable, __file__, "--read", str(path)], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
