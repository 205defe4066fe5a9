"""`fireloop signature`: the signatures of failures."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fireloop.cli.arguments import Parser, usage_error
from pytest_fireloop.inside.known_facts import named_values
from pytest_fireloop.inside.printed import (
    LIBRARY,
    LINKS,
    broken_source,
    chained_places,
    doctest_lines,
    leaves,
    own_places,
)
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
    """Read a failure record: what its fields say, and what only its printed text shows."""
    root = str(row.get("rootdir") or "").rstrip("/")
    exception, message, printed = (str(row.get(key) or "") for key in ("exc_type", "message", "longrepr"))
    frames = [_frame(frame, root) for frame in row.get("frames") or ()]
    own = tuple((path, function) for path, function in frames if path)
    crash = _below(str(row.get("crash_path") or ""), root)
    statement = str(row.get("statement") or "") if crash or not printed else ""
    if exception.endswith("SyntaxError") or exception in {"IndentationError", "TabError"}:
        path, source = broken_source(printed, root)
        own, statement = (*own, (path, "<module>")), source or statement
    elif not statement and printed:
        # the statement of a library is its release's; the project's own line called it
        places = own_places(LINKS.split(printed)[-1], root)
        statement = places[-1].statement if places else ""
        if not own and not exception:
            own = tuple((place.path, place.function) for place in places)
    chain = [(str(link.get("exc_type") or ""), str(link.get("message") or "")) for link in row.get("chain") or ()]
    if chain:
        chain += [(f"at {path}", source) for path, source in chained_places(printed, root)]
    if exception.endswith("ExceptionGroup"):
        chain += leaves(printed)
    if exception.startswith(("doctest.", "_pytest.doctest.")):
        message = doctest_lines(printed) or message
    known = known_values(row, root)
    return FailureFacts(str(row.get("phase") or "call"), exception, message, statement, own, tuple(chain), known)


def known_values(row: Mapping[str, Any], root: str) -> tuple[tuple[str, str], ...]:
    """Return the values of the record's machine and run with the names that stand for them."""
    environment = row.get("env") or {}
    return named_values(
        root=root,
        home=str(environment.get("home") or ""),
        temporary=str(environment.get("tmp") or ""),
        prefixes=(str(environment.get("prefix") or ""), str(environment.get("base_prefix") or "")),
        user=str(environment.get("user") or ""),
        host=str(environment.get("host") or ""),
        pid=int(environment.get("pid") or 0),
        start=float(environment.get("start") or 0),
        python=str(row.get("python") or ""),
    )


def _frame(frame: Any, root: str) -> tuple[str, str]:
    """Return the frame's path below the root, empty for a library's, and its function."""
    if isinstance(frame, Mapping):
        return _below(str(frame.get("path", "")), root), str(frame.get("function", ""))
    path, _, function = frame
    return _below(str(path), root), str(function)


def _below(path: str, root: str) -> str:
    if not path or LIBRARY.search(path):
        return ""
    if root:
        return path[len(root) + 1 :] if path.startswith(f"{root}/") else ""
    return path


def _print_groups(path: Path) -> None:
    record = read_record(path)
    for group in group_by_cause(record):
        failure = group.representative
        title = one_line(f"{failure.exception or 'Error'} at {failure.location}: {failure.message}", 160)
        sys.stdout.write(f"{group.cause}  {len(group.nodeids):>4}  {title}\n")
        for node in group.nodeids[:5]:
            sys.stdout.write(f"      {one_line(node)}\n")
