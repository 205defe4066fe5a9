"""The facts of a failure of which only a report's text is left: a JUnit file, a log, a record of another tool."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_fireloop.inside.known_facts import named_values
from pytest_fireloop.inside.printed import (
    LIBRARY,
    broken_source,
    chained_places,
    doctest_lines,
    leaves,
    own_places,
    parts,
)
from pytest_fireloop.inside.signature import FailureFacts
from pytest_fireloop.inside.subjects import is_in_test

#: An exception's name before its text, as `traceback.format_exception_only` writes it.
NAMED = re.compile(r"((?:[a-z_]\w{0,60}\.){0,8}[A-Z]\w{0,100})(?:: |$|\n)")
SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError"})


def facts_of(row: Mapping[str, Any]) -> FailureFacts:
    """Read a failure record: what its fields say, and what only its printed text shows.

    Fields, all but `message` optional: `nodeid`, `phase`, `exc_type`, `message`, `crash_path`, `statement`, `frames`,
    `chain`, `longrepr`, `rootdir`, `python`, and `env` with `home`, `user`, `host`, `tmp`, `prefix`, `pid`, `start`.
    """
    root = str(row.get("rootdir") or "").rstrip("/")
    exception, message, printed = (str(row.get(key) or "") for key in ("exc_type", "message", "longrepr"))
    frames = [_frame(frame, root) for frame in row.get("frames") or ()]
    own = tuple((path, function) for path, function in frames if path)
    crash = _below(str(row.get("crash_path") or ""), root)
    statement = str(row.get("statement") or "") if crash or not printed else ""
    if exception in SYNTAX or exception.endswith(".SyntaxError"):
        path, source = broken_source(printed, root)
        own, statement = (*own, (path, "<module>")), source or statement
    elif not statement and printed:
        # the statement of a library is its release's; the project's own line called it
        places = own_places(parts(printed)[-1], root)
        statement = places[-1].statement if places else ""
        if not own and ("frames" not in row or not exception):
            own = tuple((place.path, place.function) for place in places)
    chain = [(str(link.get("exc_type") or ""), str(link.get("message") or "")) for link in row.get("chain") or ()]
    if chain or "chain" not in row:
        chain += [(f"at {path}", source) for path, source in chained_places(printed, root)]
    if exception.endswith("ExceptionGroup"):
        chain += leaves(printed)
    if exception.startswith(("doctest.", "_pytest.doctest.")):
        message = doctest_lines(printed) or message
    phase = str(row.get("phase") or "call")
    in_test = is_in_test(str(row.get("nodeid") or ""), own, exception.endswith("AssertionError"))
    return FailureFacts(phase, exception, message, statement, own, tuple(chain), known_values(row, root), (), in_test)


def named_exception(text: str) -> str:
    """Return the name of the exception with which a message begins, as pytest and unittest write it, or nothing."""
    if text.startswith("assert "):
        return "AssertionError"
    found = NAMED.match(text)
    return found[1] if found else ""


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
