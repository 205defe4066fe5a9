"""Whether the plugin changes what a test suite does, shown on the suites of released packages.

Runs each suite with `--fire-loop` and without, serial and with pytest-xdist, and in surroundings that plugins trip over.
What each report said is taken by an observer that shares no code with the plugin. A test whose reports differ counts
where two runs without the plugin's options agree about it; so do another exit code, a file left behind, and a run
record that disagrees with the observer. The exit code is 1 when anything counts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from suite_runs import Condition, Run, Suite, Workshop, read_only_prefix

HYPOTHESIS = "hypothesis==6.170.17"

SUITES = (
    # src layout, importlib mode, hypothesis, classes made at run time
    Suite(
        "attrs",
        "26.1.0",
        requires=(HYPOTHESIS, "cloudpickle==3.1.3", "pympler==1.1"),
        arguments=("--import-mode=importlib",),
    ),
    # asyncio mode auto, warnings as errors
    Suite(
        "blinker",
        "1.9.0",
        requires=("pytest-asyncio==1.5.0",),
        # unset, it is a warning, which is an error here
        arguments=("-o", "asyncio_default_fixture_loop_scope=function"),
        plugins=("asyncio",),
    ),
    # flat layout with doctests of the package
    Suite("boltons", "26.2.0", arguments=("--doctest-modules",), tests=("boltons", "tests")),
    # streams, subprocesses, a `-m` in addopts, warnings as errors
    Suite("click", "8.5.1", arguments=("-m", "not stress")),
    # doctests in a src layout, frozen time, the benchmark plugin
    Suite(
        "humanize",
        "4.17.0",
        requires=("freezegun==1.5.5", "pytest-benchmark==5.3.1", "pytest-codspeed==5.0.4"),
        arguments=("--doctest-modules",),
        tests=("src", "tests"),
        plugins=("benchmark", "codspeed"),
    ),
    # unittest with subtests, flat layout
    Suite("idna", "3.20", requires=(HYPOTHESIS,)),
    # templates compiled at run time, event loops
    Suite("jinja2", "3.1.6", requires=("trio==0.35.0",)),
    # unittest with subtests, and doctests, flat layout
    Suite("more-itertools", "11.2.1", arguments=("--doctest-modules",), tests=("more_itertools", "tests")),
    # hypothesis and a mock fixture, flat layout
    Suite("natsort", "8.4.0", requires=(HYPOTHESIS, "pytest-mock==3.17.0"), plugins=("pytest_mock",)),
    # ten thousand parameter sets (those of the versions are 50,000 more of one kind, left out for their time);
    # logging, tmpdir and other plugins of pytest are switched off in addopts
    Suite(
        "packaging",
        "26.4",
        requires=(HYPOTHESIS, "pretend==1.0.9", "tomli-w==1.2.0"),
        arguments=("-m", "not property"),
        tests=("tests/test_requirements.py", "tests/test_markers.py", "tests/test_specifiers.py"),
    ),
    # the hooks that pytest itself stands on, warnings as errors
    Suite("pluggy", "1.7.0", requires=("pytest-benchmark==5.3.1",), tests=("testing",), plugins=("benchmark",)),
    # a plugin tested with pytester in the same process
    Suite("pytest-asyncio", "1.5.0", requires=(HYPOTHESIS,), tests=("docs", "tests"), plugins=("asyncio",)),
    # a plugin whose runs end by timeout, flat, one file
    Suite(
        "pytest-timeout", "2.4.0", requires=("pexpect==4.9.0",), tests=("test_pytest_timeout.py",), plugins=("timeout",)
    ),
    # tests inside the package, live logging, warnings as errors
    Suite("toolz", "1.2.0", tests=("toolz",)),
    # import hooks, a plugin, warnings as errors
    Suite("typeguard", "4.6.1", requires=("mypy==2.4.1",), plugins=("typeguard",)),
)

MAIN = (Condition("serial"), Condition("xdist", ("-n", "2")))
EXTRA = (
    Condition("second run", repeated=True),
    # addopts often hold options of the terminal; what of them a suite needs stands in its row
    Condition("no terminal", ("-p", "no:terminal", "-o", "addopts=")),
    Condition("no cache", ("-p", "no:cacheprovider")),
    Condition("no autoload", autoload=False),
    Condition("read-only", read_only=True),
    Condition("blocked", ("-p", "no:fireloop"), blocked=True),
)

FORM = "{:<16}{:<9}{:>7}{:>10}{:>8}{:>9}{:>8}{:>13}  {}"
#: Later is worse.
OUTCOMES = ("", "passed", "xpassed", "xfailed", "skipped", "error", "failed")


@dataclass(frozen=True)
class Difference:
    """Where a run with the plugin said something else than a run without, or its record than the observer."""

    package: str
    condition: str
    what: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.package}, {self.condition}: {self.what}: expected {self.expected}, got {self.got}"


@dataclass(frozen=True)
class Result:
    """What a suite showed: (without, with) for each main condition, and what counts."""

    suite: Suite
    main: tuple[tuple[Run, Run], ...] = ()
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    compared: int = 0


@dataclass
class Trial:
    """Collects the result of one suite while it is run under one condition after the other."""

    shop: Workshop
    suite: Suite
    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    compared: int = 0

    def pair(self, condition: Condition) -> tuple[Run, Run]:
        """Run the suite under a condition without our options and with them, and compare."""
        plain, ours = (self.shop.run(self.suite, condition, ours=ours) for ours in (False, True))
        self.judge(condition, condition, plain, ours)
        return plain, ours

    def surround(self, condition: Condition, serial: Run) -> None:
        """Run the suite in unusual surroundings, which need a run without our options only where something differs."""
        ours = self.shop.run(self.suite, condition, ours=not condition.blocked)
        if condition.blocked:
            self.judge(condition, MAIN[0], serial, ours)
        elif dict(differing(serial, ours)):
            self.judge(condition, condition, self.shop.run(self.suite, condition, ours=False), ours)
        else:
            self.judge(condition, condition, serial, ours)

    def judge(self, condition: Condition, reference: Condition, plain: Run, ours: Run) -> None:
        """Count what differs, unless a second run of the reference without our options differs there too."""
        self.compared += 1
        if not ours.reports:
            # two runs that fail to start agree, and show nothing
            self.notes.append(f"{self.suite.package}, {condition.name}: no test ran:\n{ours.last_words}")
        found = dict(differing(plain, ours))
        if found:
            again = self.shop.run(self.suite, reference, ours=False)
            unstable = dict(differing(plain, again))
            self.notes += [
                f"{self.suite.package}, {reference.name}: {what} differs without the options too: {one}; {two}"
                for what, (one, two) in unstable.items()
            ]
            found = {what: values for what, values in found.items() if what not in unstable}
        if not condition.blocked:
            found.update(record_against_observer(ours))
        self.differences += [
            Difference(self.suite.package, condition.name, what, *values) for what, values in found.items()
        ]


def differing(first: Run, second: Run) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield what two runs disagree about, with what each of them said."""
    if first.code != second.code:
        yield "exit code", (str(first.code), str(second.code))
    for nodeid in sorted(first.reports.keys() | second.reports.keys()):
        one, two = first.reports.get(nodeid, ()), second.reports.get(nodeid, ())
        if one != two:
            yield nodeid, (", ".join(one) or "no report", ", ".join(two) or "no report")
    for name in ("collected", "broken", "touched"):
        one, two = getattr(first, name), getattr(second, name)
        if one != two:
            yield f"{name} paths" if name == "touched" else name, (_some(one - two), _some(two - one))


