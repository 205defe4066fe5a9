from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fireloop.agents.repair.worker import Request, Worker

MODULE = "def adult(age):\n    if age < 18:\n        return False\n    return True\n"
TESTS = """import age
import pytest


def test_adult():
    assert age.adult(18)


def test_child():
    assert age.adult(3)


@pytest.mark.skip
def test_skipped():
    pass


@pytest.mark.xfail
def test_expected():
    assert age.adult(1)


@pytest.fixture
def broken():
    raise OSError


def test_error(broken):
    pass
"""
OUTCOMES = {
    "test_age.py::test_adult": "passed",
    "test_age.py::test_child": "failed",
    "test_age.py::test_skipped": "skipped",
    "test_age.py::test_expected": "xfailed",
    "test_age.py::test_error": "error",
}
COVERED = {
    2: {"test_age.py::test_adult", "test_age.py::test_child", "test_age.py::test_expected"},
    3: {"test_age.py::test_child", "test_age.py::test_expected"},
    4: {"test_age.py::test_adult"},
}


@pytest.fixture(params=[True, False], ids=["fork", "no_fork"])
def worker(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    worker = Worker(Path(sys.executable), tmp_path / "origin", tmp_path, fork=request.param)
    worker.tree.mkdir()
    (worker.tree / "age.py").write_text(MODULE)
    (worker.tree / "test_age.py").write_text(TESTS)
    yield worker
    worker.close()


def covered(worker: Worker) -> dict[int, set[str]]:
    lines = worker.run(Request((), 60, trace=True)).lines
    return {number: set(tests) for (path, number), tests in lines.items() if path == "age.py" and number > 1}


def test_outcomes_of_all_sorts(worker: Worker) -> None:
    seen = worker.run(Request((), 60))
    assert (seen.outcomes, seen.timed_out, seen.exit_code) == (OUTCOMES, False, 1)
    assert seen.red == {"test_age.py::test_child", "test_age.py::test_error"}


def test_lines_by_test(worker: Worker) -> None:
    assert covered(worker) == COVERED


def test_lines_by_test_where_coverage_cannot_be_lent(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "lent" / "coverage").unlink()
    (tmp_path / "lent" / "coverage").mkdir()
    (tmp_path / "lent" / "coverage" / "__init__.py").write_text("raise ImportError('too old')\n")
    assert covered(worker) == COVERED
    assert "coverage cannot be lent" in (tmp_path / "log").read_text()


def test_an_edit_of_the_same_size_in_the_same_second_counts(worker: Worker) -> None:
    worker.run(Request((), 60, warm=True))
    worker.write("age.py", MODULE.replace("18", "19").encode())
    assert worker.run(Request(("test_age.py::test_adult",), 60)).outcomes == {"test_age.py::test_adult": "failed"}
    worker.write("age.py", MODULE.encode())
    assert worker.run(Request(("test_age.py::test_adult",), 60)).outcomes == {"test_age.py::test_adult": "passed"}


def test_a_run_that_hangs_is_ended_and_the_next_one_works(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fireloop.agents.repair.worker._GRACE_S", 0.5)
    worker.write("age.py", b"def adult(age):\n    while True:\n        pass\n")
    hung = worker.run(Request((), 1.5))
    assert (hung.timed_out, hung.exit_code) == (True, None)
    worker.write("age.py", MODULE.encode())
    assert worker.run(Request((), 60)).outcomes == OUTCOMES


def test_a_run_that_ends_the_process_is_no_success(worker: Worker) -> None:
    worker.write("age.py", b"import os\n\n\ndef adult(age):\n    os._exit(0)\n")
    seen = worker.run(Request((), 60))
    assert seen.exit_code is None
    assert seen.outcomes.get("test_age.py::test_adult") != "passed"


def test_preloaded_modules_do_not_change_outcomes(worker: Worker) -> None:
    seen = worker.run(Request((), 60, trace=True))
    assert "pytest" in seen.modules
    assert not {"age", "test_age"} & set(seen.modules)
    worker.preload(seen.modules)
    assert worker.run(Request((), 60)).outcomes == OUTCOMES


def test_what_tests_print_is_no_answer(worker: Worker) -> None:
    text = "import os\nos.write(1, b'{\"timed_out\": true}\\n')\n"
    worker.write("age.py", (text + MODULE).encode())
    assert worker.run(Request((), 60)).outcomes == OUTCOMES
