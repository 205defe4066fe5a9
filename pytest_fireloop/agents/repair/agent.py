"""The embedded agent: copies the tree, finds suspicious lines, tries edits, keeps what helps."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pytest_fireloop.agents.repair.memory import fingerprint, gave_up_before, note_giving_up
from pytest_fireloop.agents.repair.observation import Observation, worse_than
from pytest_fireloop.agents.repair.search import Plan, Repair, Search
from pytest_fireloop.agents.repair.source import Project, read_source
from pytest_fireloop.agents.repair.worker import Request, Worker
from pytest_fireloop.agents.repair.workspace import copy_tree, is_product, python_files, replace_file
from pytest_fireloop.observe.record import RunRecord

_MOST_WORKERS = 4
_SHOWN = 5
#: Options that keep a plugin from starting processes, tracing, or shuffling.
_CALMING = {"xdist": ("-n0",), "_cov": ("--no-cov",), "randomly": ("-p", "no:randomly")}
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Job:
    """One call: the tree to repair, a scratch folder outside it, and what is known of the last run."""

    tree: Path
    python: Path
    scratch: Path
    arguments: tuple[str, ...]
    time_s: float
    record: RunRecord | None

    @property
    def causes(self) -> dict[str, str]:
        """The cause of each failure by node id; files that could not be collected are failures too."""
        if self.record is None:
            return {}
        causes = {test.nodeid: test.cause or "" for test in self.record.tests if test.nodeid in self.record.red}
        return causes | {error.path: error.signature for error in self.record.collection_errors}


def job_from(environment: Mapping[str, str], tree: Path) -> Job:
    """Return the job that the environment describes; without a record the agent runs the tests itself."""
    return Job(
        tree=Path(os.path.realpath(tree)),
        python=Path(environment["FIRELOOP_PYTHON"]),
        scratch=Path(os.path.realpath(environment["FIRELOOP_CALL"])),
        arguments=tuple(json.loads(environment.get("FIRELOOP_PYTEST_ARGS", "[]"))),
        time_s=float(environment.get("FIRELOOP_TIME_S", "600")),
        record=_read_record(environment.get("FIRELOOP_RECORD", "")),
    )


def _read_record(path: str) -> RunRecord | None:
    try:
        return RunRecord.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, AttributeError):
        return None


def repair(job: Job, say: Say) -> int:
    """Repair the tree as far as small edits can, and return the number of edits made; raises WorkspaceError."""
    started = time.monotonic()
    mark = fingerprint(job.tree)
    if gave_up_before(job.scratch, mark):
        say("gives up: nothing changed since an earlier call, in which no small edit helped")
        return 0
    workers = _workers(job)
    try:
        kept = _repair(job, workers, started, say)
        if not kept:
            note_giving_up(job.scratch, mark)
        return kept
    finally:
        for worker in workers:
            worker.close()


def _workers(job: Job) -> list[Worker]:
    workers = []
    processors = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    for number in range(min(_MOST_WORKERS, processors)):
        folder = job.scratch / f"worker-{number}"
        copy_tree(job.tree, folder / "tree")
        workers.append(Worker(job.python, job.tree, folder))
    return workers


def _repair(job: Job, workers: list[Worker], started: float, say: Say) -> int:
    asked = workers[0].run(Request((*job.arguments, "--collect-only"), job.time_s / 4, warm=True))
    options = _options(job.arguments, asked)
    arguments = (*options, *asked.positional)
    first = workers[0].run(Request(arguments, job.time_s / 2, trace=True, warm=True))
    if first.timed_out or first.exit_code is None:
        say(f"gives up: the tests did not come to an end in a copy of the tree; last line: {workers[0].last_words()}")
        return 0
    if not first.red:
        say(f"gives up: none of {len(first.outcomes)} tests fails in a copy of the tree")
        return 0
    confirmed, took = _confirm(workers, Request(arguments, job.time_s / 4, warm=True), first)
    wanted = first.red & confirmed.red
    if job.record is not None:
        wanted &= frozenset(job.causes)
    if not wanted:
        say("gives up: the failures of the last run do not happen in a copy of the tree")
        return 0
    project = _project(job.tree, first)
    plan = Plan(
        options=options,
        selection=asked.positional,
        overhead_s=max(0.1, took - sum(confirmed.durations.values())),
        full_s=took,
        deadline=started + job.time_s * 0.95,
        causes=job.causes,
        unstable=frozenset(
            nodeid for nodeid, outcome in first.outcomes.items() if confirmed.outcomes.get(nodeid) != outcome
        ),
    )
    search = Search(workers, plan, first, wanted)
    suspects = search.suspects(project)
    files = len({suspect.path for suspect in suspects})
    say(f"{len(wanted)} of {len(first.outcomes)} tests fail; they depend on {len(suspects)} lines of {files} files")
    kept: list[Repair] = []

    def keep(found: Repair) -> None:
        replace_file(job.tree / found.after.path, found.before.data, found.after.data, job.scratch)
        kept.append(found)
        for line in _described(found):
            say(line)

    project = search.run(project, keep)
    took = time.monotonic() - started
    late = f", {search.timed_out} of them ran out of time" if search.timed_out else ""
    say(f"tried {search.tried} edits{late}, kept {len(kept)}, in {took:.1f} s")
    if not search.failing:
        say(f"all {len(wanted)} tests pass now")
        return len(kept)
    why = "time is up" if search.out_of_time else "no small edit helps"
    say(f"gives up: {why}; {len(search.failing)} of {len(wanted)} tests still fail; the most suspicious lines:")
    for suspect in search.suspects(project)[:_SHOWN]:
        text = project.files[suspect.path].line(suspect.line).strip()
        say(f"  {suspect.path}:{suspect.line}: {text}  ({suspect.score:.2f})")
    return len(kept)


def _options(arguments: Sequence[str], asked: Observation) -> tuple[str, ...]:
    """Return the user's arguments without the words that name what to run, and with what calms plugins."""
    options = list(arguments)
    for word in asked.positional:
        if word in options:
            options.remove(word)
    return (*options, *(word for plugin in asked.plugins for word in _CALMING[plugin]))


