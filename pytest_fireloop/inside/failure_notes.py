"""Puts what is known of a failure on its report, in the process where the exception still lives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .guard import Guarded

if TYPE_CHECKING:
    from collections.abc import Generator

    from .noise import Noise


class FailureNotes(Guarded):
    """Registered everywhere, in xdist's workers too."""

    def __init__(self, config: pytest.Config, noise: Noise) -> None:
        self._root, self._noise = str(config.rootpath), noise

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        report = yield
        if report.failed:
            self._note(report, call.excinfo)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, Any, Any]:
        report = yield
        if report.failed:
            call = getattr(report, "call", None)
            self._note(report, getattr(call, "excinfo", None))
        return report

    def _note(self, report: Any, excinfo: Any) -> None:
        try:
            # imported at the first failure: most runs of a good suite need none of it
            from .failure import ATTRIBUTE, describe

            setattr(report, ATTRIBUTE, describe(report, excinfo, self._root, self._noise))
        except Exception:  # noqa: BLE001 - tested code may have replaced what we call; the text is left to tell by
            return
