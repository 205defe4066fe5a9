"""A JUnit report as a run record."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from pytest_fireloop.inside.signature import FailureFacts, cause, signature
from pytest_fireloop.observe.record import CollectionError, RecordError, RunRecord, TestResult

SIZE_LIMIT = 200_000_000
#: Element of a test case to outcome; the worst of a case's elements counts, absence is a pass.
OUTCOMES = {"Failure": "failed", "Error": "error", "Skipped": "skipped"}
RANK = ("passed", "xfailed", "skipped", "error", "failed")
MESSAGE_LIMIT = 4_000


def read_junit(path: Path) -> RunRecord:
    """Read one report; raises RecordError when it is missing, damaged, too large or holds a DOCTYPE.

    A report that claims more tests than it holds gives an incomplete record.
    """
    try:
        if path.stat().st_size > SIZE_LIMIT:
            raise RecordError(f"cannot read report {str(path)!r}: it is larger than {SIZE_LIMIT} bytes")
        content = path.read_bytes()
    except OSError as error:
        raise RecordError(f"cannot read report {str(path)!r}: {error.strerror or error}") from error
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise RecordError(f"cannot read report {str(path)!r}: a DOCTYPE is refused")
    import junitparser

    try:
        report = junitparser.JUnitXml.fromstring(content)
        suites: list[Any] = list(report)
        cases = [(suite, case) for suite in suites for case in suite]
        claimed = sum(int(suite.tests or 0) for suite in suites)
    except Exception as error:  # two libraries below raise what they like
        text = " ".join(str(error).split())[:200]
        raise RecordError(f"cannot read report {str(path)!r}: {type(error).__name__}: {text}") from error
    return _record(path, cases, claimed)


def _record(path: Path, cases: list[tuple[Any, Any]], claimed: int) -> RunRecord:
    tests: dict[str, TestResult] = {}
    errors: list[CollectionError] = []
    seen: Counter[str] = Counter()
    for _, case in cases:
        nodeid = f"{case.classname}::{case.name}" if case.classname else str(case.name)
        seen[nodeid] += 1
        said, text = _outcome(case)
        facts = FailureFacts("call", "", text)
        red = said in {"failed", "error"}
        mark = signature(facts) if red else None
        if said == "error" and not case.classname:
            errors.append(CollectionError(nodeid, mark or "", text))
            continue
        before = tests.get(nodeid)
        # the same case again is another attempt, whose result is the last word
        tests[nodeid] = TestResult(
            nodeid, said, float(case.time or 0), mark, cause(facts) if red else None, before.reruns + 1 if before else 0
        )
    held = sum(seen.values())
    reason = f"the report claims {claimed} tests and holds {held}" if claimed > held else None
    failing = sum(test.outcome in {"failed", "error"} for test in tests.values()) + len(errors)
    return RunRecord(
        run_id=path.name,
        exit_code=1 if failing else 0,
        environment=path.name.removesuffix(".xml").removeprefix("junit.") or path.name,
        complete=reason is None,
        incomplete_reason=reason,
        collected=max(claimed, held),
        tests=tuple(tests.values()),
        collection_errors=tuple(errors),
    )


def _outcome(case: Any) -> tuple[str, str]:
    """Return the worst of a case's results with its text."""
    worst, text = "passed", ""
    for result in case.result:
        said = OUTCOMES.get(type(result).__name__, "passed")
        if said == "skipped" and result.type == "pytest.xfail":
            said = "xfailed"
        if RANK.index(said) > RANK.index(worst):
            worst, text = said, str(result.text or result.message or "")[:MESSAGE_LIMIT]
    return worst, text