def _confirm(workers: Sequence[Worker], request: Request, first: Observation) -> tuple[Observation, float]:
    """Run the suite in every worker with modules preloaded, or without where that changes an outcome.

    Returns what one of them showed, and the seconds that it took.
    """

    def confirm(worker: Worker) -> tuple[Observation, float]:
        worker.preload(first.modules)
        start = time.monotonic()
        seen = worker.run(request)
        if worse_than(seen, first):
            worker.preload(())
        return seen, time.monotonic() - start

    with ThreadPoolExecutor(len(workers)) as executor:
        return list(executor.map(confirm, workers))[-1]


def _project(tree: Path, seen: Observation) -> Project:
    files = {}
    for path in python_files(tree):
        if is_product(path, seen.test_files):
            source = read_source(path, (tree / path).read_bytes())
            if source is not None:
                files[path] = source
    return Project(files)


def _described(found: Repair) -> list[str]:
    """Return the lines before and after, with the place, the reason and the gain."""
    span = found.edit.span
    first = found.before.line_at(span.start)
    last = found.before.line_at(max(span.start, span.end - 1))
    grown = len(found.after.text.splitlines()) - len(found.before.text.splitlines())
    before = [found.before.line(number) for number in range(first, last + 1)]
    after = [found.after.line(number) for number in range(first, last + grown + 1)]
    tests = "1 test passes" if len(found.fixed) == 1 else f"{len(found.fixed)} tests pass"
    shown = textwrap.dedent("\n".join([*before, *after])).split("\n")
    before, after = shown[: len(before)], shown[len(before) :]
    return [
        f"{found.after.path}:{first}: {found.edit.kind.reason}; {tests} now",
        *(f"  - {line}" for line in before if line not in after),
        *(f"  + {line}" for line in after if line not in before),
    ]
