"""A JUnit file as a stream: its suites and cases one by one, in little memory, whatever the size of the file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element
from xml.parsers import expat

from pytest_fireloop.observe.junit_case import ReadCase
from pytest_fireloop.observe.junit_encoding import parser_for
from pytest_fireloop.observe.junit_suite import Doubt, ReadSuite, suite_of
from pytest_fireloop.observe.junit_words import (
    FINAL,
    NO,
    NOTHING,
    RESULTS,
    SETTLED,
    is_known,
    plain,
    read_attributes,
    said_by,
    spoken,
    tag_of,
)
from pytest_fireloop.observe.kept_text import TEXT, KeptText
from pytest_fireloop.observe.record import RED, RecordError
from pytest_fireloop.observe.report_file import refuse_named_pipe

CHUNK = 1 << 16
#: Suites and other elements may lie so deep in each other; no runner comes near.
DEPTH = 200
#: What a case holds beside its results, often more than all the rest, and read by nobody here.
PASSED_OVER = frozenset({"system-out", "system-err", "stackTrace"})
SUITES = frozenset({"testsuite", "testsuites"})


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """What is known of a file when its end was read."""

    digest: str
    doubts: tuple[Doubt, ...]
    root: ReadSuite


def read_document(path: Path, take: Callable[[ReadCase], None]) -> ReadDocument:
    """Read one file and hand on each case; raises RecordError when it is missing, damaged or no JUnit report."""
    refuse_named_pipe(path)
    named = f"cannot read report {str(path)!r}"
    digest = hashlib.blake2b(digest_size=16)
    reader = _Reader(take)
    try:
        with path.open("rb") as file:
            chunk = file.read(CHUNK)
            parser, recode = parser_for(chunk[:400])
            reader.attend(parser)
            while chunk:
                digest.update(chunk)
                parser.Parse(recode(chunk, final=False) if recode else chunk, False)
                chunk = file.read(CHUNK)
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


class _Reader:
    """Follows the parser through one document."""

    def __init__(self, take: Callable[[ReadCase], None]) -> None:
        self._take = take
        self.doubts: list[Doubt] = []
        self.root: ReadSuite | None = None
        self._suite: ReadSuite | None = None
        self._names: list[str] = []
        self._case: Element | None = None
        self._case_depth = 0  # 0 for a case that the file has not: a suite's own failure
        self._result: Element | None = None
        self._result_depth = 0
        self._filled = False
        self._said = NOTHING
        self._text: KeptText | None = None
        self._property: str | None = None
        self._passed_over = 0
        self._unknown: set[tuple[ReadSuite, str]] = set()

    def attend(self, parser: Any) -> None:
        parser.buffer_text = True
        parser.buffer_size = CHUNK
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.StartDoctypeDeclHandler = _refuse

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = tag_of(name)
        if len(self._names) >= DEPTH:
            raise RecordError(f"elements lie deeper than {DEPTH} in each other")
        self._names.append(tag)
        if self._passed_over or tag in PASSED_OVER:
            self._passed_over += 1
            if tag in FINAL and self._suite is not None:
                self._amid_output(tag, attributes)
        elif self._suite is None:
            self._begin(tag, name, attributes)
        elif self._case is not None:
            self._inside_case(tag, name, attributes)
        elif tag in SUITES:
            self._suite = suite_of(attributes, self._suite)
        elif tag == "testcase":
            self._case_depth = len(self._names)
            self._said, attributes = read_attributes(attributes)
            self._case = Element("testcase", attributes)
        elif tag == "property":
            self._property = attributes.get("name") or None
            if self._property:
                self._suite.properties.setdefault(self._property, attributes.get("value", "")[:1000])
                self._text = None if attributes.get("value") else KeptText()
        elif tag in FINAL or tag == "errors" or (tag != "properties" and said_by(attributes).outcome in RED):
            # a suite that could not run says so in the place of its tests
            self._case, self._case_depth = Element("testcase", {"name": self._suite.name or "suite"}), 0
            self._inside_case(tag, name, attributes)

    def _begin(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        if tag not in SUITES:
            raise RecordError(f"it is no JUnit report: its root is <{name[:40]}>, not <testsuites> or <testsuite>")
        if tag == "testsuites":
            self.root = self._suite = suite_of(attributes, None)
        else:
            self.root = ReadSuite(attributes.get("name", "").strip()[:400])
            self._suite = suite_of(attributes, self.root)

    def _inside_case(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        assert self._case is not None
        around = self._result.tag if self._result is not None else ""
        self._filled = True
        if around in SETTLED or (around == "skipped" and not (tag in FINAL and is_known(name))):
            return
        if tag not in RESULTS and tag != "property" and said_by(attributes).outcome in RED:
            self._case.append(Element("error", {"type": name[:100]}))
        if tag in RESULTS or (not around and tag not in {"properties", "property"}):
            self._result = Element(tag, {key: value[:TEXT] for key, value in attributes.items()})
            if tag == "skipped" and len(self._names) > self._case_depth + 1:
                # an expected failure of something inside excuses nothing beside it
                self._result.attrib.pop("type", None)
            self._case.append(self._result)
            self._result_depth, self._text, self._filled = len(self._names), KeptText(), False

    def _amid_output(self, tag: str, attributes: dict[str, str]) -> None:
        """Take a failure in the midst of output for one: runners write output as text."""
        assert self._suite is not None
        if self._result is not None and self._result.tag in SETTLED:
            return
        if self._case is not None:
            self._case.append(Element(tag, attributes))
            return
        self._case = Element("testcase", {"name": self._suite.name or "suite"})
        self._case.append(Element(tag, attributes))
        self._finish(claimed=False)

    def _data(self, data: str) -> None:
        if self._text is not None and not self._passed_over:
            self._text.add(data)

    def _end(self, name: str) -> None:
        depth = len(self._names)
        tag = self._names.pop()
        if self._passed_over:
            self._passed_over -= 1
        elif self._result is not None and depth == self._result_depth:
            self._end_result(self._result, name)
            if not self._case_depth:
                self._finish(claimed=False)
        elif self._case is not None:
            if depth == self._case_depth:
                self._finish(claimed=True)
        elif self._suite is None:
            return
        elif tag == "property" and self._property is not None:
            if self._text is not None:
                self._suite.properties[self._property] = self._text.whole().strip()[:1000]
            self._property, self._text = None, None
        elif tag in SUITES:
            self.doubts += self._suite.close()
            self._suite = self._suite.parent or self._suite

    def _end_result(self, result: Element, name: str) -> None:
        """Take in the text; names that only we read as a result may say by it that there is none."""
        assert self._case is not None
        result.text = self._text.whole() if self._text is not None else ""
        self._result = self._text = None
        if is_known(name):
            return
        told = {"type": name[:100]}
        if result.tag not in RESULTS:
            outcome = None if self._filled else spoken(name, result.text)
            if outcome in RED or outcome == "skipped":
                self._case.append(Element("error" if outcome in RED else outcome, told))
            return
        said = plain(result.text[:100]) or plain(result.get("value", "")[:100])
        if said in NO or (result.tag == "errors" and not said and not self._filled):
            self._case.remove(result)
        else:
            result.tag = "error" if result.tag == "errors" else result.tag
            result.attrib.setdefault("type", told["type"])

    def _finish(self, *, claimed: bool) -> None:
        """Hand a case on, with its results as junitparser knows them; most cases have none."""
        case, self._case = self._case, None
        assert case is not None
        assert self._suite is not None
        said, self._said = self._said, NOTHING
        results: list[Any] = []
        red = int(said.outcome in RED)
        if not claimed and not len(case):
            return
        if len(case):
            from junitparser import xunit2

            results = list(xunit2.TestCase.fromelem(case))  # type: ignore[no-untyped-call]
            red = max(red, sum(each.tag in FINAL for each in case))
        self._suite.held += claimed
        self._suite.red += red
        if said.unknown and not any(each.tag in RESULTS for each in case):
            self._doubt(said.unknown, case.get("name", ""))
        self._take(ReadCase(self._suite, case.attrib, results, said))

    def _doubt(self, word: str, name: str) -> None:
        """Note a word that nobody knows, once for all cases of a suite that say it."""
        assert self._suite is not None
        if (self._suite, word) not in self._unknown:
            self._unknown.add((self._suite, word))
            reason = f"test {name[:200]!r} says {word}, a word that is not known"
            self.doubts.append(Doubt("word", reason, self._suite))


def _refuse(*_: object) -> None:
    raise RecordError("a DOCTYPE is refused")
