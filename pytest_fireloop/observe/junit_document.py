"""A JUnit file as a stream: its suites and cases one by one, in little memory, whatever the size of the file."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element
from xml.parsers import expat

from pytest_fireloop.observe.record import RecordError

CHUNK = 1 << 16
#: Suites and other elements may lie so deep in each other; no runner comes near.
DEPTH = 200
#: Characters that are kept of one text, half of them from its end, where a traceback says what went wrong.
TEXT = 80_000
#: What a case holds beside its results, often more than all the rest, and read by nobody here.
PASSED_OVER = frozenset({"system-out", "system-err", "stackTrace"})
#: Results that end a case red.
FINAL = frozenset({"failure", "error"})
#: Names by how they are written without capitals: a failure is one, however a tool spells it.
SPELLED = {
    name.lower(): name
    for name in (
        *("testsuites", "testsuite", "testcase", "failure", "error", "skipped", "property", "properties"),
        *("flakyFailure", "flakyError", "rerunFailure", "rerunError", "stackTrace", "system-out", "system-err"),
    )
}
#: Encodings that the parser knows by itself; all others are turned into the first of them.
KNOWN = frozenset({"utf-8", "utf-16", "ascii", "iso8859-1"})
#: Codecs of Python that are no encodings of documents.
NO_ENCODINGS = frozenset({"unicode-escape", "raw-unicode-escape", "idna", "punycode", "utf-7"})
DECLARED = re.compile(rb"^<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9._:-]{1,40})[\"']")
WHOLE = re.compile(r"\s{0,9}\+?([0-9]{1,15})(?:\.0{1,6})?\s{0,9}")
COUNTS = ("tests", "failures", "errors")


@dataclass(eq=False, slots=True)
class ReadSuite:
    """A suite as far as it is read; `top` is the outermost one that it lies in, `inner` the names below that one.

    Cases beside all suites have the root.
    """

    name: str
    hostname: str = ""
    timestamp: str = ""
    parent: ReadSuite | None = None
    claimed: dict[str, int] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    held: int = 0
    red: int = 0
    top: ReadSuite = field(init=False)
    inner: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Know the outermost suite, and the names below it, once for all of the cases."""
        around = self.parent
        below = around is not None and around.parent is not None
        self.top = around.top if around is not None and below else self
        self.inner = (*around.inner, self.name) if around is not None and below else ()


