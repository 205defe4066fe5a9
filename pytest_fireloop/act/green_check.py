"""Whether a green run is believed: the verification, and the calibration that it waits for."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from pytest_fireloop.act.settings import LoopSettings
from pytest_fireloop.act.test_run import TestCommand, TestRun
from pytest_fireloop.act.verify import Verification, Verifier
from pytest_fireloop.act.watched_tree import WatchedTree
from pytest_fireloop.observe.record import RunRecord
from pytest_fireloop.show.display import Display


class GreenCheck:
    """Made anew for each loop; until it is prepared nothing is verified."""

    def __init__(self, settings: LoopSettings, command: TestCommand, tree: WatchedTree, display: Display) -> None:
        self.found: Verification | None = None
        self.green_in_place = False
        self._settings, self._command, self._tree, self._display = settings, command, tree, display
        self._threads = ThreadPoolExecutor(1)
        self._stopping = threading.Event()
        self._calibration: Future[None] | None = None
        self._verifier: Verifier | None = None

    def prepare(self, commit: str, baseline: RunRecord, work: Path) -> None:
        """Take the tests of the start from its checkpoint and its run."""
        self._verifier = Verifier(
            checkpoints=self._tree.checkpoints,
            baseline_commit=commit,
            baseline_record=baseline,
            command=self._command,
            work=work,
            test_edits=self._settings.test_edits,
            allow_globs=self._settings.allow_test_edits,
            stop=self._stopping.is_set,
        )

    def calibrate(self) -> None:
        """Run the unchanged baseline in the room while the agent works for the first time."""
        if self._calibration is None and self._verifier is not None:
            self._calibration = self._threads.submit(self._verifier.calibrate)

    def believed(
        self, run: TestRun, flaky: frozenset[str], before: RunRecord, *, told: bool
    ) -> tuple[RunRecord, Verification | None]:
        """Verify a green run; what is judged is the room's record when it speaks against the green.

        `before` stands in where there is none, and with `told` a rejection is shown.
        """
        self.green_in_place = run.record.sound_but(flaky)
        if not self.green_in_place or self._verifier is None:
            return run.record, None
        if self._calibration is not None:
            self._calibration.result()
        else:
            self._verifier.calibrate()
        self._display.line("tests are green in place; verifying with the tests of the start")
        with self._display.working("the tests of the start run in the room"):
            found = self._verifier.verify(self._tree.commit, flaky, run.record)
        self.found = found
        if found.green:
            return run.record, found
        if told:
            self._display.always(f"green rejected: {found.reason}")
        judged = found.record if found.record is not None else before
        return replace(judged, complete=False, incomplete_reason=found.reason), found

    def why_rejected(self) -> str:
        """Return why a green run was not believed."""
        return self.found.reason if self.found is not None else "the run is incomplete"

    def end(self) -> None:
        """Stop what still runs."""
        self._stopping.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
