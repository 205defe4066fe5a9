"""Makes one run's reports into one run record."""

from __future__ import annotations

import os
import platform
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from . import environment, outcome, scope
from .completeness import Ending, reason
from .expected import Expected, numbered
from .failures import Failures
from .guard import Guarded, guarded
from .known_facts import known_facts
from .record_file import SCHEMA, RecordFile
from .running_test import RunningTest

if TYPE_CHECKING:
    from collections.abc import Generator

    from .referee_plugin import RefereePlugin


#: Characters of rows that wait for the next test's start; under xdist many tests may end before one begins.
ROWS_LIMIT = 4_000


class Recorder(Guarded):
    """Lives in the process that reports: plain pytest, or the controller under xdist.

    What a test said is written when it ends, and forgotten; memory holds the tests that run and the failures.
    """

    def __init__(self, config: pytest.Config, path: str | None, referee: RefereePlugin | None = None) -> None:
        self.config, self.path, self.referee = config, path, referee
        self.tail: dict[str, Any] | None = None
        self._narrowed = scope.narrowed_by(config)
        self._expected = Expected()
        self._open: dict[str, RunningTest] = {}
        self._times: dict[str, int] = {}
        self._counts = dict.fromkeys(outcome.OUTCOMES, 0)
        self._failures = Failures(str(config.rootpath), known_facts(config))
        self._problem: str | None = None
        self._interrupted: str | None = None
        self._end_code: int | None = None
        self._workers: dict[str, Any] = {}
        self._each = getattr(config.option, "dist", "no") == "each"
        self._grouped = getattr(config.option, "dist", "no") == "loadgroup"
        self._file: RecordFile | None = None
        self._rows = ""
        self._clock, self._unlink = time.perf_counter, os.unlink
        self._started = self._clock()

    # what pytest tells

    @pytest.hookimpl(tryfirst=True)
    @guarded
    def pytest_sessionstart(self) -> None:
        path = self.path or (self.referee.record_path if self.referee is not None else None)
        if path:
            # where pytest was started, for a conftest may have gone elsewhere
            self._file = RecordFile(os.path.join(self.config.invocation_params.dir, path), self._header())

    @guarded
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._expected.expect([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    @guarded
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self._workers[node.gateway.id] = None
        if self._grouped:
            ids = list(map(self._name, ids))
        if not self._expected:
            self._expected.expect(ids)
        elif not self._each and not self._expected.same(ids):
            first = next(iter(self._workers))
            self._problem = self._problem or f"workers {first} and {node.gateway.id} collected different tests"

    @guarded
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        # xdist reports a worker with other tests as a file that cannot be collected
        if report.failed and report.nodeid not in self._workers:
            self._failures.add_collection_error(report)

    # the next two run for each test, and hold their guard themselves: a wrapper costs as much as what they do

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self.fault is not None:
            return
        try:
            nodeid = self._name(nodeid) if self._grouped else nodeid
            test = self._open.get(nodeid)
            if test is None:
                self._open[nodeid] = RunningTest()
            elif test.crashed:
                test.again()  # a plugin runs it once more in a new worker
            if self._file is not None:
                self._grow(self._file, self._in_flight())  # with the row of the test before: one write a test
        except Exception as error:  # noqa: BLE001 - as in `guarded`
            self.disable(error)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.fault is not None:
            return
        try:
            nodeid = self._name(report.nodeid) if self._grouped else report.nodeid
            test = self._open.get(nodeid)
            if test is None:
                test = self._open[nodeid] = RunningTest()
            if test.take(report):
                test.failure = self._failures.facts_of(report, report.when or "")
            # unless another attempt follows, or another worker's word on the same test
            if report.when == "teardown" and not (test.waits or self._each):
                del self._open[nodeid]
                self._close(nodeid, test)
        except Exception as error:  # noqa: BLE001 - as in `guarded`
            self.disable(error)

    @guarded
    def pytest_internalerror(self, excrepr: Any) -> None:
        lines = str(excrepr).strip().splitlines()
        self._problem = self._problem or f"internal error of pytest: {lines[-1][:200] if lines else 'no text'}"

    @guarded
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._interrupted = f"{excinfo.typename}: {excinfo.value}"[:200]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, Any, Any]:
        self._end(session)
        try:
            return (yield)
        except BaseException as error:
            self._broken(error)
            raise
        finally:
            self._settle(session)

    # what becomes of it

    @guarded
    def _end(self, session: pytest.Session) -> None:
        """Close the record before other plugins write their reports, and have it judged."""
        cut_off = [nodeid for nodeid, test in self._open.items() if not test.outcome or self._interrupted]
        in_flight = next((nodeid for nodeid in cut_off if not self._open[nodeid].crashed), None)
        for nodeid in list(self._open):
            self._close(nodeid, self._open.pop(nodeid))
        if self._file is not None:
            self._grow(self._file, in_flight)
        self.tail = {
            "duration_s": round(self._clock() - self._started, 4),
            "collected": len(self._expected),
            "counts": self._counts,
            "in_flight": in_flight,
            "not_run": self._expected.missing(),
            **self._failures.to_json(),
            **self._coverage(),
        }
        outside = environment.value("FIRELOOP_OUTSIDE")
        if outside:
            self.tail["modules_outside"] = modules_under(outside)
        exit_code = int(session.exitstatus)
        self._finish(exit_code)
        if self.referee is not None and self._file is not None:
            added = self.referee.judge(self._file.path, exit_code, self.incomplete_reason(exit_code))
            self.tail.update(added)

    @guarded
    def _settle(self, session: pytest.Session) -> None:
        """Take the exit code that other plugins left, and give it back as the referee will have it."""
        if self.tail is None:
            return
        exit_code = int(session.exitstatus) if self._end_code is None else self._end_code
        self._finish(exit_code)
        if self.referee is not None:
            self.referee.settle(session, exit_code, self.incomplete_reason(exit_code))
        if self._file is not None and not self.path:
            self._unlink(self._file.path)

    @guarded
    def _broken(self, error: BaseException) -> None:
        """Note that another plugin broke the end of the session: pytest leaves by the exception, and with its code."""
        if isinstance(error, pytest.exit.Exception):
            self._end_code = error.returncode
        else:
            self._end_code = 1
            self._problem = self._problem or f"the end of the session failed: {type(error).__name__}: {error}"[:300]

    def _finish(self, exit_code: int) -> None:
        assert self.tail is not None
        if self._file is not None:
            why = self.incomplete_reason(exit_code)
            self._file.finish({"exit_code": exit_code, "complete": why is None, "incomplete_reason": why, **self.tail})

    def incomplete_reason(self, exit_code: int) -> str | None:
        """Return why the run is incomplete, given its exit code."""
        assert self.tail is not None
        not_run = self.tail["not_run"]
        uncollected = len(self.tail["collection_errors"])
        red = self._counts["failed"] + self._counts["error"] + uncollected
        return reason(
            Ending(
                exit_code,
                red,
                len(self._expected),
                len(not_run),
                not_run[0] if not_run else "",
                uncollected,
                self._problem,
                self._interrupted,
            )
        )

    def _close(self, nodeid: str, test: RunningTest) -> None:
        if not test.outcome:
            return
        self._expected.settle(nodeid)
        if self._expected.repeated(nodeid):
            self._times[nodeid] = self._times.get(nodeid, 0) + 1
            nodeid = numbered(nodeid, self._times[nodeid])
        self._counts[test.outcome] += 1
        if test.failure is not None:
            self._failures.add(nodeid, test.failure)
        if self._file is None:
            return
        self._rows += "," * bool(self._rows) + test.row(nodeid)
        if self._expected.all_settled or len(self._rows) > ROWS_LIMIT:
            self._grow(self._file, self._in_flight())

    def _grow(self, file: RecordFile, in_flight: str | None) -> None:
        counts = self._counts
        said = ", ".join([f'"{name}": {counts[name]}' for name in counts])
        file.grow(self._rows, in_flight, len(self._expected), f"{{{said}}}", self._failures.text)
        self._rows = ""

    def _in_flight(self) -> str | None:
        return next((nodeid for nodeid, test in self._open.items() if not test.crashed), None)

    def _coverage(self) -> dict[str, Any]:
        if "coverage" not in sys.modules:
            return {}
        from .coverage_total import read

        return read(self.config)

    def _name(self, nodeid: str) -> str:
        """Return the id without the group that xdist adds to it."""
        if nodeid.rfind("@") > nodeid.rfind("]"):
            return nodeid[: nodeid.rfind("@")]
        return nodeid

    def _header(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "run_id": os.urandom(8).hex(),
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "rootdir": str(self.config.rootpath),
            "python": platform.python_version(),
            "pytest": pytest.__version__,
            "environment": scope.environment_name(),
            "scope": scope.fingerprint(self.config),
            "partial": bool(self._narrowed),
            "narrowed_by": list(self._narrowed),
        }


def modules_under(folder: str) -> list[str]:
    """Name the loaded modules whose file lies under a folder, those of an environment in it apart."""
    prefix = os.path.join(os.path.realpath(folder), "")
    environment = os.path.join(os.path.realpath(sys.prefix), "")
    found = []
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        real = os.path.realpath(path) if isinstance(path, str) else ""
        if real.startswith(prefix) and (environment == prefix or not real.startswith(environment)):
            found.append(name)
    return sorted(found)
