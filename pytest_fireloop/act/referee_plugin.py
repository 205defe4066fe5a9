"""Connects the referee to pytest's session."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fireloop.act.referee import Judged, Referee
from pytest_fireloop.inside.guard import Guarded, guarded
from pytest_fireloop.judge.verdict import EXIT_CODES

if TYPE_CHECKING:
    from pytest_fireloop.inside.recorder import Recorder

#: Set by `fireloop-test` for its agent: a run that the agent starts by itself is no iteration.
INSIDE_LOOP = "FIRELOOP_LOOP"


class RefereePlugin(Guarded):
    """Refuses a run while the circuit is open, judges it afterwards, and prints a short section."""

    def __init__(self, config: pytest.Config, recorder: Recorder) -> None:
        self.config, self._recorder = config, recorder
        self.judged: Judged | None = None
        self.problem: str | None = None
        self._referee: Referee | None = None
        self._forced = False
        recorder.listener = self.finished

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        refusal = self._refusal()
        if refusal is not None:
            self._recorder.listener = None
            pytest.exit(refusal, returncode=EXIT_CODES["circuit_open"])

    @guarded
    def _refusal(self) -> str | None:
        """Open the referee; return why the tests may not run, or None."""
        from pytest_fireloop.act.checkpoints import CheckpointError
        from pytest_fireloop.inside.scope import environment_name
        from pytest_fireloop.remember.journal import JournalDamagedError, JournalError
        from pytest_fireloop.remember.paths import make_private, state_folder, unfit
        from pytest_fireloop.show.section import refusal_text

        if os.environ.get(INSIDE_LOOP):
            self.problem = "inside a loop of fireloop-test; this run is recorded by nobody and judged by nobody"
            return None
        option = self.config.option
        tree = self.config.rootpath
        folder = state_folder(tree, os.environ, option.fire_loop_dir)
        refused = unfit(tree, folder, os.environ)
        if refused is not None:
            self.problem = f"this run is not judged: {refused}"
            return None
        try:
            self._referee = Referee(
                tree,
                make_private(folder),
                profile=option.fire_loop_profile,
                forbid=option.fire_loop_test_edits == "forbid",
            )
            admission = self._referee.admission(environment_name())
        except JournalDamagedError as error:
            return None if option.fire_loop_force else str(error)
        except (OSError, JournalError, CheckpointError) as error:
            self.problem = f"this run is not judged: {error}"
            return None
        if admission is None or not admission.refused:
            return None
        self._forced = bool(option.fire_loop_force)
        return None if self._forced else refusal_text(admission)

    @guarded
    def finished(self, record: dict[str, Any], session: pytest.Session) -> None:
        """Judge the finished run, add what came of it to the record, and set the exit code."""
        if self._referee is None:
            return
        try:
            self.judged = self._referee.judge(record, forced=self._forced)
        finally:
            self._referee.close()
        record.update(self.judged.additions())
        if self.judged.exit_code != int(session.exitstatus):
            session.exitstatus = self.judged.exit_code

    @guarded
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        from pytest_fireloop.show.section import section_lines

        lines = section_lines(self.judged) if self.judged is not None else []
        if self.problem or self.fault:
            lines.append(self.problem or self.fault or "")
        if lines:
            terminalreporter.section("fire-loop")
        for line in lines:
            terminalreporter.write_line(line)
