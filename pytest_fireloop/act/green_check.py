"""Whether a green run is believed: the verification, and the calibration that it waits for."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from pytest_fireloop.act.progress import Progress
from pytest_fireloop.act.settings import LoopSettings
from pytest_fireloop.act.test_run import TestCommand, TestRun, absolute, run_tests
from pytest_fireloop.act.verification import Verification
from pytest_fireloop.act.verify import Verifier
from pytest_fireloop.act.watched_tree import WatchedTree
from pytest_fireloop.observe.record import GREEN, RunRecord
from pytest_fireloop.show.display import Display


class GreenCheck:
    """Made anew for each loop; until it is prepared nothing is verified."""

    def __init__(
        self, settings: LoopSettings, command: TestCommand, tree: WatchedTree, folder: Path, display: Display
    ) -> None:
        self.found: Verification | None = None
        self.green_in_place = False
        self._settings, self._command, self._tree, self._display = settings, command, tree, display
        self._folder = folder
        self._threads = ThreadPoolExecutor(1)
        self._stopping = threading.Event()
        self._calibration: Future[None] | None = None
        self._verifier: Verifier | None = None

    def prepare(self, commit: str, baseline: RunRecord, generated: Collection[str] = ()) -> None:
        """Take the tests of the start from its checkpoint and its run, which wrote the files in `generated`."""
        self._verifier = Verifier(
            checkpoints=self._tree.checkpoints,
            baseline_commit=commit,
            baseline_record=baseline,
            command=self._command,
            work=self._folder / "verify",
            test_edits=self._settings.test_edits,
            allow_globs=self._settings.allow_test_edits,
            generated=generated,
            stop=self._stopping.is_set,
        )

    def calibrate(self) -> None:
        """Run the unchanged baseline in the room while the agent works for the first time."""
        if self._calibration is None and self._verifier is not None:
            self._calibration = self._threads.submit(self._verifier.calibrate)

    def believed(self, run: TestRun, progress: Progress, *, told: bool) -> tuple[RunRecord, Verification | None]:
        """Verify a green run; what is judged is the room's record when it speaks against the green.

        A test that passed at the start, failed, and passes again is known to be flaky from then on, where the rest is
        verified. With `told` a rejection is shown.
        """
        if self._verifier is None:
            self.green_in_place = run.record.sound_but(progress.flaky)
            return run.record, None
        record = self._verifier.discounted(run.record)
        turned = self._passing_again(self._verifier.turned(record, progress.flaky), progress.baseline)
        self.green_in_place = self._verifier.is_candidate(record, progress.flaky | turned)
        if not self.green_in_place:
            self.found = self._verifier.examine(self._tree.commit, record)
            return record, self.found
        if self._calibration is not None:
            self._calibration.result()
        else:
            self._verifier.calibrate()
        self._display.line("tests are green in place; verifying with the tests of the start")
        with self._display.working("the tests of the start run in the room"):
            found = self._verifier.verify(self._tree.commit, progress.flaky, record, turned)
        self.found = found
        if found.green:
            progress.flaky |= turned
            return record, found
        if told:
            self._display.always(f"green rejected: {found.reason}")
        judged = found.record if found.record is not None else progress.record
        return replace(judged, complete=False, incomplete_reason=found.reason), found

    def _passing_again(self, red: Sequence[str], baseline: RunRecord) -> frozenset[str]:
        """Run red tests that passed at the start once more; return those that pass on the very same tree."""
        if not red:
            return frozenset()
        select = absolute(self._settings.tree, red, baseline.outcomes)
        again = run_tests(self._command, work=self._folder, select=select).record.outcomes
        found = frozenset(node for node in red if again.get(node) in GREEN)
        for node in sorted(found):
            self._display.line(f"{node} passed at the start, failed, and passes when it is run again")
        return found

    def why_rejected(self) -> str:
        """Return why a green run was not believed."""
        return self.found.reason if self.found is not None else "the run is incomplete"

    def end(self) -> None:
        """Stop what still runs."""
        self._stopping.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
