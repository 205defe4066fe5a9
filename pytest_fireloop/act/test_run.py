"""One run of the project's tests, in a process of its own."""

from __future__ import annotations

import re
import shutil
import signal
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_fireloop.act.inside_copy import InsideCopy
from pytest_fireloop.act.own_command import OwnCommand
from pytest_fireloop.act.process import run_process
from pytest_fireloop.observe.record import RecordError, RunRecord, read_record
from pytest_fireloop.observe.text import one_line

#: How our part in the tested process says it, in the output that is looked through.
FAULT = re.compile(rb"fire-loop: switched off by a fault of its own \((.+)\); the tests")
FAULT_LIMIT = 4_000_000
#: What the launcher returns when the interpreter has no pytest; outside pytest's own codes.
NO_PYTEST = 97
NUMBERED = re.compile(r"#\d+$")
HIDDEN = ("PYTEST_", "COVERAGE_", "FIRELOOP_")
#: By these somebody else ends a process; a fault of its own ends it by others.
FROM_OUTSIDE = frozenset(-getattr(signal, name, signal.SIGTERM) for name in ("SIGKILL", "SIGTERM", "SIGHUP"))
#: How often a run is begun that somebody else ended: it says nothing of the tests.
TRIES = 3


@dataclass(frozen=True, slots=True)
class TestCommand:
    """How the project's tests are run; `mapped_from` is the original tree when `tree` is a room that stands for it.

    `within` makes of `timeout_s` what the time of the loop leaves of it.
    `disguise` is a file that says how tests are run as if nobody tested.
    `own` is the user's own command in the place of pytest.
    """

    __test__ = False

    python: Path
    tree: Path
    args: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 1800.0
    within: Callable[[float], float] = float
    mapped_from: Path | None = None
    disguise: Path | None = None
    inside: InsideCopy = field(default_factory=InsideCopy)
    own: OwnCommand | None = None


@dataclass(frozen=True, slots=True)
class TestRun:
    """What came of one run; `problem` says why it could not start or did not end by itself."""

    __test__ = False

    record: RunRecord
    output: Path
    exit_code: int | None
    timed_out: bool = False
    problem: str | None = None


def run_tests(
    command: TestCommand,
    *,
    work: Path,
    select: Sequence[str] = (),
    extra: Sequence[str] = (),
    stop: Callable[[], bool] | None = None,
) -> TestRun:
    """Run pytest in a subprocess and read its record; `work` keeps the record and the output, one folder a run.

    A command of the user's own runs whole, whatever is selected.
    """
    for _ in range(TRIES):
        run = _run_once(command, work, select, extra, stop)
        if run.exit_code not in FROM_OUTSIDE or run.timed_out or (stop is not None and stop()):
            break
    return run


def _run_once(
    command: TestCommand,
    work: Path,
    select: Sequence[str],
    extra: Sequence[str],
    stop: Callable[[], bool] | None,
) -> TestRun:
    if command.own is not None:
        from pytest_fireloop.act.command_run import run_own

        return run_own(command, command.own, work=work, stop=stop)
    folder = work / f"run-{uuid.uuid4().hex[:12]}"
    launcher = command.inside.write(folder / "parts")
    record_path = folder / "record.json"
    output = folder / "output.txt"
    argv = [
        str(command.python),
        "-B",
        str(launcher),
        str(folder / "parts"),
        str(command.mapped_from or ""),
        str(command.tree) if command.mapped_from else "",
        "-p",
        "fireloop",
        f"--fire-loop-record={record_path}",
        *([f"--rootdir={command.tree}"] if command.mapped_from else []),
        *(options_only(command.args, command.tree) if select else command.args),
        *extra,
        *select,
    ]
    environment = {key: value for key, value in command.environment.items() if not key.startswith(HIDDEN)}
    environment.update(
        FIRELOOP_FRESH=str(command.tree),
        FIRELOOP_CACHE=str(folder / "cache"),
        PYTHONDONTWRITEBYTECODE="1",
        PY_COLORS="0",
    )
    if command.mapped_from is not None:
        environment.update(FIRELOOP_OUTSIDE=str(command.mapped_from), FIRELOOP_HIDE="1")
    if command.disguise is not None:
        environment["FIRELOOP_DISGUISE"] = str(command.disguise)
    timeout_s = command.within(command.timeout_s)
    done = run_process(argv, cwd=command.tree, environment=environment, output=output, timeout_s=timeout_s, stop=stop)
    for used_up in (folder / "parts", folder / "cache"):
        shutil.rmtree(used_up, ignore_errors=True)
    problem = done.problem
    if done.exit_code == NO_PYTEST:
        problem = f"{str(command.python)!r} has no pytest; install it there, or name another interpreter with --python"
    try:
        record = read_record(record_path)
    except RecordError:
        record = RunRecord(run_id=folder.name, incomplete_reason="pytest ended before it began to record")
        problem = problem or _fault(output)
    if done.timed_out:
        problem = f"the tests took longer than {timeout_s:.3g} s"
        record = replace(record, complete=False, incomplete_reason=_hanging(record, problem), exit_code=None)
    elif record.exit_code is None:
        record = replace(record, exit_code=_status(done.exit_code))
    elif record.exit_code != done.exit_code:
        reason = f"pytest recorded exit code {record.exit_code}, its process ended with {done.exit_code}"
        record = replace(record, complete=False, incomplete_reason=reason)
    return TestRun(record, output, done.exit_code, done.timed_out, problem)


def _fault(output: Path) -> str | None:
    """Return what our part said of a fault of its own, as on a full disk: of the tests such a run says nothing."""
    try:
        with output.open("rb") as file:
            found = FAULT.search(file.read(FAULT_LIMIT))
    except OSError:
        return f"a run of the tests left neither a record nor output in {str(output.parent)!r}; is the disk full?"
    told = one_line(found[1].decode("utf-8", "replace"), 300) if found else None
    return f"the run of the tests could not be recorded: {told}" if told else None


def absolute(root: str | Path, nodeids: Sequence[str], known: Collection[str]) -> list[str]:
    """Return node ids as arguments that hold from any folder; `known` are all ids of the run that they are from.

    Several tests may bear one id, of which the record calls the second `id#2`; pytest knows them by the id alone.
    """
    bare = (nodeid.rpartition("#")[0] if NUMBERED.search(nodeid) else nodeid for nodeid in nodeids)
    names = (name if name in known else nodeid for name, nodeid in zip(bare, nodeids, strict=True))
    return list(dict.fromkeys(str(Path(root) / name) for name in names))


def options_only(args: Sequence[str], tree: Path) -> list[str]:
    """Return a user's pytest arguments without the paths, for a run that selects its own tests."""
    return [word for word in args if word.startswith("-") or not (tree / word.split("::")[0]).exists()]


def _status(exit_code: int | None) -> int | None:
    """Keep a usage or collection status; a clean exit without a finished record is no status at all."""
    return exit_code if exit_code is not None and exit_code > 0 else None


def _hanging(record: RunRecord, problem: str) -> str:
    return f"{problem}; in flight: {record.in_flight}" if record.in_flight else problem
