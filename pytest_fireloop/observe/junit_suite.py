"""A suite of a JUnit report: what it claims, and what of that it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pytest_fireloop.observe.junit_words import NO, WORDS, YES, plain, said_by

WHOLE = re.compile(r"\s{0,9}\+?([0-9]{1,15})(?:\.0{1,6})?\s{0,9}")
TEST_COUNTS = frozenset({"tests", "total", "testcases", "testcount", "numtests", "totaltests", "numberoftests"})
RED_COUNTS = frozenset(
    (
        "failures", "errors", "failed", "fail", "failure", "error", "errored", "crashed", "crashes", "crash", "timeouts",
        "timedout", "aborted", "aborts", "broken", "interrupted", "killed", "panicked", "unsuccessful",
    )
)  # fmt: skip
#: Other names of these counts: `failedTests`, `num-failures`, `error_count`.
AROUND = re.compile(
    rf"(?:numberof|num|total|tests?)*({'|'.join(sorted(RED_COUNTS, key=len, reverse=True))})(?:count|cases|tests?|total)*"
)
#: What only Catch2 or doctest write: the number of tests is one of assertions.
OF_ASSERTIONS = (("hostname", "tbd"), ("doctest_version", None))
#: Properties by which a runner says what all came to.
PROPERTIES = ("SuiteSucceeded",)


@dataclass(eq=False, slots=True)
class ReadSuite:
    """A suite as far as it is read; `top` is the outermost one that it lies in, `inner` the names below that one.

    Cases beside all suites have the root. With `assertions` its number of tests is one of those.
    """

    name: str
    hostname: str = ""
    timestamp: str = ""
    parent: ReadSuite | None = None
    claimed: dict[str, int] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    held: int = 0
    red: int = 0
    assertions: bool = False
    top: ReadSuite = field(init=False)
    inner: tuple[str, ...] = field(init=False)
    doubts: list[Doubt] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Know the outermost suite, and the names below it, once for all of the cases."""
        around = self.parent
        below = around is not None and around.parent is not None
        self.top = around.top if around is not None and below else self
        self.inner = (*around.inner, self.name) if around is not None and below else ()

    def close(self) -> Iterator[Doubt]:
        """Hold what the suite claims against what was read, and add that to the suite around it."""
        yield from (doubt for doubt in self.doubts if doubt.about != "failures" or not self.red)
        whose = f"suite {self.name!r}" if self.parent is not None and self.name else "the report"
        for name, red in self._claims_of_failures():
            if red > self.red:
                yield Doubt("failures", f"{whose} claims {red} {name} and holds {self.red}", self)
        for name in PROPERTIES:
            if plain(self.properties.get(name, "")) in NO and not self.red:
                yield Doubt("failures", f"{whose} says {name} is false and holds no failure", self)
        tests = self.claimed.get("tests", 0)
        if self.assertions and self.held:
            self.claimed["tests"] = self.held
        elif tests > self.held:
            yield Doubt("tests", f"{whose} claims {tests} tests and holds {self.held}", self)
        if self.parent is not None:
            self.parent.held += self.held
            self.parent.red += self.red
            self.parent.assertions |= self.assertions

    def _claims_of_failures(self) -> Iterator[tuple[str, int]]:
        """Tell failures with errors, then other words that may count the same tests once more."""
        claims = {name: number for name, number in self.claimed.items() if name in RED_COUNTS}
        yield "failures and errors", claims.pop("failures", 0) + claims.pop("errors", 0)
        yield from claims.items()


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a report cannot be taken at its word; `about` is failures, tests, word, or number where a count is none."""

    about: str
    reason: str
    suite: ReadSuite


def suite_of(attributes: Mapping[str, str], parent: ReadSuite | None) -> ReadSuite:
    """Return a suite with what its attributes claim."""
    low = {key.rpartition(":")[2].lower(): text for key, text in attributes.items()}
    name, host, timestamp = (low.get(key, "").strip()[:400] for key in ("name", "hostname", "timestamp"))
    suite = ReadSuite(name, host, timestamp, parent) if parent is not None else ReadSuite(name)
    suite.assertions = any(key in low and text in {None, low[key]} for key, text in OF_ASSERTIONS)
    words: dict[str, str] = {}
    for key, text in attributes.items():
        count = plain(key.rpartition(":")[2])
        around = AROUND.fullmatch(count)
        count = around[1] if around is not None else count
        if around is None and count not in TEST_COUNTS:
            # numbers of those that passed, failed or were left out are no words
            if count in WORDS or not WHOLE.fullmatch(text):
                words[key] = text
        elif text.strip():
            _count(suite, count, text)
    whose = f"suite {name!r}" if parent is not None and name else "the report"
    said = said_by(words)
    if said.outcome in {"failed", "error"}:
        told = next(
            f"{key} {text[:40]!r}" for key, text in words.items() if said_by({key: text}).outcome == said.outcome
        )
        suite.doubts.append(Doubt("failures", f"{whose} says {told}", suite))
    elif said.unknown:
        suite.doubts.append(Doubt("word", f"{whose} says {said.unknown}, a word that is not known", suite))
    return suite


def _count(suite: ReadSuite, name: str, text: str) -> None:
    found = WHOLE.fullmatch(text)
    if found is None and name in RED_COUNTS and plain(text) in YES | NO:
        number = int(plain(text) in YES)
    elif found is not None:
        number = int(found[1])
    else:
        suite.doubts.append(Doubt("number", f"the report's number of {name} is {text[:40]!r}", suite))
        return
    name = "tests" if name in TEST_COUNTS else name
    suite.claimed[name] = max(number, suite.claimed.get(name, 0))