@dataclass(eq=False, slots=True)
class ReadCase:
    """One test case with its results, as junitparser tells them apart."""

    suite: ReadSuite
    attributes: dict[str, str]
    results: list[Any]
    name: str = field(init=False)
    classname: str = field(init=False)

    def __post_init__(self) -> None:
        """Take the blanks off the names, with which some runners begin them."""
        self.name = self.attributes.get("name", "").strip()
        self.classname = self.attributes.get("classname", "").strip()


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a report cannot be taken at its word; `about` is failures, tests, or number where a count is none."""

    about: str
    reason: str
    suite: ReadSuite


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """What is known of a file when its end was read."""

    digest: str
    doubts: tuple[Doubt, ...]
    root: ReadSuite


def read_document(path: Path, take: Callable[[ReadCase], None]) -> ReadDocument:
    """Read one file and hand on each case; raises RecordError when it is missing, damaged or no JUnit report."""
    named = f"cannot read report {str(path)!r}"
    digest = hashlib.blake2b(digest_size=16)
    reader = _Reader(take)
    try:
        with path.open("rb") as file:
            parser, recode = _parser_for(file.peek(CHUNK)[:400])
            reader.attend(parser)
            while chunk := file.read(CHUNK):
                digest.update(chunk)
                parser.Parse(recode(chunk, final=False) if recode else chunk, False)
            parser.Parse(recode(b"", final=True) if recode else b"", True)
    except OSError as error:
        raise RecordError(f"{named}: {error.strerror or error}") from error
    except expat.ExpatError as error:
        raise RecordError(f"{named}: {error}") from error
    except (RecordError, LookupError, ValueError) as error:
        raise RecordError(f"{named}: {' '.join(str(error).split())[:200]}") from error
    if reader.root is None:
        raise RecordError(f"{named}: it holds no element")
    return ReadDocument(digest.hexdigest(), tuple(reader.doubts), reader.root)


def _parser_for(start: bytes) -> tuple[Any, Callable[..., bytes] | None]:
    """Return a parser for the encoding that a file begins in, and what turns another one into UTF-8."""
    found = DECLARED.match(start.removeprefix(codecs.BOM_UTF8))
    if found is None:
        return expat.ParserCreate(), None
    name = found[1].decode("ascii")
    "".encode(name)  # refuses what is unknown, and codecs that are no encoding of text
    known = codecs.lookup(name).name
    if known in KNOWN:
        return expat.ParserCreate(), None
    if known.replace("_", "-") in NO_ENCODINGS:
        raise LookupError(f"the encoding {name!r} is refused")
    decoder = codecs.getincrementaldecoder(name)()
    return expat.ParserCreate("utf-8"), lambda chunk, final: decoder.decode(chunk, final).encode("utf-8")


class _Text:
    """The beginning and the end of a text."""

    def __init__(self) -> None:
        self.head, self.tail = "", ""

    def add(self, data: str) -> None:
        room = TEXT // 2 - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        if data:
            self.tail = (self.tail + data)[-TEXT // 2 :]

    def whole(self) -> str:
        return self.head + self.tail


class _Reader:
    """Follows the parser through one document."""

    def __init__(self, take: Callable[[ReadCase], None]) -> None:
        self._take = take
        self.doubts: list[Doubt] = []
        self.root: ReadSuite | None = None
        self._suite: ReadSuite | None = None
        self._names: list[str] = []
        self._case: Element | None = None
        self._result: Element | None = None
        self._text: _Text | None = None
        self._property: str | None = None
        self._passed_over = 0

    def attend(self, parser: Any) -> None:
        parser.buffer_text = True
        parser.buffer_size = CHUNK
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.StartDoctypeDeclHandler = _refuse

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        name = SPELLED.get(name.lower(), name)
        if len(self._names) >= DEPTH:
            raise RecordError(f"elements lie deeper than {DEPTH} in each other")
        self._names.append(name)
        if self._passed_over or name in PASSED_OVER:
            self._passed_over += 1
        elif self._suite is None:
            self._begin(name, attributes)
        elif self._case is not None:
            self._inside_case(name, attributes)
        elif name == "testsuite":
            self._suite = _suite(attributes, self._suite)
            self._count(self._suite, attributes)
        elif name == "testcase":
            self._case = Element("testcase", attributes)
        elif name in FINAL:
            # a suite that could not run says so in the place of its tests
            self._case = Element("testcase", {"name": self._suite.name or "suite"})
            self._inside_case(name, attributes)
        elif name == "property" and attributes.get("name"):
            self._property = attributes["name"]
            self._suite.properties.setdefault(self._property, attributes.get("value", "")[:1000])
            self._text = None if attributes.get("value") else _Text()

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if name not in {"testsuites", "testsuite"}:
            raise RecordError(f"it is no JUnit report: its root is <{name[:40]}>, not <testsuites> or <testsuite>")
        self.root = self._suite = ReadSuite(attributes.get("name", "").strip()[:400])
        if name == "testsuite":
            self._suite = _suite(attributes, self.root)
        self._count(self._suite, attributes)

    def _inside_case(self, name: str, attributes: dict[str, str]) -> None:
        assert self._case is not None
        if self._result is None and name not in {"properties", "property"}:
            self._result = Element(name, {key: value[:TEXT] for key, value in attributes.items()})
            self._case.append(self._result)
            self._text = _Text()

    def _data(self, data: str) -> None:
        if self._text is not None and not self._passed_over:
            self._text.add(data)

    def _end(self, name: str) -> None:
        name = self._names.pop()
        if self._passed_over:
            self._passed_over -= 1
            return
        assert self._suite is not None
        if self._result is not None and self._result.tag == name:
            self._result.text = self._text.whole() if self._text is not None else ""
            self._result = self._text = None
            if self._case is not None and self._names[-1:] != ["testcase"] and self._names[-1].startswith("testsuite"):
                self._finish(claimed=False)
        elif name == "testcase" and self._case is not None:
            self._finish(claimed=True)
        elif name == "property" and self._property is not None:
            if self._text is not None and self._case is None:
                self._suite.properties[self._property] = self._text.whole().strip()[:1000]
            self._property, self._text = None, None
        elif name in {"testsuite", "testsuites"} and self._case is None:
            self._close()

    def _finish(self, *, claimed: bool) -> None:
        """Hand a case on, with its results as junitparser knows them; most cases have none."""
        case, self._case = self._case, None
        assert case is not None
        assert self._suite is not None
        results: list[Any] = []
        if len(case):
            from junitparser import xunit2

            results = list(xunit2.TestCase.fromelem(case))  # type: ignore[no-untyped-call]
        self._suite.held += claimed
        self._suite.red += sum(each.tag in FINAL for each in case)
        self._take(ReadCase(self._suite, case.attrib, results))

    def _close(self) -> None:
        suite = self._suite
        assert suite is not None
        claimed = suite.claimed
        whose = f"suite {suite.name!r}" if suite.parent is not None and suite.name else "the report"
        red = claimed.get("failures", 0) + claimed.get("errors", 0)
        if red > suite.red:
            self.doubts.append(
                Doubt("failures", f"{whose} claims {red} failures and errors and holds {suite.red}", suite)
            )
        if claimed.get("tests", 0) > suite.held:
            reason = f"{whose} claims {claimed['tests']} tests and holds {suite.held}"
            self.doubts.append(Doubt("tests", reason, suite))
        if suite.parent is not None:
            suite.parent.held += suite.held
            suite.parent.red += suite.red
            self._suite = suite.parent

    def _count(self, suite: ReadSuite, attributes: dict[str, str]) -> None:
        for name in COUNTS:
            said = attributes.get(name, "")
            if not said.strip():
                continue
            found = WHOLE.fullmatch(said)
            if found is not None:
                suite.claimed[name] = int(found[1])
            else:
                reason = f"the report's number of {name} is {said[:40]!r}"
                self.doubts.append(Doubt("number", reason, suite))


def _suite(attributes: dict[str, str], parent: ReadSuite) -> ReadSuite:
    name, host, timestamp = (attributes.get(key, "").strip()[:400] for key in ("name", "hostname", "timestamp"))
    return ReadSuite(name, host, timestamp, parent)


def _refuse(*_: object) -> None:
    raise RecordError("a DOCTYPE is refused")
