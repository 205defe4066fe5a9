"""Which environment a JUnit report speaks of."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_fireloop.observe.junit import JunitReport, SuiteRun
from pytest_fireloop.observe.junit_suite import ReadSuite
from pytest_fireloop.observe.text import one_line

#: Names of files that say nothing; then their folder's name says it.
GENERIC = re.compile(
    r"(?:junit|x?unit|tests?|results?|reports?|output|pytest|ctest|jest|surefire|[-_.])+", re.IGNORECASE
)
#: What stands around the environment in a file's name.
AROUND = re.compile(
    r"^(?:junit|test-?results?|results?|report)[-_.]|[-_.](?:junit|test-?results?|results?|report)$", re.IGNORECASE
)
#: What tells one run from the next, as a time, a date or a process does: no part of an environment's name.
PASSING = re.compile(r"(?:^|[-_.])(?:\d{4}-\d\d-\d\d(?:T[\d:.+-]*Z?)?|\d{5,})(?=$|[-_.])")
#: Runners that write a file for each class begin its name so; all those of one folder are of one environment.
BY_CLASS = "TEST-"
LIMIT = 80
PROPERTY = "property:"
SOURCES = ("file", "folder", "suite", "hostname")


def of_path(path: Path) -> str:
    """Return the environment that a file's name tells, else the name of its folder."""
    stem = path.name
    for suffix in (".xml", ".junit", ".xunit"):
        stem = stem.removesuffix(suffix)
    stem = PASSING.sub("", stem)
    if not stem or stem.startswith(BY_CLASS) or GENERIC.fullmatch(stem):
        return named(PASSING.sub("", path.absolute().parent.name)) or named(stem) or "tests"
    return named(AROUND.sub("", stem)) or named(stem)


def of_run(report: JunitReport, run: SuiteRun, source: str) -> str:
    """Return the environment of one outermost suite of a report by the source that was asked for, else by its file."""
    found = ""
    suite = run.suites[0] if run.suites else ReadSuite("")
    if source == "folder":
        found = report.path.absolute().parent.name
    elif source == "suite":
        found = suite.name
    elif source == "hostname":
        found = suite.hostname
    elif source.startswith(PROPERTY):
        found = suite.properties.get(source.removeprefix(PROPERTY), "")
    return named(found) or of_path(report.path)


def named(text: str) -> str:
    """Return a name on one line, in which no colon ends a word: facts of a matrix put one between name and test."""
    return one_line(text, LIMIT).replace(": ", ":").rstrip(":").strip()
