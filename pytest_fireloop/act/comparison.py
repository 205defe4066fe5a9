"""Compares a candidate's files and run with those of the start, as far as no run in a room is needed for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.test_edits import EditPolicy
from pytest_fireloop.observe.integrity.compare import NOTHING, compare
from pytest_fireloop.observe.integrity.configuration import decides_runs
from pytest_fireloop.observe.integrity.doctests import compare_doctests
from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.foundation import compare_foundation
from pytest_fireloop.observe.integrity.product import oracles_of
from pytest_fireloop.observe.integrity.runs import left_out
from pytest_fireloop.observe.matrix_record import plain
from pytest_fireloop.observe.record import GREEN, RunRecord
from pytest_fireloop.observe.test_files import doctest_modules, is_configuration


class Comparison:
    """Holds the start: its checkpoint, the blob ids of its files, its run."""

    def __init__(
        self,
        checkpoints: Checkpoints,
        commit: str,
        baseline: RunRecord,
        policy: EditPolicy,
        installed: Collection[str],
    ) -> None:
        self._checkpoints, self._commit, self._baseline, self._policy = checkpoints, commit, baseline, policy
        self._blobs: Mapping[str, str] = checkpoints.files(commit)
        self._installed = installed
        self._test_paths: list[str] | None = None

    def changed(self, candidate: str, since: str | None = None) -> list[str]:
        """Name the files that differ from the start, or from another checkpoint."""
        return self._checkpoints.changed(since or self._commit, candidate)

    def findings(self, candidate: str, in_place: RunRecord, room: Path | None) -> tuple[Finding, ...]:
        """Compare all that the user did not open; `room` holds the tests of the start, where it is laid."""
        in_place = plain(in_place)
        paths = [path for path in self.changed(candidate) if not self._policy.is_opened(path)]
        now = self._checkpoints.files(candidate)
        before = self._checkpoints.read_all(self._commit, paths)
        after = self._checkpoints.read_all(candidate, paths)
        found = compare(
            before,
            after,
            is_test=self._policy.is_test,
            is_configuration=is_configuration,
            passed=[node for node, said in in_place.outcomes.items() if said in GREEN],
            tests=self._tests_of_start(room) if room is not None else NOTHING,
            installed=self._installed,
            held=self._blobs,
        )
        found += tuple(self._doctests(before, after))
        found += left_out(
            {node: said for node, said in self._baseline.outcomes.items() if self._policy.keeps(node.split("::")[0])},
            in_place.outcomes,
            {path: after[path] for path in after if path.endswith(".py") and self._policy.is_test(path)},
            found,
            untouched=lambda path: path in now and path not in paths,
        )
        return (*found, *self._policy.forbidden(paths, self._blobs, found))

    def replaced(self, at_start: RunRecord, now: RunRecord, room: Path) -> Iterable[Finding]:
        """Find what the product replaced in the modules that tests stand on, by the room's first run and by this one."""
        oracles = frozenset[str]().union(*map(oracles_of, self._tests_of_start(room).values()))
        before, after = at_start.extra.get("foundation"), now.extra.get("foundation")
        if not before or not after:
            return ()
        return compare_foundation(before, after, is_test=self._policy.is_test, oracles=oracles)

    def unverifiable(self, candidate: str) -> list[Finding]:
        """Name the edits of tests and configuration that only a room could tell from gaming."""
        now = self._checkpoints.files(candidate)
        edited = [path for path, oid in self._blobs.items() if self._policy.keeps(path) and now.get(path) != oid]
        added = [
            path for path in now.keys() - self._blobs.keys() if is_configuration(path) and self._policy.keeps(path)
        ]
        detail = "as it was at the start -> edited, and there is no room to check it in"
        told = [path for path in edited if path not in now or self._decides(candidate, path)]
        return [Finding.of("edit_unverifiable", path, 0, detail) for path in told + sorted(added)]

    def _decides(self, candidate: str, path: str) -> bool:
        """Whether an edit may change what the tests come to: of tests each does."""
        if not is_configuration(path) or path.endswith((".py", ".pth")):
            return True
        return decides_runs(path, *(self._checkpoints.read(commit, path) for commit in (self._commit, candidate)))

    def hint(self, candidate: str) -> str:
        """Name the way out for the case that a test or conftest is itself the bug."""
        edited = [path for path in self.changed(candidate) if path in self._blobs and self._policy.keeps(path)]
        if not edited:
            return ""
        more = f" and {len(edited) - 1} more" if len(edited) > 1 else ""
        return f" (edits to {edited[0]}{more} do not count; if they are right: --allow-test-edits {edited[0]!r})"

    def written_between(self, candidate: str, now: str) -> str | None:
        """Name a file of a candidate, or a source beside it, that somebody wrote since."""
        changed = self._checkpoints.changed(candidate, now)
        held = self._checkpoints.files(candidate)
        return next((path for path in changed if path in held or path.endswith(".py")), None)

    def _doctests(self, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Iterable[Finding]:
        """Compare the examples in the documentation of modules that pytest collects for them."""
        for path in doctest_modules(self._baseline.outcomes) & before.keys() & after.keys():
            failing = {node.partition("::")[2] for node in self._baseline.red if node.startswith(f"{path}::")}
            yield from compare_doctests(path, before[path], after[path], failing)

    def _tests_of_start(self, room: Path) -> dict[str, bytes]:
        if self._test_paths is None:
            self._test_paths = [path for path in self._blobs if path.endswith(".py") and self._policy.keeps(path)]
        files = {path: room / path for path in self._test_paths}
        return {path: file.read_bytes() for path, file in files.items() if file.is_file()}