def _some(values: frozenset[str]) -> str:
    return f"{len(values)} alone" + (f", such as {', '.join(sorted(values)[:3])}" if values else "")


def outcome(reports: tuple[str, ...]) -> str:
    """Return the worst that a test's reports say of it."""
    return max((meaning(*words.split()) for words in reports), key=OUTCOMES.index, default="")


def meaning(phase: str, result: str, *marks: str) -> str:
    """Return what one report says of its test, or nothing."""
    if result == "failed":
        return "failed" if phase in {"call", "???"} or "subtest" in marks else "error"
    if "subtest" in marks or phase == "teardown" or (phase, result) == ("setup", "passed"):
        return ""
    return {"skipped": "xfailed", "passed": "xpassed"}[result] if "xfail" in marks else result


def record_against_observer(run: Run) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield where the plugin's own record of a run says something else than the observer saw."""
    if run.complaints:
        yield "complaint", ("none", "; ".join(run.complaints))
    record = run.record
    if record is None:
        if run.observed:
            yield "record", ("a run record", f"none; the run ended with:\n{run.last_words}")
        return
    seen = {nodeid: said for nodeid, reports in run.reports.items() if (said := outcome(reports))}
    told = {test["nodeid"]: test["outcome"] for test in record["tests"]}
    for nodeid in sorted(seen.keys() | told.keys()):
        if seen.get(nodeid) != told.get(nodeid):
            yield f"record of {nodeid}", (str(seen.get(nodeid)), str(told.get(nodeid)))
    whole = run.ended and run.code in {0, 1} and not run.broken and run.collected <= seen.keys()
    broken = {error["path"] for error in record["collection_errors"]}
    facts = {
        "rows for tests": (len(told), len(record["tests"])),
        "collected": (len(run.collected), record["collected"]),
        "exit code": (run.code, record["exit_code"]),
        "complete": (whole, record["complete"]),
        "number of broken files": (len(run.broken), len(broken)),
    }
    for name, (one, two) in facts.items():
        if one != two:
            yield f"record's {name}", (str(one), str(two))


