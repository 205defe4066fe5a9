"""Runs the tests of one tree again and again, each time in a fork of a warm process.

Run by path in the project's interpreter, `python server.py SETUP.json`: one JSON request a line comes on standard
input, one JSON answer a line leaves on standard output, and what a run showed goes to the request's `events` file.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import threading
import time
from typing import Any

MEMORY_BYTES = 4 << 30
FILE_BYTES = 1 << 30
QUIET = ("-q", "--tb=no", "--show-capture=no", "--continue-on-collection-errors")
# Options that would end a run early or make it depend on the run before.
WHOLE = {"maxfail": 0, "lf": False, "failedfirst": False, "newfirst": False, "stepwise": False}


# The coverage package lent to this interpreter, out of the project's sight until a run is traced.
LENT: dict[str, Any] = {}


def borrow_coverage(folder: str) -> None:
    """Import the coverage package of a folder and hide it again; raises what the import raises."""
    if not LENT:
        before = set(sys.modules)
        sys.path.insert(0, folder)
        try:
            importlib.import_module("coverage")
            with contextlib.suppress(ImportError):
                importlib.import_module("coverage.tracer")
        finally:
            sys.path.remove(folder)
            names = [name for name in sys.modules if name.partition(".")[0] == "coverage" and name not in before]
            hidden = {name: sys.modules.pop(name) for name in names}
        LENT.update(hidden)


class CoverageTrace:
    """Lines by test, collected by the borrowed coverage package."""

    def __init__(self, tree: str) -> None:
        sys.modules.update(LENT)
        import coverage

        os.environ["COVERAGE_CORE"] = "ctrace" if "coverage.tracer" in LENT else "pytrace"
        self._coverage = coverage.Coverage(data_file=None, config_file=False, include=[os.path.join(tree, "*")])
        self._coverage.start()

    def switch(self, context: str) -> None:
        """Attribute the lines that follow to a test; to none with an empty name."""
        self._coverage.switch_context(context)

    def stop(self) -> dict[str, Any]:
        """Return the contexts of each line of each file."""
        self._coverage.stop()
        data = self._coverage.get_data()
        return {path: data.contexts_by_lineno(path) for path in data.measured_files()}


class PlainTrace:
    """Lines by test, collected by a trace function: slower, but at home in every interpreter."""

    def __init__(self, tree: str) -> None:
        self._tree = os.path.join(tree, "")
        self._files: dict[str, dict[int, set[str]]] = {}
        self._context = ""
        threading.settrace(self._call)
        sys.settrace(self._call)

    def _call(self, frame: Any, _event: str, _argument: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(self._tree) else None

    def _line(self, frame: Any, event: str, _argument: Any) -> Any:
        if event == "line":
            lines = self._files.setdefault(frame.f_code.co_filename, {})
            lines.setdefault(frame.f_lineno, set()).add(self._context)
        return self._line

    def switch(self, context: str) -> None:
        """Attribute the lines that follow to a test; to none with an empty name."""
        self._context = context

    def stop(self) -> dict[str, Any]:
        """Return the contexts of each line of each file."""
        sys.settrace(None)
        threading.settrace(None)
        return {path: {n: sorted(found) for n, found in lines.items()} for path, lines in self._files.items()}


def start_trace(tree: str, lent: str) -> CoverageTrace | PlainTrace:
    """Return the best trace that this interpreter can have."""
    try:
        borrow_coverage(lent)
        return CoverageTrace(tree)
    except Exception as error:  # the lent package may need a newer Python
        sys.stderr.write(f"coverage cannot be lent: {error!r}\n")
        return PlainTrace(tree)


class Observer:
    """A pytest plugin that writes what happens to the events file, one JSON array a line."""

    def __init__(self, events: Any, tree: str, trace: CoverageTrace | PlainTrace | None, brief: bool) -> None:
        self._events = events
        self._tree = tree
        self._trace = trace
        self._brief = brief

    def emit(self, *event: Any) -> None:
        """Write one event."""
        self._events.write(json.dumps(event) + "\n")
        self._events.flush()

    def pytest_cmdline_main(self, config: Any) -> None:
        """Make the run a whole one, and tell what it was asked for."""
        for name, value in WHOLE.items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)
        self.emit("positional", list(getattr(config.option, "file_or_dir", None) or []))
        self.emit("plugins", [name for name in ("xdist", "_cov", "randomly") if config.pluginmanager.hasplugin(name)])

    def pytest_collection_finish(self, session: Any) -> None:
        """Tell which tests are examples in docstrings."""
        self.emit("doctests", [item.nodeid for item in session.items if type(item).__name__ == "DoctestItem"])

    def pytest_collectreport(self, report: Any) -> None:
        """Tell of a file that cannot be collected."""
        if report.failed:
            self.emit("collect", report.nodeid)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Begin a test's lines."""
        if self._trace is not None:
            self._trace.switch(nodeid)

    def pytest_runtest_logfinish(self) -> None:
        """End a test's lines."""
        if self._trace is not None:
            self._trace.switch("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Tell how one phase of a test ended."""
        if report.outcome in ("passed", "failed", "skipped"):
            self.emit("phase", report.nodeid, report.when, report.outcome, hasattr(report, "wasxfail"), report.duration)

    def pytest_exception_interact(self, node: Any, call: Any) -> None:
        """Tell the lines that an exception passed by, those of its causes included."""
        error: BaseException | None = call.excinfo.value
        frames: list[tuple[str, int]] = []
        while error is not None and len(frames) < 200:
            place = error.__traceback__
            while place is not None:
                path = place.tb_frame.f_code.co_filename
                if path.startswith(self._tree):
                    frames.append((path, place.tb_lineno))
                place = place.tb_next
            error = error.__cause__ or error.__context__
        self.emit("frames", node.nodeid, frames)

    def pytest_sessionfinish(self, session: Any, exitstatus: int) -> None:
        """Tell the rest, and leave at once from a fork: it has nothing to tidy up, and summaries can be slow."""
        if self._trace is not None:
            marked = getattr(session.config.pluginmanager.rewrite_hook, "_must_rewrite", ())
            self.emit("lines", self._trace.stop())
            self.emit("modules", foreign_modules(self._tree, {name.partition(".")[0] for name in marked}))
        self.emit("end", int(exitstatus))
        if self._brief:
            os._exit(0)


def foreign_modules(tree: str, rewritten: set[str]) -> list[str]:
    """Return the names of loaded modules that are no part of the tree and that pytest does not rewrite."""
    names = []
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        origin = str(getattr(spec, "origin", None) or tree)
        hooked = type(getattr(spec, "loader", None)).__name__ == "AssertionRewritingHook"
        left_out = hooked or name.partition(".")[0] in rewritten or name.startswith(("coverage", "__"))
        if not left_out and not origin.startswith(tree):
            names.append(name)
    return names


def run(request: dict[str, Any], setup: dict[str, Any]) -> None:
    """Run pytest in this process and write the events of the run."""
    import pytest

    tree = setup["tree"]
    os.chdir(tree)
    sys.path.insert(0, tree)
    os.environ.update(setup["environment"])
    sys.dont_write_bytecode = not request["warm"]
    with open(request["events"], "w", encoding="utf-8") as events:
        trace = start_trace(tree, setup["lent"]) if request["trace"] else None
        arguments = [*request["args"], *QUIET]
        sys.argv = ["pytest", *arguments]
        pytest.main(arguments, plugins=[Observer(events, tree, trace, setup["fork"])])


def limit_resources() -> None:
    """Keep an edit that runs wild from filling the memory or the disk."""
    import resource

    with open("/proc/self/statm", encoding="ascii") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    for kind, amount in ((resource.RLIMIT_AS, used + MEMORY_BYTES), (resource.RLIMIT_FSIZE, FILE_BYTES)):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (amount if hard == resource.RLIM_INFINITY else min(amount, hard), hard))


