"""One test's outcome: the worst of all its reports."""

from __future__ import annotations

from typing import Any

OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
RED = frozenset({"failed", "error"})
#: Later is worse; a failing call outranks the teardown error that often follows from it.
RANK = {"": 0, "passed": 1, "xpassed": 2, "xfailed": 3, "skipped": 4, "error": 5, "failed": 6}

#: (phase, report outcome, carries wasxfail) to outcome; what is absent says nothing about the test.
TABLE = {
    ("setup", "failed", False): "error",
    ("setup", "failed", True): "error",
    ("setup", "skipped", False): "skipped",
    ("setup", "skipped", True): "xfailed",
    ("call", "passed", False): "passed",
    ("call", "passed", True): "xpassed",
    ("call", "failed", False): "failed",
    ("call", "failed", True): "failed",
    ("call", "skipped", False): "skipped",
    ("call", "skipped", True): "xfailed",
    ("teardown", "failed", False): "error",
    ("teardown", "failed", True): "error",
    ("???", "failed", False): "failed",
    ("???", "skipped", True): "xfailed",
}


def of_report(report: Any) -> str:
    """Return what one report says about its test, or an empty string for nothing."""
    if is_subtest(report):
        return "failed" if report.outcome == "failed" else ""
    return TABLE.get((report.when, report.outcome, hasattr(report, "wasxfail")), "")


def is_subtest(report: Any) -> bool:
    """Whether the report is of a subtest, which shares its parent's node id."""
    return type(report).__name__ in {"SubtestReport", "SubTestReport"}


def worse(first: str, second: str) -> str:
    """Return the worse of two outcomes."""
    return first if RANK[first] >= RANK[second] else second
