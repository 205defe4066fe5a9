"""`fireloop signature`: the signatures of failures."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fireloop.cli.arguments import Parser, usage_error
from pytest_fireloop.inside.signature import FailureFacts, signature
from pytest_fireloop.observe.causes import group_by_cause
from pytest_fireloop.observe.record import RecordError, read_record
from pytest_fireloop.observe.text import one_line

PROGRAM = "fireloop signature"


def main(argv: Sequence[str]) -> int:
    """Print groups of failures, or with --records one signature a line; 4 for a file that cannot be read."""
    made = Parser(prog=PROGRAM, description="Print the failure signatures of records.", allow_abbrev=False)
    made.epilog = "example: fireloop signature run.json"
    made.add_argument("files", nargs="*", metavar="FILE", help="run records")
    made.add_argument("--records", metavar="FILE.jsonl", help="failure records, one a line")
    options = made.parse_args(argv)
    if not options.files and not options.records:
        return usage_error(PROGRAM, "no file is given; name a run record")
    try:
        if options.records:
            for line in Path(options.records).read_text(encoding="utf-8").splitlines():
                if line.strip():
                    print(signature(facts_of(json.loads(line))))
        for path in options.files:
            _print_groups(Path(path))
    except (OSError, ValueError, KeyError, RecordError) as error:
        return usage_error(PROGRAM, f"{type(error).__name__}: {error}")
    return 0


def facts_of(row: Mapping[str, Any]) -> FailureFacts:
    """Read a failure record: type, message, statement, frames, chain and the facts of its machine."""
    root = row.get("rootdir") or ""
    environment = row.get("env") or {}
    known = [(str(value), f"<{name}>") for name, value in environment.items() if value and len(str(value)) > 3]
    known += [(root, "<root>")] if root else []
    frames = [
        (path.removeprefix(root).lstrip("/"), function)
        for path, _, function in (_frame(frame) for frame in row.get("frames") or ())
        if "site-packages" not in path and (path.startswith(root) or not path.startswith("/"))
    ]
    return FailureFacts(
        row.get("phase") or "call",
        row.get("exc_type") or "",
        row.get("message") or "",
        row.get("statement") or "",
        tuple(frames),
        tuple((link.get("exc_type") or "", link.get("message") or "") for link in row.get("chain") or ()),
        tuple(sorted(known, key=lambda pair: -len(pair[0]))),
    )


def _frame(frame: Any) -> tuple[str, int, str]:
    if isinstance(frame, Mapping):
        return str(frame.get("path", "")), int(frame.get("line") or 0), str(frame.get("function", ""))
    path, line, function = frame
    return str(path), int(line or 0), str(function)


def _print_groups(path: Path) -> None:
    record = read_record(path)
    for group in group_by_cause(record):
        failure = group.representative
        title = one_line(f"{failure.exception or 'Error'} at {failure.location}: {failure.message}", 160)
        sys.stdout.write(f"{group.cause}  {len(group.nodeids):>4}  {title}\n")
        for node in group.nodeids[:5]:
            sys.stdout.write(f"      {one_line(node)}\n")
