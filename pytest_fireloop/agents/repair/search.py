"""The search: tries edits by rank and keeps those that make tests pass."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from pytest_fireloop.agents.repair.edits import Edit, edits_of
from pytest_fireloop.agents.repair.observation import Observation, worse_than
from pytest_fireloop.agents.repair.source import Project, SourceFile, read_source
from pytest_fireloop.agents.repair.spectra import Suspect, rank
from pytest_fireloop.agents.repair.worker import Request, Worker

#: Edits are made at this many of the most suspicious lines at most.
_MOST_LINES = 600
#: The failing tests that an edit is tried against first.
_FIRST_TESTS = 6
#: After a partial success, this many more edits are tried for a better one.
_PATIENCE = 40
_LEAST_LIMIT_S = 2.0
_LIMIT_FACTOR = 5.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How the project's tests are run.

    Its options, the words that name what to run, how long a full run takes and how much of that no test takes, the
    cause of each known failure, and the tests that end now this way, now that.
    """

    options: tuple[str, ...]
    selection: tuple[str, ...]
    overhead_s: float
    full_s: float
    deadline: float
    causes: Mapping[str, str]
    unstable: frozenset[str]


@dataclass(frozen=True, slots=True)
class Trial:
    """One edit tried: which of the tests that it was tried against it made pass."""

    edit: Edit
    before: SourceFile
    after: SourceFile
    tests: tuple[str, ...]
    fixed: frozenset[str]

    @property
    def complete(self) -> bool:
        """Whether all of these tests pass."""
        return len(self.fixed) == len(self.tests)


@dataclass(frozen=True, slots=True)
class Repair:
    """An edit that was kept: the file before and after, and the tests that pass since."""

    edit: Edit
    before: SourceFile
    after: SourceFile
    fixed: frozenset[str]


