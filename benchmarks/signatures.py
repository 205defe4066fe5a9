"""What the signature of a failure costs, and whether any text makes it cost more than its length.

Three tables: failing tests whose tracebacks are long, in a real run beside plain pytest; the same failures read again
from a JUnit report; and text made of the beginnings of what each rule looks for, at four lengths. The targets are one
millisecond a failure with a text of 100 KB, and time that grows no faster than the text. Times are processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from pytest_fireloop.inside.printed import broken_source, chained_places, doctest_lines, leaves, own_places  # noqa: E402 - from the checkout
from pytest_fireloop.inside.signature import FailureFacts, cause, signature  # noqa: E402 - from the checkout
from pytest_fireloop.observe.junit import read_junit  # noqa: E402 - from the checkout

PIECES: list[str] = json.loads((ROOT / "tests" / "data" / "signatures" / "adversarial.json").read_text("utf-8"))
LENGTHS = (12_500, 25_000, 50_000, 100_000)
KNOWN = (("/home/ann/shop", "<root>"), ("/home/ann", "<home>"), ("ann", "<user>"), ("1796000000.5", "<start>"))
SUITE = """
import pytest

@pytest.mark.parametrize("n", range({tests}))
def test_{kind}(n):
    {body}
"""
#: Bodies of failing tests with some 100 KB of text each.
BODIES = {
    "message": 'raise ValueError(f"{n} /tmp/a 0x7f3a5c0d1e80 " + "x = 17 at 12:00:01.123456 " * 4_000)',
    "lines": 'raise ValueError("\\\\n".join(f"line {i} of {n} at 0x7f3a5c0d1e80" for i in range(3_000)))',
    "assertion": "assert {str(i): i for i in range(5_000)} == {str(i): i + n for i in range(5_000)}",
    "text": 'assert "word " * 20_000 == "word " * 19_999 + str(n)',
    "chain": 'raise RuntimeError("b" * 50_000 + str(n)) from ValueError("a" * 50_000)',
}


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--failures", type=int, default=1_000, help="of each kind in the real run")
    made.add_argument("--mixtures", type=int, default=300, help="random texts of the last table")
    options = made.parse_args()
    print(f"{'failures of 100 KB':<20}{'ms a failure, in the run':>26}{'ms a failure, from JUnit':>26}")
    for kind, body in BODIES.items():
        print(f"{kind:<20}{in_a_run(kind, body, options.failures):>26.3f}{from_junit(kind, body):>26.3f}", flush=True)
    print_growth(options.mixtures)


def in_a_run(kind: str, body: str, failures: int) -> float:
    """Return what the record costs a failing test in milliseconds, the median of three pairs of runs."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, kind, body, failures)
        pairs = [(run(folder), run(folder, "--fire-loop-record=record.json")) for _ in range(3)]
        return median(recorded - plain for plain, recorded in pairs) / failures * 1e3


def from_junit(kind: str, body: str) -> float:
    """Return what reading a report costs a failure in milliseconds, the parsing of the XML left out."""
    import junitparser

    with tempfile.TemporaryDirectory() as folder:
        write(folder, kind, body, 100)
        run(folder, "--junitxml=report.xml")
        path = Path(folder, "report.xml")
        content = path.read_bytes()
        parse = fastest(lambda: list(junitparser.JUnitXml.fromstring(content)))
        return (fastest(lambda: read_junit(path)) - parse) / 100 * 1e3


def write(folder: str, kind: str, body: str, failures: int) -> None:
    Path(folder, f"test_{kind}.py").write_text(SUITE.format(tests=failures, kind=kind, body=body), encoding="utf-8")


def run(folder: str, *args: str) -> float:
    """Run the tests and return the seconds of the processor that they took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_fireloop.plugin", *args]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fastest(body: Callable[[], object]) -> float:
    """Return the seconds of the fastest of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        body()
        times.append(time.process_time() - start)
    return min(times)


def print_growth(mixtures: int) -> None:
    """Print the slowest texts and how their time grows from one length to one eight times as long."""
    chance = random.Random(20_240)
    texts = [(ascii(piece), [piece]) for piece in PIECES]
    for number in range(mixtures):
        pieces = chance.choices(PIECES, k=chance.randint(2, 6))
        texts.append((f"mixture {number}: {ascii(''.join(pieces))[:60]}", pieces))
    rows = []
    for name, pieces in texts:
        unit = "".join(pieces)
        times = []
        for length in LENGTHS:
            text = (unit * (length // len(unit) + 1))[:length]
            times.append(fastest(lambda text=text: both(text)))  # type: ignore[misc]  # bound on purpose
        rows.append((times[-1] * 1e3, times[-1] / max(times[0], 1e-5), name))
    print(f"\n{len(rows)} texts; slowest of 100 KB, with growth where the text grows 8 times")
    for cost, growth, name in sorted(rows, reverse=True)[:8]:
        print(f"{cost:>10.2f} ms {growth:>8.1f}  {name}")
    worst = max(row[1] for row in rows if row[0] > 1)
    print(f"fastest growth of those over 1 ms: {worst:.1f} times")


def both(text: str) -> None:
    """Do all that is done with one text: as a message, as a chained message, as a printed traceback."""
    for exception in ("AssertionError", "ValueError"):
        facts = FailureFacts("call", exception, text, "assert elapsed < 1", (), ((exception, text),), KNOWN)
        signature(facts)
        cause(facts)
    own_places(text, "/home/ann/shop")
    chained_places(text, "/home/ann/shop")
    broken_source(text, "/home/ann/shop")
    leaves(text)
    doctest_lines(text)


if __name__ == "__main__":
    main()
