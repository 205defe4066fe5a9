"""Makes one run's reports into one run record."""

from __future__ import annotations

import os
import platform
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from . import environment, scope
from .completeness import Ending, reason
from .failures import Failures
from .guard import Guarded, guarded
from .record_file import SCHEMA, RecordFile
from .signature_version import version
from .tally import Tally

if TYPE_CHECKING:
    from collections.abc import Generator

    from .noise import Noise
    from .referee_plugin import RefereePlugin


#: Characters of rows that wait for the next test's start; under xdist many tests may end before one begins.
ROWS_LIMIT = 4_000


class Recorder(Guarded):
    """Lives in the process that reports: plain pytest, or the controller under xdist.

    What a test said is written when it ends, and forgotten; memory holds the tests that run and the failures.
    """

    def __init__(
        self, config: pytest.Config, noise: Noise, path: str | None, referee: RefereePlugin | None = None
    ) -> None:
        self.config, self.path, self.referee = config, path, referee
        self.tail: dict[str, Any] | None = None
        #: What each time said that a test was run, where tests are run more than once.
        self.said: dict[str, list[str]] | None = None
        self._narrowed = scope.narrowed_by(config)
        dist = getattr(config.option, "dist", "no")
        self._each, self._grouped = dist == "each", dist == "loadgroup"
        self._signature_version = version(noise.masks)
        self._tally = Tally(Failures(str(config.rootpath), noise), each=self._each)
        self._expected = self._tally.expected
        self._problem: str | None = None
        self._interrupted: str | None = None
        self._end_code: int | None = None
        self._finished: dict[str, Any] | None = None
        self._workers: dict[str, Any] = {}
        self._file: RecordFile | None = None
        self._clock = time.perf_counter
        self._started = self._clock()

    def disable(self, error: BaseException) -> None:
        """Switch off, have no say in the exit code any more, and leave no record that says less than was seen."""
        super().disable(error)
        if self.referee is not None:
            self.referee.let_be()
        with suppress(OSError):
            if self._file is not None:
                self._file.remove()
            elif self.path and os.path.isfile(self.path):
                os.unlink(self.path)  # begun before this one could be

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
            self._tally.failures.add_collection_error(report)

    # the next two run for each test, and hold their guard themselves: a wrapper costs as much as what they do

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self.fault is not None:
            return
        try:
            self._tally.start(self._name(nodeid) if self._grouped else nodeid)
            self._write(self._tally.in_flight)  # with the row of the test before: one write a test
        except Exception as error:  # noqa: BLE001 - as in `guarded`
            self.disable(error)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.fault is not None:
            return
        try:
            self._tally.take(self._name(report.nodeid) if self._grouped else report.nodeid, report)
            if report.when == "teardown" and (self._expected.all_settled or self._tally.rows_waiting > ROWS_LIMIT):
                self._write(self._tally.in_flight)
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
        tally = self._tally
        in_flight = tally.end(interrupted=self._interrupted is not None)
        self._write(in_flight)
        self.tail = {
            "duration_s": round(self._clock() - self._started, 4),
            "collected": len(self._expected),
            "counts": tally.counts,
            "in_flight": in_flight,
            "not_run": self._expected.missing(),
            **tally.failures.to_json(),
            **self._coverage(),
        }
        outside = environment.value("FIRELOOP_OUTSIDE")
        if outside:
            self._tell_the_runner(outside)
        exit_code = int(session.exitstatus)
        self._finish(exit_code)
        if self.referee is not None and self._file is not None:
            added = self.referee.judge(self._file.path, exit_code, self.incomplete_reason(exit_code))
            self.tail.update(added)

    def _tell_the_runner(self, outside: str) -> None:
        """Add what shows whether a room is what it seems: where code came from, and whether pytest is still itself."""
        from .foundation import foundation

        assert self.tail is not None
        tree = os.path.join(os.path.realpath(environment.value("FIRELOOP_FRESH") or ""), "")
        self.tail["modules_outside"] = sorted(modules_under(outside))
        self.tail["modules_inside"] = modules_under(tree)
        self.tail["import_path"] = list(sys.path)
        self.tail["foundation"] = foundation(tree)
        if self.said is not None:
            self.tail["said"] = self.said

    @guarded
    def _settle(self, session: pytest.Session) -> None:
        """Take the exit code that other plugins left, and give it back as the referee will have it."""
        if self.tail is None:
            return
        exit_code = int(session.exitstatus) if self._end_code is None else self._end_code
        if self._file is not None and not self.path:
            self._file.remove()
        else:
            self._finish(exit_code)
        if self.referee is not None:
            self.referee.settle(session, exit_code, self.incomplete_reason(exit_code))

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
            end = {"exit_code": exit_code, "complete": why is None, "incomplete_reason": why, **self.tail}
            if end != self._finished:
                self._file.finish(end)
                self._finished = end

    def incomplete_reason(self, exit_code: int) -> str | None:
        """Return why the run is incomplete, given its exit code."""
        assert self.tail is not None
        not_run = self.tail["not_run"]
        uncollected = len(self.tail["collection_errors"])
        red = self._tally.counts["failed"] + self._tally.counts["error"] + uncollected
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

    def _write(self, in_flight: str | None) -> None:
        if self._file is not None:
            tally = self._tally
            self._file.grow(
                tally.take_rows(), in_flight, len(self._expected), tally.counts_as_json(), tally.failures.text
            )

    def _coverage(self) -> dict[str, Any]:
        if "coverage" not in sys.modules:
            return {}
        from .coverage_total import read

        return read(self.config)

    def _name(self, nodeid: str) -> str:
        """Return the id without the group that xdist adds to it."""
        if nodeid.rfind("@") > max(nodeid.rfind("]"), nodeid.rfind("::")):
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
            "signature_version": self._signature_version,
        }


def modules_under(folder: str) -> dict[str, str]:
    """Return the loaded modules whose file lies under a folder, with its path there; those of an environment in it apart."""
    prefix = os.path.join(os.path.realpath(folder), "")
    environment = os.path.join(os.path.realpath(sys.prefix), "")
    found = {}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        real = os.path.realpath(path) if isinstance(path, str) else ""
        if real.startswith(prefix) and (environment == prefix or not real.startswith(environment)):
            found[name] = real[len(prefix) :]
    return found