class Search:
    """Works through the edits until no wanted test is left, no edit is left, or time is up."""

    def __init__(self, workers: Sequence[Worker], plan: Plan, seen: Observation, wanted: Collection[str]) -> None:
        self.seen = seen
        self.wanted = frozenset(wanted)
        self.tried = 0
        self.timed_out = 0
        self._plan = plan
        self._count = len(workers)
        self._workers = tuple(workers)
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in workers:
            self._idle.put(worker)
        self._done: set[tuple[str, ...]] = set()

    @property
    def failing(self) -> frozenset[str]:
        """Wanted tests that still fail."""
        return self.wanted & self.seen.red

    @property
    def out_of_time(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self._plan.deadline

    def run(self, project: Project, keep: Callable[[Repair], None]) -> Project:
        """Repair the project; `keep` is told of each edit that is kept, and may raise to end the search."""
        kept_since = False
        while self.failing and not self.out_of_time:
            repair = self._next(project)
            if repair is not None:
                project = Project({**project.files, repair.after.path: repair.after})
                for worker in self._workers:
                    worker.write(repair.after.path, repair.after.data)
                keep(repair)
                kept_since = True
            elif kept_since:
                self._done.clear()
                kept_since = False
            else:
                break
        return project

    def suspects(self, project: Project) -> list[Suspect]:
        """Return the lines to work on, the most suspicious first."""
        return rank(self.seen, self.failing, project.files)[:_MOST_LINES]

    def _next(self, project: Project) -> Repair | None:
        """Return the next edit worth keeping."""
        suspects = self.suspects(project)
        failing_at = {(suspect.path, suspect.line): suspect.failing for suspect in suspects}
        todo = iter(_all_edits(project, suspects))
        found: list[Trial] = []
        since = 0
        running: set[Future[Trial | None]] = set()
        exhausted = False
        with ThreadPoolExecutor(self._count) as executor:
            while True:
                enough = any(trial.complete for trial in found) or (bool(found) and since >= _PATIENCE)
                while not (enough or exhausted) and len(running) < self._count:
                    edit = next(todo, None)
                    exhausted = edit is None or self.out_of_time
                    if edit is not None and not exhausted:
                        tests = self._first_tests(failing_at[edit.path, edit.line])
                        running.add(executor.submit(self._try, edit, project.files[edit.path], tests))
                if running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for trial in (future.result() for future in done):
                        if trial is not None:
                            since += bool(found)
                            found += [trial] if trial.fixed else []
                elif found:
                    found.sort(key=_promise)
                    batch, found = found[: self._count], found[self._count :]
                    for verified in list(executor.map(self._verify, batch)):
                        if verified is not None:
                            repair, self.seen = verified
                            return repair
                elif exhausted:
                    return None

    def _first_tests(self, failing: Iterable[str]) -> tuple[str, ...]:
        """Choose the failing tests to try first: one a cause, then more of the same."""
        groups: dict[str, list[str]] = {}
        for nodeid in sorted(failing, key=lambda nodeid: (self.seen.durations.get(nodeid, 0.0), nodeid)):
            groups.setdefault(self._plan.causes.get(nodeid, ""), []).append(nodeid)
        rounds = [group[turn : turn + 1] for turn in range(_FIRST_TESTS) for group in groups.values()]
        return tuple(nodeid for found in rounds for nodeid in found)[:_FIRST_TESTS]

    def _limit(self, expected_s: float) -> float:
        return max(_LEAST_LIMIT_S, _LIMIT_FACTOR * expected_s)

    def _try(self, edit: Edit, source: SourceFile, tests: tuple[str, ...]) -> Trial | None:
        """Try an edit against some failing tests; None where it was tried before or is no Python."""
        key = _key(edit, source.text)
        changed = None if key in self._done else read_source(source.path, _encoded(edit, source))
        self._done.add(key)
        if changed is None:
            return None
        expected = self._plan.overhead_s + sum(self.seen.durations.get(nodeid, 0.0) for nodeid in tests)
        request = Request((*self._plan.options, *tests), self._limit(expected))
        after = self._with(source, changed, request)
        self.tried += 1
        self.timed_out += after.timed_out
        return Trial(edit, source, changed, tests, _fixed(tests, after))

    def _verify(self, trial: Trial) -> tuple[Repair, Observation] | None:
        """Run the whole suite with an edit: nothing may get worse, and something must get better."""
        request = Request((*self._plan.options, *self._plan.selection), self._limit(self._plan.full_s), trace=True)
        after = self._with(trial.before, trial.after, request)
        fixed = _fixed(self.failing, after)
        if (
            after.timed_out
            or after.exit_code is None
            or not fixed
            or worse_than(after, self.seen) - self._plan.unstable
        ):
            return None
        return Repair(trial.edit, trial.before, trial.after, fixed), after

    def _with(self, before: SourceFile, after: SourceFile, request: Request) -> Observation:
        worker = self._idle.get()
        try:
            worker.write(after.path, after.data)
            try:
                return worker.run(request)
            finally:
                worker.write(before.path, before.data)
        finally:
            self._idle.put(worker)


def _fixed(tests: Iterable[str], after: Observation) -> frozenset[str]:
    """Return the tests that pass; a file that could not be collected is fixed when tests of it ran."""
    if after.timed_out:
        return frozenset()
    ran = {nodeid.partition("::")[0] for nodeid in after.outcomes if "::" in nodeid}
    return frozenset(
        nodeid
        for nodeid in tests
        if after.outcomes.get(nodeid) in {"passed", "xpassed"} or (nodeid in ran and nodeid not in after.outcomes)
    )


def _promise(trial: Trial) -> tuple[int, float]:
    """Order trials: the likeliest complete one first, then by how many tests they make pass."""
    return (0 if trial.complete else -len(trial.fixed) + _FIRST_TESTS + 1, -trial.edit.weight)


def _all_edits(project: Project, suspects: Iterable[Suspect]) -> list[Edit]:
    scores: dict[str, dict[int, float]] = {}
    for suspect in suspects:
        scores.setdefault(suspect.path, {})[suspect.line] = suspect.score
    every = [edit for path, lines in scores.items() for edit in edits_of(project.files[path], project, lines)]
    return sorted(every, key=lambda edit: -edit.weight)


def _encoded(edit: Edit, source: SourceFile) -> bytes:
    return edit.apply(source.text).encode(source.encoding, "replace")


def _key(edit: Edit, text: str) -> tuple[str, ...]:
    """Return what an edit does, whatever was changed elsewhere in its file."""
    start, end = edit.span.start, edit.span.end
    return edit.path, text[max(0, start - 80) : start], text[start:end], text[end : end + 80], edit.span.text