def examine(shop: Workshop, suite: Suite, extra: tuple[Condition, ...]) -> Result:
    """Run one suite under all conditions."""
    shop.environment(suite)
    trial = Trial(shop, suite)
    main = tuple(trial.pair(condition) for condition in MAIN)
    for condition in extra:
        trial.surround(condition, main[0][0])
    return Result(suite, main, tuple(trial.differences), tuple(trial.notes), trial.compared)


def head() -> str:
    """Return the head of the table."""
    return FORM.format(
        "package", "version", "tests", "serial s", "with", "xdist s", "with", "differences", "exit codes"
    )


def line(result: Result) -> str:
    """Return one suite's line of the table."""
    runs = [run for pair in result.main for run in pair]
    return FORM.format(
        result.suite.package,
        result.suite.version,
        len(runs[0].reports),
        *(f"{run.seconds:.1f}" for run in runs),
        len(result.differences),
        " ".join(str(run.code) for run in runs),
    )


def total(results: list[Result]) -> str:
    """Return the last line."""
    tests = sum(len(result.main[0][0].reports) for result in results)
    compared = sum(result.compared for result in results)
    differences = sum(len(result.differences) for result in results)
    return f"{len(results)} suites, {tests} tests, {compared} pairs of runs compared: {differences} differences"


def main() -> int:
    """Print each difference as it is found, then the table; return 1 when anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[suite.package for suite in SUITES])
    parser.add_argument("--conditions", choices=("main", "all"), default="main", help="all: unusual surroundings too")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep sources and environments in DIR")
    parser.add_argument("--jobs", type=int, default=1, help="suites at a time (default: 1, for times that mean much)")
    parser.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="for one run (default: 300)")
    options = parser.parse_args()
    suites = [suite for suite in SUITES if not options.only or suite.package in options.only]
    extra: tuple[Condition, ...] = EXTRA if options.conditions == "all" else ()
    if extra and not read_only_prefix():
        print("left out: read-only, since no read-only mount can be made here")
        extra = tuple(condition for condition in extra if not condition.read_only)
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop((options.work or Path(folder)).resolve(), options.limit)
        with ThreadPoolExecutor(options.jobs) as pool:
            results = []
            for result in pool.map(lambda suite: examine(shop, suite, extra), suites):
                # each line at once, so that an interrupted run has told what it saw
                print("\n".join([*result.notes, *map(str, result.differences), line(result)]), flush=True)
                results.append(result)
    print("\n".join(["", head(), *map(line, results), total(results)]))
    return int(any(result.differences for result in results))


if __name__ == "__main__":
    sys.exit(main())
