"""Runs that end before all tests have run, and files that give no tests: what ran is kept, the rest is never passed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

EXIT = "pytest.exit('enough'{})"
ENDS = [
    ("test", "raise KeyboardInterrupt", 2),
    ("test", "pytest.exit('enough', returncode=1)", 1),
    ("test", "pytest.exit('enough', returncode=42)", 42),
    ("fixture", "pytest.exit('enough')", 2),
    ("fixture", "raise KeyboardInterrupt", 2),
]
SHAPES = {
    "test": "def test_ends(): {}\n",
    "fixture": "@pytest.fixture\ndef ends(): {}\ndef test_ends(ends): pass\n",
    "teardown": "@pytest.fixture\ndef ends():\n    yield\n    {}\ndef test_ends(ends): pass\n",
}


def outcomes(record: dict[str, Any]) -> dict[str, str]:
    return {test["nodeid"]: test["outcome"] for test in record["tests"]}


@pytest.mark.parametrize(("shape", "statement", "code"), ENDS)
def test_what_ends_the_session_leaves_the_rest_without_result(
    write: Write, run: Run, shape: str, statement: str, code: int
) -> None:
    text = f"import pytest\ndef test_first(): pass\n{SHAPES[shape].format(statement)}def test_last(): pass\n"
    write({"test_a.py": text})
    found, _, record = run()
    assert (found, record["exit_code"], record["complete"]) == (code, code, False)
    assert outcomes(record) == {"test_a.py::test_first": "passed"}
    assert record["not_run"] == ["test_a.py::test_ends", "test_a.py::test_last"]
    assert (record["collected"], record["partial"]) == (3, False)


def test_an_end_in_a_teardown_leaves_the_test_before_it_as_it_was(write: Write, run: Run) -> None:
    write({"test_a.py": f"import pytest\n{SHAPES['teardown'].format(EXIT.format(''))}def test_last(): pass\n"})
    code, _, record = run()
    assert (code, record["complete"], record["not_run"]) == (2, False, ["test_a.py::test_last"])
    assert outcomes(record) == {"test_a.py::test_ends": "passed"}


@pytest.mark.parametrize(
    ("statement", "code"),
    [("pytest.exit('enough')", 2), ("pytest.exit('enough', returncode=0)", 3), ("raise KeyboardInterrupt", 2)],
)
def test_what_ends_a_worker_is_no_complete_run(write: Write, run: Run, statement: str, code: int) -> None:
    pytest.importorskip("xdist")
    write({"test_a.py": f"import pytest\ndef test_first(): pass\ndef test_ends(): {statement}\n"})
    found, _, record = run("-n1")
    assert (found, record["exit_code"], record["complete"]) == (code, code, False)
    assert outcomes(record)["test_a.py::test_first"] == "passed"
    assert outcomes(record).get("test_a.py::test_ends", "failed") == "failed"


def test_a_worker_that_crashes_fails_its_test_and_loses_no_other(write: Write, run: Run) -> None:
    pytest.importorskip("xdist")
    passing = "".join(f"def test_{number}(): pass\n" for number in range(6))
    write({"test_a.py": f"import os\n{passing}def test_dies(): os._exit(0)\ndef test_segfaults(): os.abort()\n"})
    code, _, record = run("-n2")
    found = outcomes(record)
    dead = ["test_a.py::test_dies", "test_a.py::test_segfaults"]
    assert [found.pop(nodeid) for nodeid in dead] == ["failed", "failed"]
    assert found == {f"test_a.py::test_{number}": "passed" for number in range(6)}
    assert (code, record["complete"], record["collected"], record["in_flight"]) == (1, True, 8, None)
    assert sorted(nodeid for failure in record["failures"] for nodeid in failure["nodeids"]) == dead


def test_workers_that_may_not_be_replaced_leave_tests_without_result(write: Write, run: Run) -> None:
    pytest.importorskip("xdist")
    write({"test_a.py": "import os\ndef test_dies(): os._exit(0)\n"})
    write({"test_b.py": "".join(f"def test_{number}(): pass\n" for number in range(4))})
    code, _, record = run("-n1", "--max-worker-restart=0")
    assert code != 0
    assert record["complete"] is False
    assert sorted(record["not_run"]) == [f"test_b.py::test_{number}" for number in range(4)]


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("test_broken.py", "import nothing_of_that_name", "nothing_of_that_name"),
        ("test_broken.py", "def test_(:", "SyntaxError"),
        ("test_broken.py", "import pytest\npytest.skip('no')", "allow_module_level"),
        ("test_broken.py", "def test_yields():\n    yield 1", "test_yields"),
        ("sub/conftest.py", "raise ValueError('in conftest')", "in conftest"),
    ],
    ids=["import", "syntax", "skip", "yield", "conftest"],
)
def test_a_file_that_cannot_be_collected_is_told(write: Write, run: Run, path: str, text: str, message: str) -> None:
    write({path: text, "sub/test_below.py": "def test_below(): pass", "test_good.py": "def test_good(): pass"})
    code, _, record = run()
    (error,) = record["collection_errors"]
    assert message in error["message"]
    assert Path(error["path"]).parts[0] == Path(path).parts[0]
    assert (code, record["complete"], record["partial"], record["tests"]) == (2, False, False, [])


@pytest.mark.parametrize("path", ["test_broken.py", "sub/conftest.py"])
def test_a_file_that_no_worker_can_collect_is_told_once(write: Write, run: Run, path: str) -> None:
    pytest.importorskip("xdist")
    write(
        {path: "raise ValueError", "sub/test_below.py": "def test_below(): pass", "test_good.py": "def test_(): pass"}
    )
    code, _, record = run("-n2")
    assert len(record["collection_errors"]) == 1
    assert outcomes(record)["test_good.py::test_"] == "passed"
    assert (code, record["complete"], record["partial"]) == (1, False, False)


def test_two_broken_files_are_two_errors(write: Write, run: Run) -> None:
    write(dict.fromkeys(("test_a.py", "test_b.py"), "import nothing_of_that_name"))
    code, _, record = run()
    assert sorted(error["path"] for error in record["collection_errors"]) == ["test_a.py", "test_b.py"]
    assert (code, record["tests"], record["counts"]["error"]) == (2, [], 0)


def test_one_basename_twice_is_a_collection_error_of_the_second(write: Write, run: Run) -> None:
    write({"a/test_same.py": "def test_one(): pass", "b/test_same.py": "def test_one(): pass"})
    _, _, record = run("--continue-on-collection-errors")
    assert [error["path"] for error in record["collection_errors"]] == ["b/test_same.py"]
    assert outcomes(record) == {"a/test_same.py::test_one": "passed"}
    assert record["complete"] is False


@pytest.mark.parametrize(
    "text",
    ["import pytest\npytest.skip('no', allow_module_level=True)", "import pytest\npytest.importorskip('no_such')"],
)
def test_a_file_that_skips_itself_is_no_error(write: Write, run: Run, text: str) -> None:
    write({"test_absent.py": f"{text}\ndef test_one(): pass", "test_good.py": "def test_good(): pass"})
    code, _, record = run()
    assert (code, record["complete"], record["collection_errors"], record["collected"]) == (0, True, [], 1)
    assert outcomes(record) == {"test_good.py::test_good": "passed"}


@pytest.mark.parametrize("statement", ["raise SystemExit(0)", "import sys; sys.exit(0)", "raise KeyboardInterrupt"])
def test_a_file_that_ends_the_process_at_import_is_no_complete_run(write: Write, run: Run, statement: str) -> None:
    write({"test_a.py": f"{statement}\ndef test_one(): pass\n", "test_good.py": "def test_good(): pass\n"})
    code, _, record = run()
    assert code in {2, 3}
    assert (record["exit_code"], record["complete"], record["tests"]) == (code, False, [])


def test_no_tests_at_all_are_a_complete_record_of_none(write: Write, run: Run) -> None:
    write({"product.py": "x = 1\n"})
    code, _, record = run()
    assert (code, record["exit_code"], record["collected"], record["tests"]) == (5, 5, 0, [])


def test_a_process_that_dies_leaves_counts_and_failures_of_what_had_ended(write: Write, run: Run) -> None:
    write({"test_a.py": "import os\ndef test_good(): pass\ndef test_bad(): assert 0\ndef test_dies(): os._exit(1)\n"})
    code, _, record = run()
    assert (code, record["exit_code"], record["complete"], record["collected"]) == (1, None, False, 3)
    assert (record["counts"].get("passed"), record["counts"].get("failed")) == (1, 1)
    assert [failure["nodeids"] for failure in record["failures"]] == [["test_a.py::test_bad"]]
    assert record["in_flight"] == "test_a.py::test_dies"


@pytest.mark.parametrize("hook", ["pytest_sessionfinish(session)", "pytest_unconfigure(config)"])
def test_a_plugin_that_breaks_at_the_end_loses_no_outcome(write: Write, run: Run, hook: str) -> None:
    write({"conftest.py": f"def {hook}: raise ValueError('at the end')\n"})
    write({"test_a.py": "def test_good(): pass\ndef test_bad(): assert 0\n"})
    code, _, record = run()
    assert (code, outcomes(record)) == (1, {"test_a.py::test_good": "passed", "test_a.py::test_bad": "failed"})
    assert [failure["nodeids"] for failure in record["failures"]] == [["test_a.py::test_bad"]]
    assert record["exit_code"] == 1


def test_an_end_that_breaks_a_good_run_is_told(write: Write, judged: Run) -> None:
    write({"conftest.py": "def pytest_sessionfinish(session): raise ValueError('at the end')\n"})
    write({"test_a.py": "def test_good(): pass\n"})
    code, _, record = judged()
    assert (code, record["exit_code"], record["complete"], record["in_flight"]) == (1, 1, False, None)
    assert record["incomplete_reason"] == "the end of the session failed: ValueError: at the end"
    assert outcomes(record) == {"test_a.py::test_good": "passed"}


@pytest.mark.parametrize("hook", ["pytest_runtest_logreport(report)", "pytest_collection_finish(session)"])
def test_an_internal_error_is_no_complete_run(write: Write, run: Run, hook: str) -> None:
    write({"conftest.py": f"def {hook}: raise ValueError('in a hook')\n"})
    write({"test_a.py": "def test_good(): pass\n"})
    code, _, record = run()
    assert (code, record["exit_code"], record["complete"]) == (3, 3, False)
    assert "in a hook" in record["incomplete_reason"]


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 2), (signal.SIGTERM, None)])
def test_a_signal_leaves_the_hanging_test_without_result(
    write: Write, project: Path, sent: signal.Signals, code: int | None
) -> None:
    write({"test_a.py": "import time\ndef test_first(): pass\ndef test_hangs(): time.sleep(60)\n"})
    path = project.parent / "record.json"
    command = [sys.executable, "-m", "pytest", f"--fire-loop-record={path}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (path.exists() and "::test_hangs" in path.read_text()):
            time.sleep(0.02)
        process.send_signal(sent)
        process.wait(30)
    finally:
        process.kill()
        process.wait()
    record = json.loads(path.read_text())
    assert (record["exit_code"], record["complete"]) == (code, False)
    assert [test["nodeid"] for test in record["tests"]] == ["test_a.py::test_first"]
    assert "test_a.py::test_hangs" in [*record["not_run"], record["in_flight"]]


def test_a_conftest_that_cannot_be_imported_is_a_collection_error(write: Write, run: Run) -> None:
    write({"conftest.py": "import nothing_of_that_name\n", "test_a.py": "def test_good(): pass\n"})
    code, _, record = run()
    assert (code, record["exit_code"], record["complete"], record["collected"]) == (4, 4, False, 0)
    assert record["incomplete_reason"] == "conftest.py cannot be loaded"
    (error,) = record["collection_errors"]
    assert (error["path"], error["message"]) == (
        "conftest.py",
        "ModuleNotFoundError: No module named 'nothing_of_that_name'",
    )


def test_a_conftest_that_cannot_be_imported_counts_in_the_loop(write: Write, judged: Run) -> None:
    write({"test_a.py": "def test_bad(): assert 0\n"})
    assert judged()[0] == 1
    write({"conftest.py": "import nothing_of_that_name\n"})
    assert judged()[0] == 4
    write({"conftest.py": ""})
    _, text, record = judged()
    assert "iteration 2 of loop" in text
    assert record["score"] == 4  # a changed file, a new approach, and a collection error less
