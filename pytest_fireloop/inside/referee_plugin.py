"""Connects the referee to pytest's session; the referee itself works in a process of its own."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

import pytest

from . import junit_properties
from .guard import Guarded, guarded
from .last_word import FALSE_GREEN, INSIDE_LOOP, LastWord
from .referee_call import RefereeCall

CIRCUIT_OPEN = 10
#: Destinations of options that name a report: ours, pytest's own, and those of well-known plugins.
REPORTS = ("fire_loop_record", "xmlpath", "htmlpath", "report_log", "json_report_file", "ctrf")


class RefereePlugin(Guarded):
    """Refuses a run while the circuit is open, has it judged afterwards, and prints a short section."""

    def __init__(self, config: pytest.Config, last_word: LastWord) -> None:
        self._last_word = last_word
        self._getpid, self._pid = os.getpid, os.getpid()
        self.config = config
        self.record_path: str | None = None
        self._lines: list[str] = []
        self._headline: str | None = None
        self._told = False
        self._tripped = self._forbidden = self._forced = False
        self._exit_code: int | None = None
        self._call: RefereeCall | None = None
        if os.environ.get(INSIDE_LOOP):
            self._lines.append("inside a loop of fireloop-test; this run is recorded by nobody and judged by nobody")
            last_word.let_be()
            return
        last_word.stand_guard()
        # without a file of settings, pytest's root is what the paths on its command line have in common
        started_in = str(config.invocation_params.dir) if config.inipath is None else ""
        self._call = RefereeCall(config.option, str(config.rootpath), _outputs(config), started_in)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        refusal, usage = self._admission() or (None, None)
        if refusal or usage:
            self._call = None
            self._last_word.let_be()
            self._remove_record()
        if usage:
            raise pytest.UsageError(usage)
        if refusal:
            pytest.exit(refusal, returncode=CIRCUIT_OPEN)

    @guarded
    def _admission(self) -> Any:
        """Ask before the tests; return what the circuit has against them, and what is wrong with the options."""
        if self._call is None:
            return None
        reply = self._call.ask("admit")
        if reply.get("problem"):
            self._headline = f"this run is not judged: {reply['problem']}"
            self._lines.append(self._headline)
            self._call = None
            self._last_word.let_be()
        elif not reply.get("refusal") and not reply.get("usage"):
            self.record_path, self._forced = reply.get("record"), bool(reply.get("forced"))
            self._lines += reply.get("lines", ())
        return reply.get("refusal"), reply.get("usage")

    def disable(self, error: BaseException) -> None:
        """Switch off, and have no say in the exit code any more."""
        super().disable(error)
        self.let_be()

    def let_be(self) -> None:
        """Leave the exit code as it is."""
        self._last_word.let_be()

    def _remove_record(self) -> None:
        """Leave no record of a run that there was not."""
        path = self.config.option.fire_loop_record
        if path:
            with suppress(OSError):
                os.unlink(path)

    def judge(self, record: str, exit_code: int, incomplete: str | None) -> dict[str, Any]:
        """Have the finished record judged; return what that adds to it."""
        if self._call is None or self._getpid() != self._pid:
            return {}  # a child of the tested process that runs on to the end speaks for nobody
        reply = self._call.ask("judge", record=record, forced=self._forced)
        if reply.get("problem"):
            self._lines.append(f"this run is not judged: {reply['problem']}")
        self._lines += reply.get("lines", ())
        self._headline = self._lines[-1] if reply.get("problem") else reply.get("headline")
        self._tripped, self._forbidden = bool(reply.get("tripped")), bool(reply.get("forbidden"))
        self._turn(exit_code, incomplete)
        added: dict[str, Any] = reply.get("additions", {})
        junit_properties.add(self.config, {**reply.get("properties", {}), **added})
        return added

    def settle(self, session: pytest.Session, exit_code: int, incomplete: str | None) -> None:
        """Turn the exit code of a run that tripped or cannot be believed."""
        if self._call is None:
            return
        self._turn(exit_code, incomplete)
        if self._exit_code is not None:
            session.exitstatus = self._exit_code
        self._last_word.known(exit_code if self._exit_code is None else self._exit_code)
        if self._headline and not self._told:
            self._say(self._headline)

    def _turn(self, exit_code: int, incomplete: str | None) -> None:
        if exit_code == 0 and (incomplete or self._forbidden):
            why = incomplete or "tests or configuration were changed"
            line = f"exit code {FALSE_GREEN}: this green cannot be believed: {why}"
            if self._exit_code is None:
                self._lines.append(line)
                self._headline, self._told = line, False
            self._exit_code = FALSE_GREEN
        elif exit_code == 1 and self._tripped:
            self._exit_code = CIRCUIT_OPEN

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._section(terminalreporter)

    @guarded
    def _section(self, terminalreporter: pytest.TerminalReporter) -> None:
        lines, self._lines = self._lines, []
        if self.fault:
            lines.append(self.fault)
        if lines:
            terminalreporter.section("fire-loop")
            self._told = True
        for line in lines:
            terminalreporter.write_line(line)

    @staticmethod
    def _say(line: str) -> None:
        if sys.__stderr__ is not None:
            sys.__stderr__.write(f"fire-loop: {line}\n".encode("ascii", "backslashreplace").decode("ascii"))
            sys.__stderr__.flush()


def _outputs(config: pytest.Config) -> list[str]:
    """Return the files that this run itself writes, which no agent has changed."""
    base = str(config.invocation_params.dir)
    given = [getattr(config.option, name, None) for name in REPORTS]
    return [os.path.realpath(os.path.join(base, str(path))) for path in given if path]
