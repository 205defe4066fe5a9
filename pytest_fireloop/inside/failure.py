"""What a failing report tells, as plain text that any process can carry."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from .printed import doctest_lines, own_places
from .record_file import ATTRIBUTE, dumps
from .signature import INLINED, FailureFacts, cause, signature
from .subjects import is_in_test, named_in_code

if TYPE_CHECKING:
    from types import FrameType

    from .noise import Noise

__all__ = ["ATTRIBUTE", "describe", "text_facts"]

MESSAGE_LIMIT = 4_000
FRAME_LIMIT = 30
LEAVES_LIMIT, NODES_LIMIT = 50, 500
LIBRARIES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}", f"{os.sep}_pytest{os.sep}")


def describe(report: Any, excinfo: Any, root: str, noise: Noise) -> str:
    """Return the failure as JSON: signature, cause, exception, message, location, statement, frames."""
    if excinfo is None:
        facts = _text_facts(report, report.when or "collect", root, noise)
        location = str(report.nodeid.split("::")[0])
        frames: list[str] = []
    else:
        value = _original(excinfo.value)
        entries = [entry for entry in _own_entries(value, root) if entry.function not in INLINED]
        crash = entries[-1] if entries else None
        name = _name(value)
        pairs = [(entry.path, entry.function) for entry in entries]
        in_test = is_in_test(report.nodeid, pairs, name.endswith("AssertionError"))
        facts = FailureFacts(
            getattr(report, "when", None) or "collect",
            name,
            message_of(report, value),
            crash.statement if crash else "",
            tuple(pairs),
            (*_chain(value, root), *_leaves(value, root)),
            noise.known,
            noise.masks,
            in_test,
            _subjects(entries, report.nodeid.partition("::")[0], root) if in_test else (),
        )
        frames = [f"{entry.path}:{entry.line} in {entry.function}" for entry in entries]
        location = f"{crash.path}:{crash.line}" if crash else str(report.nodeid.split("::")[0])
    return dumps(
        {
            "signature": signature(facts),
            "cause": cause(facts),
            "exception": facts.exception,
            "message": facts.message[:MESSAGE_LIMIT],
            "location": location,
            "statement": facts.statement.strip(),
            "frames": frames[-FRAME_LIMIT:],
        }
    )


def text_facts(report: Any, phase: str, root: str, noise: Noise) -> dict[str, Any]:
    """Return what the text of a report tells, where its exception was never seen: a crashed worker, a strict xpass."""
    bare = _text_facts(report, phase, root, noise)
    return {
        "signature": signature(bare),
        "cause": cause(bare),
        "exception": "",
        "message": bare.message[:MESSAGE_LIMIT],
        "location": str(report.nodeid.split("::")[0]),
        "statement": "",
        "frames": [],
    }


def _text_facts(report: Any, phase: str, root: str, noise: Noise) -> FailureFacts:
    text = longrepr_text(report)
    places = own_places(text, root)
    # of a dump of stacks only the project's own functions are the same twice
    message = text.lstrip().partition("\n")[0] if places else text
    frames = tuple((place.path, place.function) for place in places)
    in_test = is_in_test(report.nodeid, frames, asserting=False)
    return FailureFacts(phase, "", message, "", frames, (), noise.known, noise.masks, in_test)


def _subjects(entries: list[_Entry], test: str, root: str) -> tuple[str, ...]:
    """Return what the frames of the test's own file name, and where several frames name nothing, the test itself."""
    own = [entry for entry in entries if entry.path == test]
    named = {
        each for entry in own if entry.frame for each in named_in_code(entry.frame.f_code, entry.frame.f_globals, root)
    }
    if named or len(entries) == 1:
        return tuple(sorted(named))
    return (f"{own[0].path} {own[0].function}",)


def longrepr_text(report: Any) -> str:
    """Return the text of a report that has no exception: a crash, a strict xpass, a usage error."""
    longrepr = report.longrepr
    if isinstance(longrepr, tuple):
        return str(longrepr[-1])
    crash = getattr(longrepr, "reprcrash", None)
    return str(crash.message if crash is not None else longrepr or "")


