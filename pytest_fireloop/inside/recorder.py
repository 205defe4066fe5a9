"""Makes one run's reports into one run record."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from . import environment, outcome, scope
from .failure import ATTRIBUTE
from .guard import Guarded, guarded
from .record_file import SCHEMA, RecordFile
from .signature import FailureFacts, cause, signature

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


class _Test:
    """What the reports of one node id have said so far."""

    __slots__ = ("cause", "done", "duration", "outcome", "reruns", "signature")

    def __init__(self) -> None:
        self.outcome = ""
        self.duration = 0.0
        self.signature: str | None = None
        self.cause: str | None = None
        self.reruns = 0
        self.done = False


class Recorder(Guarded):
    """Lives in the process that reports: plain pytest, or the controller under xdist."""

    def __init__(self, config: pytest.Config, path: str | None) -> None:
        self.config = config
        self.path = path
        self.record: dict[str, Any] | None = None
        self.listener: Callable[[dict[str, Any], pytest.Session], None] | None = None
        self.narrowed = list(scope.narrowed_by(config))
        self._tests: dict[str, _Test] = {}
        self._collected: dict[str, None] = {}
        self._running: dict[str, None] = {}
        self._fresh: list[str] = []
        self._failures: dict[str, dict[str, Any]] = {}
        self._collection_errors: dict[str, dict[str, Any]] = {}
        self._problem: str | None = None
        self._interrupted: str | None = None
        self._file: RecordFile | None = None
        self._clock = time.perf_counter()
        self._header = {
            "schema": SCHEMA,
            "run_id": os.urandom(8).hex(),
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "duration_s": 0.0,
            "rootdir": str(config.rootpath),
            "python": platform.python_version(),
            "pytest": pytest.__version__,
            "environment": scope.environment_name(),
            "scope": scope.fingerprint(config),
            "partial": bool(self.narrowed),
        }

    # what pytest tells

    @pytest.hookimpl(tryfirst=True)
    @guarded
    def pytest_sessionstart(self) -> None:
        if self.path:
            self._file = RecordFile(self.path, self._header)

    @guarded
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._collected.update(dict.fromkeys(item.nodeid for item in session.items))

    @pytest.hookimpl(optionalhook=True)
    @guarded
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._collected.update(dict.fromkeys(map(str, ids)))

    @guarded
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            facts = self._facts_of(report, "collect")
            path = report.nodeid or str(self.config.rootpath)
            self._collection_errors.setdefault(
                path, {"path": path, "signature": facts["signature"], "message": facts["message"]}
            )

    @guarded
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running[nodeid] = None
        if self._file is not None:
            self._file.grow(self._take_fresh(), next(iter(self._running)), len(self._collected))

    @guarded
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        nodeid = report.nodeid
        test = self._tests.get(nodeid)
        if test is None:
            test = self._tests[nodeid] = _Test()
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # an outcome that pytest-rerunfailures adds
            test.reruns += 1
            test.outcome, test.signature, test.cause = "", None, None
            return
        test.duration += report.duration
        said = outcome.of_report(report)
        if said:
            if said in {"failed", "error"} and outcome.worse(test.outcome, said) != test.outcome:
                self._note_failure(nodeid, test, report)
            test.outcome = outcome.worse(test.outcome, said)
        if report.when in {"teardown", "???"} and not outcome.is_subtest(report):
            self._running.pop(nodeid, None)
            if not test.done:
                test.done = True
                self._fresh.append(nodeid)

    @guarded
    def pytest_internalerror(self, excrepr: Any) -> None:
        lines = str(excrepr).strip().splitlines()
        self._problem = self._problem or f"internal error of pytest: {lines[-1][:200] if lines else 'no text'}"

    @guarded
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._interrupted = f"{excinfo.typename}: {excinfo.value}"[:200]

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, Any, Any]:
        result = yield
        self._finish(session)
        return result

    # what becomes of it

    @guarded
    def _finish(self, session: pytest.Session) -> None:
        self.record = self._build(int(session.exitstatus))
        if self.listener is not None:
            self.listener(self.record, session)
        if self._file is not None:
            self._file.finish(self.record)

    def _build(self, exit_code: int) -> dict[str, Any]:
        tests = [(nodeid, test) for nodeid, test in self._tests.items() if test.outcome]
        counts = dict.fromkeys(("passed", "failed", "error", "skipped", "xfailed", "xpassed"), 0)
        for _, test in tests:
            counts[test.outcome] += 1
        reported = {nodeid for nodeid, _ in tests}
        not_run = [nodeid for nodeid in self._collected if nodeid not in reported]
        reason = self._incomplete_reason(exit_code, counts, not_run)
        record = {
            **self._header,
            "duration_s": round(time.perf_counter() - self._clock, 4),
            "exit_code": exit_code,
            "partial": bool(self.narrowed),
            "complete": reason is None,
            "incomplete_reason": reason,
            "collected": len(self._collected),
            "counts": counts,
            "in_flight": next(iter(self._running), None),
            "not_run": not_run,
            "tests": [_row(nodeid, test) for nodeid, test in tests],
            "collection_errors": list(self._collection_errors.values()),
            "failures": list(self._failures.values()),
        }
        outside = environment.value("FIRELOOP_OUTSIDE")
        if outside:
            record["modules_outside"] = modules_under(outside)
        return record

    def _incomplete_reason(self, exit_code: int, counts: dict[str, int], not_run: list[str]) -> str | None:
        red = counts["failed"] + counts["error"] + len(self._collection_errors)
        if self._problem:
            return self._problem
        if self._interrupted and exit_code != 2:
            return f"ended early: {self._interrupted}"
        if self._collection_errors:
            return f"{len(self._collection_errors)} files could not be collected"
        if not_run:
            return f"{len(not_run)} of {len(self._collected)} collected tests have no result, the first is {not_run[0]}"
        if exit_code == 0 and red:
            return f"exit code 0 with {red} red tests"
        if exit_code == 2:
            return f"interrupted: {self._interrupted or 'exit code 2'}"
        if exit_code in {3, 4}:
            return f"exit code {exit_code}"
        return None

    def _note_failure(self, nodeid: str, test: _Test, report: pytest.TestReport) -> None:
        facts = self._facts_of(report, report.when or "")
        test.signature, test.cause = facts["signature"], facts["cause"]
        group = self._failures.get(facts["signature"])
        if group is None:
            self._failures[facts["signature"]] = {"nodeids": [nodeid], **facts}
        elif nodeid not in group["nodeids"]:
            group["nodeids"].append(nodeid)

    def _facts_of(self, report: Any, phase: str) -> dict[str, Any]:
        carried = getattr(report, ATTRIBUTE, None)
        if isinstance(carried, str):
            facts: dict[str, Any] = json.loads(carried)
            return facts
        from .failure import known_facts, longrepr_text

        text = longrepr_text(report)
        bare = FailureFacts(phase, "", text, known=known_facts(str(self.config.rootpath)))
        return {
            "signature": signature(bare),
            "cause": cause(bare),
            "exception": "",
            "message": text[:4000],
            "location": report.nodeid.split("::")[0],
            "statement": "",
            "frames": [],
        }

    def _take_fresh(self) -> list[dict[str, Any]]:
        rows = [_row(nodeid, self._tests[nodeid]) for nodeid in self._fresh]
        self._fresh.clear()
        return rows


def _row(nodeid: str, test: _Test) -> dict[str, Any]:
    return {
        "nodeid": nodeid,
        "outcome": test.outcome or "passed",
        "duration_s": round(test.duration, 6),
        "signature": test.signature,
        "cause": test.cause,
        "reruns": test.reruns,
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
