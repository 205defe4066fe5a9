"""A disk that is full: one clear line, nothing lost, and the tests' own exit code."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_fireloop.act.baseline import take_baseline
from pytest_fireloop.act.output import CappedFile
from pytest_fireloop.act.test_run import TestCommand
from pytest_fireloop.act.world_fault import told
from pytest_fireloop.remember.journal import Journal
from pytest_fireloop.remember.journal_error import JournalError

#: Writes of some hundred that there are: of the state, of a run of the tests, of the agent's call, of the clean room.
WRITES = os.environ.get("FIRELOOP_FULL_DISK", "5 8 60 85 92 330").split()
ONE = "def test_one():\n    assert 0\n\n\ndef test_two():\n    pass\n"


@pytest.mark.long
def test_a_loop_on_a_full_disk_tells_why_and_goes_on_later(checkout: Path) -> None:
    words = [word for number in WRITES for word in ("--at", number)]
    command = [sys.executable, str(checkout / "benchmarks" / "full_disk.py"), *words]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("as it should be") == len(WRITES)


@pytest.mark.parametrize("size", [200, 2_000, 30_000])
def test_files_that_may_not_grow_leave_the_tests_alone(tmp_path: Path, checkout: Path, size: int) -> None:
    def limit() -> None:
        # the kernel's own limit, for the journal, git and the record alike
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "test_one.py").write_text(ONE)
    command = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "--fire-loop"]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}

    def run(prepare: Callable[[], None] | None, state: str = "state") -> tuple[int, str]:
        done = subprocess.run(
            [*command, f"--fire-loop-dir={tmp_path / state}"],
            cwd=tmp_path / "tree",
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            preexec_fn=prepare,
        )
        return done.returncode, done.stdout

    # Python itself keeps byte code that was half written, and so has to have written it before
    run(None, "warm")
    code, said = run(limit)
    assert code == 1
    assert "1 failed, 1 passed" in said
    assert "Traceback" not in said
    assert "INTERNALERROR" not in said
    assert sum(line.startswith("fire-loop: ") for line in said.splitlines()) <= 2
    # with room again it works, and what was half written is in nobody's way
    code, said = run(None)
    assert code == 1
    assert "loop" in said.rpartition("= fire-loop =")[2]


FULL = """
def full(*_):
    raise OSError(28, "No space left on device")


def pytest_collection_finish(session):
    session.config.pluginmanager.get_plugin("fireloop-recorder")._file._write = full
"""


def test_a_first_run_that_could_not_be_recorded_is_no_run_without_tests(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "test_one.py").write_text(ONE)
    (tmp_path / "tree" / "conftest.py").write_text(FULL)
    command = TestCommand(Path(sys.executable), tmp_path / "tree", environment=dict(os.environ))
    problem = take_baseline(command, tmp_path / "work").problem
    assert problem is not None
    assert problem.verdict == "usage"
    assert "could not be recorded: OSError: [Errno 28] No space left on device" in problem.reason


def test_a_full_journal_says_so_and_stays_readable(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    journal.begin_loop("one", "runner", {"task": "x"})
    journal.add_iteration("one", 0, {"checkpoint": "c"})
    (pages,) = journal._database.execute("PRAGMA page_count").fetchone()
    journal._database.execute(f"PRAGMA max_page_count = {pages}")
    large = {"text": "x" * 100_000, "checkpoint": "d"}
    writes: list[Callable[[], None]] = [
        lambda: journal.add_iteration("one", 1, large),
        lambda: journal.begin_loop("two", "runner", large),
        lambda: journal.note("one", **large),
        lambda: journal.end_loop("one", "green", large),
        lambda: journal.add_run("py", "", large, {}),
    ]
    for write in writes:
        with pytest.raises(JournalError, match="full") as error:
            write()
        assert "\n" not in str(error.value)
    assert journal.iterations("one") == [{"checkpoint": "c"}]
    assert [(row.loop_id, row.verdict, dict(row.data)) for row in journal.loops()] == [("one", None, {"task": "x"})]
    journal._database.execute("PRAGMA max_page_count = 1000000")
    journal.add_iteration("one", 1, large)
    assert [row["checkpoint"] for row in journal.iterations("one")] == ["c", "d"]


def test_a_log_without_room_is_no_reason_to_stop_reading(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    log = CappedFile(tmp_path / "file" / "log.txt", 100)
    log.write(b"x" * 1_000)
    log.close()
    assert log.total == 1_000


@pytest.mark.parametrize(
    ("number", "remedy"), [(28, "make room"), (122, "quota"), (30, "writable"), (5, "disk"), (27, "limit")]
)
def test_what_happened_and_what_to_do(number: int, remedy: str) -> None:
    line = told(OSError(number, os.strerror(number), "/a/file"))
    assert line is not None
    assert line.startswith(f"cannot use '/a/file': {os.strerror(number)}; ")
    assert remedy in line


def test_where_no_file_is_named_the_disk_that_is_full_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = SimpleNamespace(f_bavail=0, f_files=0, f_favail=0)
    room = SimpleNamespace(f_bavail=9, f_files=9, f_favail=9)
    monkeypatch.setattr(os, "statvfs", lambda path: full if path == tmp_path else room)
    for name in (None, ""):
        error = OSError(28, "No space left on device", name)
        assert (told(error, [Path("/"), tmp_path]) or "").startswith(
            f"cannot use the disk of {str(tmp_path)!r}: No space"
        )
        assert (told(error, [Path("/")]) or "").startswith("cannot use the disk: No space left on device; make room")


def test_a_command_without_room_is_no_wrong_usage(tmp_path: Path, checkout: Path) -> None:
    tree, state = tmp_path / "tree", f"--fire-loop-dir={tmp_path / 'state'}"
    tree.mkdir()
    (tree / "test_one.py").write_text(ONE)
    environment = {**os.environ, "PYTHONPATH": str(checkout)}

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))

    def run(prepare: Callable[[], None] | None, *words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-B", "-m", *words, state],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=prepare,
        )
        return done.returncode, done.stderr

    assert run(None, "pytest", "-p", "no:cacheprovider", "--fire-loop")[0] == 1
    (tree / "data.bin").write_bytes(os.urandom(300_000))
    code, said = run(limit, "pytest_fireloop.cli.fireloop", "restore", "0")
    assert (code, said.count("\n"), "internal error" in said) == (3, 1, False), said
    code, said = run(None, "pytest_fireloop.cli.fireloop", "restore", "f" * 40)
    assert (code, said.count("\n")) == (4, 1), said
    assert run(None, "pytest_fireloop.cli.fireloop", "restore", "0")[0] == 0


def test_a_fault_of_ours_is_none_of_the_world() -> None:
    assert told(FileNotFoundError(2, "No such file or directory", "/a")) is None