def run_in_fork(request: dict[str, Any], setup: dict[str, Any]) -> bool:
    """Run pytest in a fork with a process group of its own; return whether its time ran out."""
    child = os.fork()
    if not child:
        try:
            os.setsid()
            if sys.platform == "linux":
                limit_resources()
            run(request, setup)
        except BaseException as error:  # the fork must never fall back into the server's loop
            sys.stderr.write(f"run failed: {error!r}\n")
        finally:
            os._exit(0)
    deadline = time.monotonic() + request["limit"]
    pause = 0.001
    ended = False
    while not ended and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(pause * 1.5, 0.01)
        ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return not ended


def preload(names: list[str], lent: str) -> None:
    """Import modules once, for all forks; one that does not load is left to them."""
    with contextlib.suppress(Exception):  # a run that is traced will say why
        borrow_coverage(lent)
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException as error:  # a module may even exit
            sys.stderr.write(f"not preloaded: {name}: {error!r}\n")
    gc.collect()
    gc.freeze()


def mapped(path: str, origin: str, tree: str) -> str:
    """Return the path with the original tree replaced by its copy, if that has it."""
    real = os.path.realpath(path)
    copy = tree + real[len(origin) :]
    inside = real == origin or real.startswith(origin + os.sep)
    return copy if inside and os.path.exists(copy) else path


def map_imports(origin: str, tree: str) -> None:
    """Point path entries and the finders of editable installs at the copy."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [mapped(entry, origin, tree) for entry in sys.path if os.path.abspath(entry or ".") != here]
    for finder in sys.meta_path:
        module = sys.modules.get(getattr(finder, "__module__", ""))
        for table in (getattr(module, "MAPPING", None), getattr(finder, "known_source_files", None)):
            if isinstance(table, dict):
                table.update(
                    {name: mapped(path, origin, tree) for name, path in table.items() if isinstance(path, str)}
                )
    sys.path_importer_cache.clear()


def main() -> None:
    """Serve requests until standard input ends."""
    with open(sys.argv[1], encoding="utf-8") as file:
        setup = json.load(file)
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for descriptor, target in ((0, os.devnull), (1, setup["log"]), (2, setup["log"])):
        opened = os.open(target, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    map_imports(setup["origin"], setup["tree"])
    for line in requests:
        request = json.loads(line)
        timed_out = False
        if "preload" in request:
            preload(request["preload"], setup["lent"])
        elif setup["fork"]:
            timed_out = run_in_fork(request, setup)
        else:
            run(request, setup)
        answers.write(json.dumps({"timed_out": timed_out}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
