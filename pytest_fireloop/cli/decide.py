"""`fireloop decide`: one decision from the reports of a matrix."""

from __future__ import annotations

import argparse
import glob
import hashlib
import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pytest_fireloop.cli.arguments import Parser, usage_error
from pytest_fireloop.judge.matrix import (
    EnvironmentDecision,
    History,
    MatrixDecision,
    decide_environment,
    decide_matrix,
    missing,
)
from pytest_fireloop.judge.verdict import EXIT_CODES
from pytest_fireloop.observe.environments import PROPERTY, SOURCES, named, of_run
from pytest_fireloop.observe.junit import JunitReport, SuiteRun, joined, read_report
from pytest_fireloop.observe.record import RecordError
from pytest_fireloop.remember.journal import JournalDamagedError

PROGRAM = "fireloop decide"
EPILOG = """\
example: fireloop decide --expect py311,py312 --fire-loop-dir .cache/fireloop --markdown page.md .tox/junit.*.xml
exit codes: 0 green, 1 red, 4 a report is missing or cannot be read, 5 no tests, 10 stuck, 11 blocked, 13 incomplete"""


def main(argv: Sequence[str]) -> int:
    """Print the decision; 0 only if every environment is green, 4 for a report that is missing or cannot be read."""
    options = _parser().parse_args(argv)
    try:
        reports, given = _read(options)
        decision = _decide(options, reports, given)
        _write(options, decision)
    except RecordError as error:
        return usage_error(PROGRAM, str(error))
    except JournalDamagedError as error:
        usage_error(PROGRAM, str(error))
        return EXIT_CODES["circuit_open"]
    for each in decision.environments:
        if each.verdict == "usage":
            usage_error(PROGRAM, f"{each.name}: {each.reason}")
    return decision.exit_code


def _parser() -> Parser:
    made = Parser(
        prog=PROGRAM,
        description="Make one decision from JUnit reports; green only if each environment is.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = made.add_argument
    add(
        "reports",
        nargs="+",
        metavar="[ENV=]REPORT.xml",
        help="a report, with its environment where its name says another",
    )
    add(
        "--expect",
        action="append",
        default=[],
        metavar="ENV,...",
        help="environments that must have a report; repeatable",
    )
    add(
        "--environment",
        type=_source,
        default="file",
        metavar="SOURCE",
        help="where a report names its environment: file, folder, suite, hostname or property:NAME; default: file",
    )
    add(
        "--repeated",
        choices=("worst", "last"),
        default="worst",
        help="which result of a test counts that is there several times; last where your runner writes its reruns so",
    )
    add("--subtests", action="store_true", help="reports count passed subtests, as pytest does, which they do not hold")
    add("--fire-loop-dir", metavar="DIR", help="keep a history in DIR, such as a cache folder, and judge against it")
    add(
        "--revision",
        default="",
        metavar="ID",
        help="what was tested, such as a commit; with the same one nothing changed",
    )
    add("--profile", choices=("balanced", "strict", "aggressive"), default="balanced", help="default: balanced")
    add("--json", action="store_true", help="one JSON object")
    add(
        "--markdown",
        nargs="?",
        const="-",
        type=_page,
        metavar="FILE",
        help="a summary for a job's page, added to FILE or printed",
    )
    return made


def _page(text: str) -> str:
    """Refuse to write into a report that only stands where a page may be named."""
    if text.lower().endswith(".xml"):
        raise argparse.ArgumentTypeError(f"{text!r} looks like a report; write --markdown=- before reports")
    return text


def _source(text: str) -> str:
    if text in SOURCES or (text.startswith(PROPERTY) and text != PROPERTY):
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(SOURCES)}, {PROPERTY}NAME")


