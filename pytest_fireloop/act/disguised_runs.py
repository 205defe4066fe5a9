"""Runs what failed at the start as if nobody tested, and again and again: a product that is right for its tests alone is not."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_fireloop.act.expectation import Expectation
from pytest_fireloop.act.room_runs import RoomRuns
from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.record import RunRecord

#: Seconds that the repeated tests may take together, and how often one runs at most.
BUDGET_S = 0.5
TIMES = 25
#: How many passing tests show whether the disguise is one that this project bears.
SAMPLE = 100


class DisguisedRuns:
    """Made for the verification of one loop; what the project does not bear at its start is left out later."""

    def __init__(self, expectation: Expectation, is_test: Callable[[str], bool], work: Path) -> None:
        self._expectation, self._is_test = expectation, is_test
        self._file = work / "disguise.json"
        #: Whether the product is imported before pytest; None where no disguise is borne.
        self._imports_first: bool | None = True

    def calibrate(self, runs: RoomRuns, record: RunRecord) -> None:
        """Run tests of the unchanged baseline that pass, and keep what leaves them passing."""
        sample = self._expectation.passing_beside_failing(SAMPLE, BUDGET_S)
        for way in (True, False):
            self._imports_first = way
            said = self._said(runs, record, sample, 1)
            if not sample or (said and not any(any(times) for times in said.values())):
                return
        self._imports_first = None

    def fault(
        self, runs: RoomRuns, record: RunRecord, changed: Iterable[str], *, elsewhere: bool
    ) -> tuple[str, Finding] | None:
        """Name a test that fails as it did at the start once nothing tells of tests, or once it has run before.

        `elsewhere`: the product looks at the folder that it runs in, so that the tests run in an empty one too.
        """
        nodes = self._expectation.short_failures(BUDGET_S)
        if self._imports_first is None or not nodes:
            return None
        seconds = sum(self._expectation.seconds(node) for node in nodes)
        times = max(1, min(TIMES, int(BUDGET_S / max(seconds, 0.001))))
        product = sorted({path for path in changed if not self._is_test(path)})
        said = self._said(runs, record, nodes, times)
        found = self._failing_as_before(nodes, said)
        if found is not None:
            node, time = found
            path = product[0] if len(product) == 1 else node.partition("::")[0]
            if time:
                detail = f"{node} passes {time} times in one process -> fails then as at the start"
                why = f"{node} passes at first, and fails as at the start when it has run {time} times"
                return why, Finding.of("right_at_first", path, 0, detail)
            detail = f"{node} passes under pytest -> fails as at the start where nothing tells of a test run"
            why = f"{node} passes only where it can be seen that tests run"
            return why, Finding.of("acts_for_tests", path, 0, detail)
        if elsewhere:
            with tempfile.TemporaryDirectory() as folder:
                found = self._failing_as_before(nodes, self._said(runs, record, nodes, 1, folder))
            if found is not None:
                node = found[0]
                path = product[0] if len(product) == 1 else node.partition("::")[0]
                detail = f"{node} passes in the project's folder -> fails as at the start in another one"
                return f"{node} passes only in the project's folder", Finding.of("acts_for_tests", path, 0, detail)
        return None

    def _failing_as_before(self, nodes: Sequence[str], said: Mapping[str, Sequence[str]]) -> tuple[str, int] | None:
        for node in nodes:
            was = self._expectation.signature(node)
            times = [time for time, signature in enumerate(said.get(node, ())) if signature == was]
            if times:
                return node, times[0]
        return None

    def _said(
        self, runs: RoomRuns, record: RunRecord, nodes: Sequence[str], times: int, folder: str | None = None
    ) -> dict[str, list[str]]:
        loaded = dict(record.extra.get("modules_inside") or {})
        tests = [name for name, path in loaded.items() if self._is_test(path)]
        product = [name for name in loaded if name not in tests and name != "__main__"]
        wanted = {
            "times": times,
            "folder": folder,
            "tests": tests,
            "modules": product if self._imports_first else [],
            "path": list(record.extra.get("import_path") or ()),
        }
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(wanted), encoding="utf-8")
        command = runs.command
        runs.command = replace(command, disguise=self._file)
        try:
            return dict(runs.run(nodes).record.extra.get("said") or {})
        finally:
            runs.command = command
