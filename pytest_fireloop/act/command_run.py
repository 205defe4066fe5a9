"""One run of the user's own test command, and the record that it makes of its environments."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from pytest_fireloop.act.own_command import OwnCommand
from pytest_fireloop.act.process import run_process
from pytest_fireloop.act.stored_files import Stamp, stamp
from pytest_fireloop.act.test_run import HIDDEN, TestCommand, TestRun
from pytest_fireloop.observe.environments import of_run
from pytest_fireloop.observe.junit import SuiteRun, read_report
from pytest_fireloop.observe.matrix_record import together
from pytest_fireloop.observe.record import CollectionError, Failure, RecordError, RunRecord, read_record
from pytest_fireloop.observe.text import one_line

#: tox gives its environments few of the variables that it was started with.
TOX = "testenv.pass_env+=PYTHONPATH,FIRELOOP_*"
OUTPUT_LIMIT = 20_000
MODULE = re.compile(r"[\w.]+")


def run_own(command: TestCommand, own: OwnCommand, *, work: Path, stop: Callable[[], bool] | None = None) -> TestRun:
    """Run the command in the tree, read what its runs left, and put it together as one record."""
    folder = work / f"run-{uuid.uuid4().hex[:12]}"
    records, output = folder / "records", folder / "output.txt"
    records.mkdir(parents=True)
    args = ["-p", "fireloop", f"--fire-loop-record={records}{os.sep}", *command.args]
    before = _stamps(command.tree, own)
    timeout_s = command.within(command.timeout_s)
    done = run_process(
        own.filled(args),
        cwd=command.tree,
        environment=_environment(command, own, folder),
        output=output,
        timeout_s=timeout_s,
        stop=stop,
    )
    shutil.rmtree(folder / "parts", ignore_errors=True)
    exit_code = None if done.timed_out or done.stopped else done.exit_code
    runs, problem = [], done.problem
    try:
        runs = [*_recorded(records), *_reported(command.tree, own, before)]
    except RecordError as error:
        problem = str(error)
    record = together(runs, run_id=folder.name, exit_code=exit_code, output=_tail(output))
    if done.timed_out:
        problem = f"the test command took longer than {timeout_s:.3g} s"
    elif problem is None and own.shows_tests and not runs:
        problem = _nothing(own, output)
    if problem is not None:
        hanging = f"; in flight: {record.in_flight}" if record.in_flight else ""
        record = replace(record, complete=False, incomplete_reason=f"{problem}{hanging}")
    return TestRun(record, output, exit_code, done.timed_out, problem)


def _environment(command: TestCommand, own: OwnCommand, folder: Path) -> dict[str, str]:
    environment = {key: value for key, value in command.environment.items() if not key.startswith(HIDDEN)}
    environment.update(PYTHONDONTWRITEBYTECODE="1", PY_COLORS="0")
    if not own.records:
        return environment
    command.inside.write(folder / "parts")
    paths = [str(folder / "parts"), environment.get("PYTHONPATH", "")]
    overrides = [environment.get("TOX_OVERRIDE", ""), TOX]
    environment.update(
        PYTHONPATH=os.pathsep.join(filter(None, paths)),
        TOX_OVERRIDE=";".join(filter(None, overrides)),
        FIRELOOP_FRESH=str(command.tree),
    )
    return environment


def _recorded(folder: Path) -> Iterator[RunRecord]:
    for path in sorted(folder.iterdir()):
        if path.suffix == ".json":
            yield read_record(path)


def _reported(tree: Path, own: OwnCommand, before: dict[Path, Stamp]) -> Iterator[RunRecord]:
    """Read the reports that this run wrote; one that an earlier run left says nothing, and no file speaks twice."""
    read: set[int] = set()
    for path, seen in _stamps(tree, own).items():
        inode = seen[-1]
        if before.get(path) == seen or inode in read:
            continue
        read.add(inode)
        report = read_report(path)
        for run in report.runs or (SuiteRun(),):
            record = run.record(path.name, of_run(report, run, "file"))
            yield _in_files(record, tree)


def _stamps(tree: Path, own: OwnCommand) -> dict[Path, Stamp]:
    """Return what tells a file that was written again: a program may set the first time, nobody the last.

    A link is no report: it may lead to that of another environment.
    """
    found = {}
    for pattern in own.reports:
        for path in sorted(tree.glob(pattern)):
            if path.is_file() and not path.is_symlink():
                found[path] = stamp(path.stat())
    return found


def _in_files(record: RunRecord, tree: Path) -> RunRecord:
    """Give tests the ids by which pytest knows them, where the module that a report names is a file of the tree."""
    files: dict[str, str] = {}

    def node(nodeid: str) -> str:
        owner, mark, name = nodeid.partition("::")
        if owner not in files:
            files[owner] = _file_of(owner, tree)
        return f"{files[owner]}{mark}{name}"

    def failure(each: Failure) -> Failure:
        return replace(each, nodeids=tuple(map(node, each.nodeids)))

    def error(each: CollectionError) -> CollectionError:
        return replace(each, path=node(each.path))

    return replace(
        record,
        tests=tuple(test._replace(nodeid=node(test.nodeid)) for test in record.tests),
        failures=tuple(map(failure, record.failures)),
        collection_errors=tuple(map(error, record.collection_errors)),
    )


def _file_of(owner: str, tree: Path) -> str:
    words = owner.split(".") if MODULE.fullmatch(owner) else []
    for size in range(len(words), 0, -1):
        path = "/".join(words[:size]) + ".py"
        if (tree / path).is_file():
            return "::".join((path, *words[size:]))
    return owner


def _tail(output: Path) -> str:
    try:
        with output.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - OUTPUT_LIMIT))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _nothing(own: OwnCommand, output: Path) -> str:
    last = one_line((_tail(output).strip().splitlines() or ["no output"])[-1], 200)
    if own.reports:
        return f"the test command wrote no report that matches {', '.join(own.reports)}; it ended with: {last}"
    return (
        "no run of pytest was recorded: {pytest_args} has to reach pytest, with $PYTHONPATH or pytest-fireloop in its "
        f"environment; else use --report. It ended with: {last}"
    )
