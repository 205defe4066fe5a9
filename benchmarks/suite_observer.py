"""An observer that shares no code with the plugin: what every report of a pytest run said, as JSON.

Copied onto PYTHONPATH and loaded with `-p`, so it must not import anything but pytest and the standard library.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

#: Names the file to write.
VARIABLE = "SUITE_OBSERVED"


def said(report: pytest.TestReport) -> str:
    """Put a report into words: phase, outcome, and whether it speaks of an expected failure or of a subtest."""
    marks = [" xfail"] * hasattr(report, "wasxfail") + [" subtest"] * hasattr(report, "context")
    return f"{report.when} {report.outcome}{''.join(marks)}"


class Observer:
    """Lives where tests are reported: plain pytest, or the controller under xdist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.collected: set[str] = set()
        self.broken: set[str] = set()
        self.reports: dict[str, list[str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.collected.update(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.collected.update(ids)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.add(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.reports.setdefault(report.nodeid, []).append(said(report))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, Any, Any]:
        ended = False
        try:
            result = yield
            ended = True
            return result
        finally:
            # a plugin may fail at the end, as pytest's own cache does in a read-only tree where warnings are errors
            seen = {"ended": ended, "collected": sorted(self.collected), "broken": sorted(self.broken)}
            self.path.write_text(json.dumps({**seen, "reports": self.reports}), encoding="ascii")


def pytest_configure(config: pytest.Config) -> None:
    """Observe, except in xdist's workers, whose reports come to the controller."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Observer(Path(os.environ[VARIABLE])), "suite-observer")
