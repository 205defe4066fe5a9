"""One test case of a JUnit report: its id, and what its results come to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from pytest_fireloop.observe.junit_suite import ReadSuite
from pytest_fireloop.observe.junit_words import NOTHING, RANK, Said

NAME_LIMIT = 1_000
#: Element of a case to outcome; the worst of a case's elements counts, absence is a pass.
OUTCOMES = {
    "Failure": "failed",
    "Error": "error",
    "Skipped": "skipped",
    # beside a failure these are its other attempts; alone they are no pass
    "RerunFailure": "failed",
    "RerunError": "error",
}
#: Attempts that failed before one passed.
FLAKY = frozenset({"FlakyFailure", "FlakyError"})
RERUNS = frozenset({"RerunFailure", "RerunError"})
#: Results of several attempts at one test: what ran says more than what did not.
ATTEMPTS = ("skipped", "xfailed", "passed", "error", "failed")
#: Results that mend no failure before them.
NOT_RUN = frozenset({"skipped", "xfailed"})
#: A skip of these types expects its failure.
EXPECTED = frozenset({"pytest.xfail", "todo"})
#: CTest says in the words of a skip whether a test skipped itself; else it could not be started.
ASKED_TO_SKIP = "SKIP_"


@dataclass(eq=False, slots=True)
class ReadCase:
    """One test case with its results, as junitparser tells them apart, and what its attributes say."""

    suite: ReadSuite
    attributes: dict[str, str]
    results: list[Any]
    said: Said = NOTHING
    name: str = field(init=False)
    classname: str = field(init=False)

    def __post_init__(self) -> None:
        """Take the blanks off the names, with which some runners begin them."""
        self.name = self.attributes.get("name", "").strip()
        self.classname = self.attributes.get("classname", "").strip()


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What one case came to; `result` is the element that says so, where there is one."""

    nodeid: str
    outcome: str
    duration_s: float
    result: Any | None = None
    flaky: int = 0


def result_of(case: ReadCase) -> CaseResult:
    """Return the worst of a case's results."""
    said, found = case.said.outcome, None
    if not case.results:
        return CaseResult(_nodeid(case), said, _seconds(case.attributes.get("time", "")))
    kinds = [type(result).__name__ for result in case.results]
    expected = any(
        kind == "Skipped" and result.type in EXPECTED for kind, result in zip(kinds, case.results, strict=True)
    )
    for kind, result in zip(kinds, case.results, strict=True):
        outcome = OUTCOMES.get(kind, "passed")
        if expected and outcome in {"skipped", "failed", "error"}:
            outcome = "xfailed"
        if outcome == "skipped" and case.attributes.get("status") == "notrun":
            outcome = "skipped" if not result.message or result.message.startswith(ASKED_TO_SKIP) else "error"
        if RANK.index(outcome) > RANK.index(said) or (found is None and outcome == said != "passed"):
            said, found = outcome, result
    if expected and said != "passed":
        said = "xfailed"
    attempts = sum(kind in FLAKY or kind in RERUNS for kind in kinds)
    return CaseResult(_nodeid(case), said, _seconds(case.attributes.get("time", "")), found, attempts)


def _nodeid(case: ReadCase) -> str:
    """Return class and name, with the nested suites that the class does not name by itself."""
    name = case.name or f"unnamed {case.suite.held}"
    own = f"{case.classname}::{name}" if case.classname else name
    if not case.suite.inner:
        return own[:NAME_LIMIT]
    told = f"{own} {case.attributes.get('class', '')}::{name}"
    spoken = [each for each in case.suite.inner if each and each not in told]
    return " > ".join((*spoken, own))[:NAME_LIMIT]


def _seconds(text: str) -> float:
    try:
        number = float(text.replace(",", "") or 0)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) and number > 0 else 0.0
