"""A JUnit report as a run record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_fireloop.observe.junit_failure import failure_of, root_in
from pytest_fireloop.observe.record import RED, CollectionError, Failure, RecordError, RunRecord, TestResult

SIZE_LIMIT = 200_000_000
#: Element of a test case to outcome; the worst of a case's elements counts, absence is a pass.
OUTCOMES = {"Failure": "failed", "Error": "error", "Skipped": "skipped"}
RANK = ("passed", "xfailed", "skipped", "error", "failed")


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
    errors: dict[str, CollectionError] = {}
    failures: dict[str, Failure] = {}
    held = 0
    root = _root(cases)
    for suite, case in cases:
        held += 1
        nodeid = f"{case.classname}::{case.name}" if case.classname else str(case.name)
        result, said = _worst(case)
        failure = failure_of(suite, case, result, nodeid, root) if said in RED else None
        if said == "error" and not case.classname and failure is not None:
            errors[nodeid] = CollectionError(
                nodeid, failure.signature, failure.message, failure.cause, failure.exception
            )
            continue
        before = tests.get(nodeid)
        # the same case again is another attempt, whose result is the last word
        attempts = before.reruns + 1 if before else 0
        signature, cause = (failure.signature, failure.cause) if failure is not None else (None, None)
        tests[nodeid] = TestResult(nodeid, said, float(case.time or 0), signature, cause, attempts)
        failures.pop(nodeid, None)
        if failure is not None:
            failures[nodeid] = failure
    reason = f"the report claims {claimed} tests and holds {held}" if claimed > held else None
    return RunRecord(
        run_id=path.name,
        exit_code=1 if failures or errors else 0,
        environment=path.name.removesuffix(".xml").removeprefix("junit.") or path.name,
        complete=reason is None,
        incomplete_reason=reason,
        collected=max(claimed, held),
        tests=tuple(tests.values()),
        collection_errors=tuple(errors.values()),
        failures=_by_signature(failures.values()),
    )


def _root(cases: Iterable[tuple[Any, Any]]) -> str:
    """Return the folder of the tests, where any traceback names it."""
    texts = ((case, str(result.text or "")) for _, case in cases for result in case.result)
    return next(filter(None, (root_in(case, text) for case, text in texts)), "")


def _worst(case: Any) -> tuple[Any, str]:
    """Return the worst of a case's results with its outcome."""
    worst, found = "passed", None
    for result in case.result:
        said = OUTCOMES.get(type(result).__name__, "passed")
        if said == "skipped" and result.type == "pytest.xfail":
            said = "xfailed"
        if RANK.index(said) > RANK.index(worst):
            worst, found = said, result
    return found, worst


def _by_signature(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    """Put the failures of one signature together, with the first as their representative."""
    found: dict[str, list[Failure]] = {}
    for failure in failures:
        found.setdefault(failure.signature, []).append(failure)
    return tuple(
        replace(same[0], nodeids=tuple(sorted(node for each in same for node in each.nodeids)))
        for _, same in sorted(found.items())
    )
