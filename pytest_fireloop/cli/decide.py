"""`fireloop decide`: one decision from the reports of a matrix."""

from __future__ import annotations

import argparse
import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from pytest_fireloop.act.matrix_decision import Asked, decide_reports
from pytest_fireloop.cli.arguments import Parser, usage_error
from pytest_fireloop.judge.matrix import MatrixDecision
from pytest_fireloop.observe.environments import PROPERTY, SOURCES, named
from pytest_fireloop.observe.record import RecordError

PROGRAM = "fireloop decide"
EPILOG = """\
example: fireloop decide --expect py311,py312 --fire-loop-dir .cache/fireloop --markdown page.md .tox/junit.*.xml
exit codes: 0 green, 1 red, 4 a report is missing or cannot be read, 5 no tests, 10 stuck, 11 blocked, 13 incomplete"""


def main(argv: Sequence[str]) -> int:
    """Print the decision; 0 only if every environment is green, 4 for a report that is missing or cannot be read."""
    options = _parser().parse_args(argv)
    try:
        decision = decide_reports(_asked(options))
        _write(options, decision)
    except RecordError as error:
        return usage_error(PROGRAM, str(error))
    past = decision.history
    if past is not None and past.loop_id is None and past.reason:
        usage_error(PROGRAM, past.reason)
    for each in decision.environments:
        if each.verdict == "usage":
            usage_error(PROGRAM, f"{each.name}: {each.reason}")
    return decision.exit_code


def _asked(options: Namespace) -> Asked:
    expected = [name for names in options.expect for name in names]
    return Asked(
        reports=tuple(options.reports),
        expected=expected if options.expect else None,
        source=options.environment,
        last=options.repeated == "last",
        subtests=options.subtests,
        folder=options.fire_loop_dir,
        revision=options.revision,
        profile=options.profile,
    )


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
        type=_names,
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
    add(
        "--fire-loop-dir",
        type=_folder,
        metavar="DIR",
        help="keep a history in DIR, such as a cache folder, and judge against it",
    )
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


def _names(text: str) -> list[str]:
    """Refuse what a variable that is not set leaves: a check that is asked for is never switched off by it."""
    names = [found for name in text.split(",") if (found := named(name))]
    if not names:
        raise argparse.ArgumentTypeError(f"{text!r} names no environment; is a variable empty?")
    return names


def _folder(text: str) -> Path:
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{text!r} names no folder; is a variable empty?")
    return Path(text)


def _page(text: str) -> str:
    """Refuse to write into a report that only stands where a page may be named."""
    if text.lower().endswith(".xml"):
        raise argparse.ArgumentTypeError(f"{text!r} looks like a report; write --markdown=- before reports")
    return text


def _source(text: str) -> str:
    if text in SOURCES or (text.startswith(PROPERTY) and text != PROPERTY):
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(SOURCES)}, {PROPERTY}NAME")


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
