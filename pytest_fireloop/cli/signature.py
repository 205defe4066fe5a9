"""`fireloop signature`: the causes of the failures in records and reports."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from pytest_fireloop.cli.arguments import Parser, usage_error
from pytest_fireloop.inside.signature import signature
from pytest_fireloop.observe.causes import group_by_cause
from pytest_fireloop.observe.environments import of_path
from pytest_fireloop.observe.failure_text import facts_of
from pytest_fireloop.observe.junit import read_junit
from pytest_fireloop.observe.record import RecordError, RunRecord, read_record
from pytest_fireloop.observe.report_file import refuse_named_pipe
from pytest_fireloop.observe.text import reason_of
from pytest_fireloop.show.causes import cause_lines

PROGRAM = "fireloop signature"


def main(argv: Sequence[str]) -> int:
    """Print groups of failures, or with --records one signature a line; 4 for a file that cannot be read."""
    made = Parser(
        prog=PROGRAM,
        description="Group the failures of runs by what one fix would cure. The masks of a project "
        "(pytest_fireloop_masks) are in its run records, and do not reach JUnit reports.",
        allow_abbrev=False,
    )
    made.epilog = "example: fireloop signature .tox/junit.*.xml"
    made.add_argument(
        "files", nargs="*", metavar="FILE", help="run records and JUnit reports; together they are one list"
    )
    made.add_argument(
        "--records", metavar="FILE.jsonl", help="failure records, one a line: print the signature of each"
    )
    options = made.parse_args(argv)
    if not options.files and not options.records:
        return usage_error(PROGRAM, "no file is given; name a run record or a JUnit report")
    where = ""
    try:
        if options.records:
            refuse_named_pipe(Path(options.records))
            for number, line in enumerate(Path(options.records).read_text(encoding="utf-8").splitlines(), start=1):
                where = f"{options.records}:{number}: "
                if line.strip():
                    print(signature(facts_of(json.loads(line))))
        where = ""
        if options.files:
            records = [_read(Path(path)) for path in options.files]
            for line in cause_lines(group_by_cause(*records)):
                print(line)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecordError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            return usage_error(PROGRAM, f"cannot read {str(error.filename)!r}: {reason_of(error)}")
        named = "" if isinstance(error, RecordError | OSError) else f"{type(error).__name__}: "
        return usage_error(PROGRAM, f"{where}{named}{error}")
    return 0


def _read(path: Path, environment: str = "") -> RunRecord:
    """Read a record or a report, whichever it is by its first character; what can be read only once is copied before."""
    refuse_named_pipe(path)
    with path.open("rb") as file:
        if not file.seekable():
            return _read_copy(file, path)
        start = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    return read_junit(path, environment or of_path(path)) if start.startswith(b"<") else read_record(path)


def _read_copy(file: BinaryIO, path: Path) -> RunRecord:
    with tempfile.TemporaryDirectory(prefix="fireloop-") as folder:
        copy = Path(folder) / "input"
        with copy.open("wb") as target:
            shutil.copyfileobj(file, target)
        try:
            return _read(copy, of_path(path))
        except RecordError as error:
            raise RecordError(str(error).replace(str(copy), str(path))) from error