def message_of(report: Any, value: BaseException) -> str:
    """Return the message that pytest shows, which holds the rewritten assertion or the failing doctest."""
    if type(value).__module__ in {"doctest", "_pytest.doctest"}:
        return doctest_lines(str(report.longrepr))
    crash = getattr(report.longrepr, "reprcrash", None)
    # a fixture that is missing has a report of its own, where the test's place and source come first
    text = crash.message if crash is not None else getattr(report.longrepr, "errorstring", "")
    return str(text) if text else f"{_name(value)}: {_text_of(value)}"


class _Entry:
    """One frame of the project's own code."""

    __slots__ = ("frame", "function", "line", "path", "statement")

    def __init__(self, path: str, line: int, function: str, statement: str, frame: FrameType | None = None) -> None:
        self.path, self.line, self.function, self.statement, self.frame = path, line, function, statement, frame


def _own_entries(value: BaseException, root: str) -> list[_Entry]:
    import linecache

    entries = []
    traceback = value.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        path = code.co_filename
        if path.startswith(root + os.sep) and not any(part in path for part in LIBRARIES):
            statement = linecache.getline(path, traceback.tb_lineno)
            relative = path[len(root) + 1 :].replace(os.sep, "/")
            frame = traceback.tb_frame
            entries.append(_Entry(relative, traceback.tb_lineno, code.co_name, statement.strip(), frame))
        traceback = traceback.tb_next
    if isinstance(value, SyntaxError) and value.filename and value.filename.startswith(root + os.sep):
        relative = value.filename[len(root) + 1 :].replace(os.sep, "/")
        entries.append(_Entry(relative, value.lineno or 0, "<module>", (value.text or "").strip()))
    return entries


def _original(value: BaseException) -> BaseException:
    """Return what pytest wrapped: a file that cannot be imported arrives as a CollectError."""
    if type(value).__name__ in {"CollectError", "ConftestImportFailure"}:
        wrapped = getattr(value, "cause", None) or value.__cause__ or value.__context__ or value
        # of a skip in the wrong place the wrapper is what says what is wrong
        return value if isinstance(wrapped, pytest.skip.Exception) else wrapped
    return value


def _leaves(value: Any, root: str) -> tuple[tuple[str, str], ...]:
    """Return types and texts of what an exception group holds, sorted, for tasks end in any order."""
    found: list[tuple[str, str]] = []
    left = [value] if _is_group(value) else []
    seen: set[int] = set()
    while left and len(found) < LEAVES_LIMIT and len(seen) < NODES_LIMIT:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if _is_group(each):
            left.extend(reversed(each.exceptions))
        else:
            found += [(_name(each), _text_of(each)[:MESSAGE_LIMIT]), *_raised(each, root)]
    return tuple(sorted(found))


def _is_group(value: BaseException) -> Any:
    """Whether it is an exception group, of Python or of the package that brings them to older releases."""
    return any(kind.__name__ == "BaseExceptionGroup" for kind in type(value).__mro__)


def _text_of(value: BaseException) -> str:
    try:
        return str(value)
    except BaseException as error:  # noqa: BLE001 - a __str__ of the user's exception may even leave the process
        return f"<{type(error).__name__} in __str__>"


def _name(value: BaseException) -> str:
    kind = type(value)
    return (
        kind.__qualname__
        if kind.__module__ in {"builtins", "_pytest.outcomes"}
        else f"{kind.__module__}.{kind.__qualname__}"
    )


def _raised(value: BaseException, root: str) -> list[tuple[str, str]]:
    """Return where in the project's own code the exception was raised, with the statement."""
    entries = _own_entries(value, root)
    return [(f"at {entries[-1].path} {entries[-1].function}", entries[-1].statement)] if entries else []


def _chain(value: BaseException, root: str) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    seen = {id(value)}
    while len(seen) < 8:
        following = value.__cause__ or (None if value.__suppress_context__ else value.__context__)
        if following is None or id(following) in seen:
            break
        seen.add(id(following))
        explicit = following is value.__cause__
        value = following
        where = _raised(value, root)
        if explicit or where:
            # what a library handles within itself is another thing in each release
            found += [(_name(value), _text_of(value)[:MESSAGE_LIMIT]), *where]
    return tuple(found)
