"""Runs tests as if nobody tested: what tells a product of pytest is out of its sight while a test function runs.

What the tests themselves have set up is left alone: only what pytest put there is taken away.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import sys
import threading
import types
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from .record_file import ATTRIBUTE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

#: Packages that are loaded because tests run.
RUNNERS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "xdist", "py", "fireloop_inside"})
VARIABLES = ("PYTEST_", "FIRELOOP_")
STREAMS = ("stdout", "stderr")
HOOKS = ((sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook"))


class Disguise:
    """Runs each test several times in one process; `said` holds what came of each time: nothing, or a signature."""

    def __init__(self, config: pytest.Config, path: str) -> None:
        with open(path, encoding="utf-8") as file:
            wanted = json.load(file)
        self.said: dict[str, list[str]] = {}
        self._times, self._tests = int(wanted["times"]), frozenset(wanted["tests"])
        #: Where tests run that are at home in the folder that pytest was started in; nothing leaves them there.
        self._elsewhere, self._home = wanted["folder"], os.getcwd()
        self._arguments = list(sys.argv)
        self._manager = config.pluginmanager

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool:
        """Run one test for each time; what has no way to begin anew runs once."""
        from _pytest.runner import runtestprotocol

        again = getattr(item, "_initrequest", None)
        where = {"nodeid": item.nodeid, "location": item.location}
        item.ihook.pytest_runtest_logstart(**where)
        for time in range(self._times if again is not None else 1):
            if time and again is not None:
                again()
            reports = runtestprotocol(item, log=not time, nextitem=nextitem)
            failed = next((each for each in reports if each.outcome != "passed"), None)
            self.said.setdefault(item.nodeid, []).append("" if failed is None else _signature(failed))
        item.ihook.pytest_runtest_logfinish(**where)
        return True

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, Any, Any]:
        """Hide what can be hidden, from the innermost place there is."""
        with self._hidden(item):
            return (yield)

    @contextmanager
    def _hidden(self, item: Any) -> Iterator[None]:
        loaded = sys.modules
        seen = {name: module for name, module in list(loaded.items()) if not self._tells(name)}
        seen["__main__"] = types.ModuleType("__main__")
        finders, arguments = sys.meta_path, sys.argv
        streams = {name: getattr(sys, name) for name in STREAMS} if not self._reads_output() else {}
        streams = {name: stream for name, stream in streams.items() if _is_of_runner(type(stream))}
        hooks = [(place, name, getattr(place, name)) for place, name in HOOKS if _is_of_runner(getattr(place, name))]
        handlers = logging.root.handlers
        dumping = faulthandler.is_enabled()
        told = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(VARIABLES)}
        leaves = self._elsewhere is not None and os.getcwd() == self._home
        try:
            # import statements go by a table of the interpreter's own, so that pytest still finds its parts
            sys.modules = seen
            sys.meta_path = [each for each in finders if not _is_of_runner(type(each))]
            if arguments == self._arguments:
                sys.argv = [""]
            for name in streams:
                setattr(sys, name, getattr(sys, f"__{name}__"))
            for place, name, _ in hooks:
                setattr(place, name, getattr(place, f"__{name}__"))
            if not _uses(item, "caplog"):
                logging.root.handlers = [each for each in handlers if not _is_of_runner(type(each))]
            faulthandler.disable()
            if leaves:
                os.chdir(self._elsewhere)
            yield
        finally:
            os.environ.update(told)
            if leaves:
                os.chdir(self._home)
            if sys.modules is seen:
                loaded.update({name: module for name, module in seen.items() if name not in loaded})
                sys.modules = loaded
            sys.meta_path = finders
            if sys.argv == [""]:
                sys.argv = arguments
            for name, stream in streams.items():
                setattr(sys, name, stream)
            for place, name, hook in hooks:
                setattr(place, name, hook)
            logging.root.handlers = handlers
            if dumping:
                with suppress(OSError, ValueError, AttributeError, RuntimeError):
                    faulthandler.enable(sys.__stderr__)  # type: ignore[arg-type]  # there may be none

    def _tells(self, name: str) -> bool:
        top = name.partition(".")[0]
        return top in RUNNERS or top.startswith(("pytest_", "_pytest")) or name in self._tests

    def _reads_output(self) -> bool:
        """Whether a fixture of pytest reads what the test prints."""
        capture = self._manager.getplugin("capturemanager")
        return getattr(capture, "_capture_fixture", None) is not None


def _is_of_runner(thing: Any) -> bool:
    thing = getattr(thing, "func", thing)
    return str(getattr(thing, "__module__", "")).partition(".")[0] in RUNNERS


def _uses(item: Any, fixture: str) -> bool:
    asked = getattr(getattr(item, "_request", None), "_fixture_defs", ())
    return fixture in getattr(item, "fixturenames", ()) or fixture in asked


def _signature(report: Any) -> str:
    with suppress(ValueError, KeyError, TypeError):
        return str(json.loads(getattr(report, ATTRIBUTE, ""))["signature"])
    return str(report.outcome)
