"""One failure of a JUnit report: what its words and its traceback tell."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from pytest_fireloop.inside.colour import without_colour
from pytest_fireloop.inside.printed import own_places
from pytest_fireloop.inside.signature import FailureFacts, cause, signature
from pytest_fireloop.observe.failure_text import facts_of, named_exception
from pytest_fireloop.observe.junit_case import ReadCase
from pytest_fireloop.observe.record import Failure

MESSAGE_LIMIT = 4_000
#: How pytest says in which phase a test broke.
PHASE = re.compile(r"failed on (setup|teardown) with \"(.*)\"$", re.DOTALL)
LAST = re.compile(r"^[^\s:]{1,400}:\d{1,7}: (\w{1,200})\s{0,4}\Z", re.MULTILINE)
#: A message that says nothing.
EMPTY = re.compile(r"\s*(?:failed|failure|error|test failed|null|none)?\s*", re.IGNORECASE)
#: The lines of a traceback by pytest that hold the exception.
MARKED = re.compile(r"^E {3,}(.*)$", re.MULTILINE)


def failure_of(case: ReadCase, result: Any | None, nodeid: str, root: str) -> Failure:
    """Return the failure with its signatures, worked out from the text."""
    facts = _facts(case, result, root)
    places = own_places(_decoded(_said(result, "text")), root)
    location = f"{places[-1].path}:{places[-1].line}" if places else str(case.classname or case.name)
    return Failure(
        signature(facts), cause(facts), (nodeid,), facts.exception, facts.message[:MESSAGE_LIMIT], location,
        facts.statement.strip(),
    )  # fmt: skip


def _facts(case: ReadCase, result: Any | None, root: str) -> FailureFacts:
    text, said = _decoded(_said(result, "text")), _decoded(_said(result, "message"))
    phase = "call"
    found = PHASE.match(said)
    if found is not None:
        phase, said = found[1], found[2]
    elif said == "collection failure":
        phase, said = "collect", ""
    marked = MARKED.findall(text)
    if EMPTY.fullmatch(said) and text:
        said = ""  # other tools say what kind of end it was, and the rest in the text
    message = said or "\n".join(marked) or text
    exception = _said(result, "type") or named_exception(message) or _typename(message, text)
    if phase == "collect" and marked:
        exception = exception or named_exception(marked[-1].strip())
    file = _test_file(case)
    row = {
        "nodeid": f"{file}::{case.name}",
        "phase": phase,
        "exc_type": exception,
        "message": message,
        "longrepr": text,
        "rootdir": root,
        "env": {"host": case.suite.hostname, "start": _start(case.suite.timestamp)},
    }
    return facts_of(row)


def _decoded(text: str) -> str:
    """Return a text with the control characters that XML cannot hold, and pytest wrote out, as they were, less colours."""
    return without_colour(text.replace("#x1B", "\x1b"))


def _typename(message: str, text: str) -> str:
    """Return the name before a message which the last line of pytest's long traceback confirms: `calc.py:7: error`."""
    name = message.partition(":")[0].partition("\n")[0].strip()
    found = LAST.search(text)
    return name if found is not None and name.rpartition(".")[2] == found[1] else ""


def _said(result: Any | None, name: str) -> str:
    """Return a part of the result, empty where a case is red by its status alone."""
    return str(getattr(result, name) or "") if result is not None else ""


def _test_file(case: ReadCase) -> str:
    """Return the path of the case's module below the root, from the dotted name that pytest gives its class."""
    words = str(case.classname or case.name or "").split(".")
    while len(words) > 1 and words[-1][:1].isupper():
        words.pop()
    return "/".join(words) + ".py"


def root_in(case: ReadCase, text: str) -> str:
    """Return the folder in which the tests ran, where a traceback names the test's file by its whole path."""
    file = _test_file(case)
    place = text.find(f"/{file}")
    if place < 0 or file == ".py":
        return ""
    start = max(text.rfind(mark, 0, place) for mark in '"\n ')
    path = text[start + 1 : place]
    return path if path.startswith("/") else ""


def _start(timestamp: str) -> float:
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