def _read(options: Namespace) -> tuple[list[JunitReport], dict[Path, str]]:
    """Read each report once; a pattern that the shell did not fill in is filled in here, or names no report."""
    paths: dict[Path, str] = {}
    for word in options.reports:
        name, pattern = "", word
        if not os.path.lexists(word) and "=" in word.partition("/")[0]:
            name, _, pattern = word.partition("=")
            if not named(name):
                raise RecordError(f"{word!r} names no environment; write ENV=REPORT.xml")
        found = [pattern] if os.path.lexists(pattern) or not glob.has_magic(pattern) else sorted(glob.glob(pattern))
        if not found:
            raise RecordError(f"no report matches {pattern!r}")
        paths |= {Path(path): named(name) for path in found}
    return [read_report(path, last=options.repeated == "last") for path in paths], paths


def _decide(options: Namespace, reports: Sequence[JunitReport], given: dict[Path, str]) -> MatrixDecision:
    environments = _environments(options, reports, given)
    names = [each.name for each in environments]
    expected = [named(name) for names in options.expect for name in names.split(",") if named(name)]
    if options.fire_loop_dir is None:
        return decide_matrix([*environments, *(missing(name, names) for name in expected if name not in names)])
    from pytest_fireloop.act.lock import wait_in_line
    from pytest_fireloop.act.matrix_history import history
    from pytest_fireloop.remember.paths import make_private

    folder = Path(options.fire_loop_dir)
    try:
        make_private(folder)
        turn = wait_in_line(folder)
    except OSError as error:
        raise RecordError(f"cannot use the folder {str(folder)!r}: {error.strerror or error}") from error
    with _until_closed(turn), history(folder, options.profile) as past:
        # without a list of its own, what was red before may not just stay away
        absent = [name for name in (expected if options.expect else past.expected) if name not in names]
        environments = past.compared(environments)
        told = History()
        doubtful = any(each.verdict == "false_green" for each in environments)
        if not absent and not doubtful:
            digest = hashlib.blake2b("".join(sorted(each.digest for each in reports)).encode(), digest_size=16)
            environments, told = past.judge(
                environments, digest=digest.hexdigest(), revision=options.revision, at=time.time()
            )
    return decide_matrix([*environments, *(missing(name, names) for name in absent)], told)


@contextmanager
def _until_closed(descriptor: int | None) -> Iterator[None]:
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _environments(
    options: Namespace, reports: Sequence[JunitReport], given: dict[Path, str]
) -> list[EnvironmentDecision]:
    """Put together what all reports show of each environment, in the order in which they name it."""
    parts: dict[str, list[SuiteRun]] = {}
    files: dict[str, set[Path]] = {}
    for report in reports:
        for run in report.runs or (SuiteRun(),):
            name = given[report.path] or of_run(report, run, options.environment)
            parts.setdefault(name, []).append(run)
            files.setdefault(name, set()).add(report.path)
    found = []
    for name, runs in parts.items():
        whole = joined(runs, last=options.repeated == "last")
        if options.subtests:
            whole.doubts = [doubt for doubt in whole.doubts if doubt.about != "tests"]
        each = decide_environment(whole.record(name, name), len(files[name]))
        notes = []
        if len(files[name]) > 1:
            notes.append(f"in {len(files[name])} reports together")
        if whole.repeated:
            notes.append(f"{len(whole.repeated)} more than once, of which the {options.repeated} result counts")
        if each.verdict == "false_green" and any(doubt.suite.name == "pytest" for doubt in whole.doubts):
            notes.append("pytest counts passed subtests too: --subtests, if the tests have some")
        found.append(replace(each, reason="; ".join((each.reason, *notes))))
    return found


def _write(options: Namespace, decision: MatrixDecision) -> None:
    from pytest_fireloop.show.matrix import decision_lines, decision_markdown

    if options.markdown not in {None, "-"}:
        try:
            with open(options.markdown, "a", encoding="utf-8") as page:
                page.write(decision_markdown(decision))
        except OSError as error:
            raise RecordError(f"cannot write {options.markdown!r}: {error.strerror or error}") from error
    if options.json:
        text = json.dumps({"schema": "fireloop.decision/1", **decision.to_json()}) + "\n"
    elif options.markdown == "-":
        text = decision_markdown(decision)
    else:
        text = "".join(f"{line}\n" for line in decision_lines(decision))
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
