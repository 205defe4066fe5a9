"""Exit code 0 that is no green: never believed, and 13 wherever the process still has a say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

TESTS = "import product\ndef test_good(): pass\ndef test_bad(): assert product.value == 1\n"
RED = {"test_a.py": TESTS, "product.py": "value = 0\n"}
GREEN = {"test_a.py": TESTS, "product.py": "value = 1\n"}
TWO_GOOD = "def test_one(): pass\ndef test_two(): pass\n"


def counts(record: dict[str, Any]) -> tuple[int, int, int]:
    return record["counts"]["passed"], record["counts"]["failed"], record["counts"]["error"]


def outcomes(record: dict[str, Any]) -> dict[str, str]:
    return {test["nodeid"]: test["outcome"] for test in record["tests"]}


FORGERIES = {
    "sessionfinish": "@pytest.hookimpl(trylast=True)\ndef pytest_sessionfinish(session): session.exitstatus = 0\n",
    "sessionfinish-wrapper": """
        @pytest.hookimpl(wrapper=True)
        def pytest_sessionfinish(session):
            result = yield
            session.exitstatus = 0
            return result
    """,
    "sessionfinish-outermost": """
        @pytest.hookimpl(wrapper=True, tryfirst=True)
        def pytest_sessionfinish(session):
            result = yield
            session.exitstatus = 0
            return result
    """,
    "runtestloop": """
        @pytest.hookimpl(wrapper=True)
        def pytest_runtestloop(session):
            result = yield
            session.testsfailed = 0
            return result
    """,
    "exit": "def pytest_runtest_teardown(item, nextitem):\n    if nextitem is None: pytest.exit('enough', returncode=0)\n",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_zero_over_a_red_test_is_13(write: Write, judged: Run, name: str) -> None:
    (indented, text) = (FORGERIES[name].startswith("\n"), FORGERIES[name])
    head = "\n        import pytest" if indented else "import pytest\n"
    write({**RED, "conftest.py": head + text})
    code, text, record = judged()
    assert code == 13
    assert "this green cannot be believed" in text
    assert record["complete"] is False
    assert counts(record) == (1, 1, 0)


@pytest.mark.parametrize("options", ["-p no:terminal", "-qq --no-summary"])
def test_why_a_zero_is_13_is_told_under_all_options(write: Write, judged: Run, options: str) -> None:
    write({**RED, "conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 0\n"})
    code, text, _ = judged(*options.split())
    assert code == 13
    assert "exit code 0 with 1 red test" in text


SWALLOWED = {
    "protocol": ("def pytest_runtest_protocol(item): return True if item.name == 'test_two' else None\n", 1),
    "loop": ("def pytest_runtestloop(session): return True\n", 2),
    "report": ("""
        import pytest
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_protocol(item, nextitem):
            item.ihook.pytest_runtest_logreport, kept = lambda **_: None, item.ihook.pytest_runtest_logreport
            try: return (yield)
            finally: item.ihook.pytest_runtest_logreport = kept
    """, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", SWALLOWED)
def test_a_collected_test_without_a_result_is_13(write: Write, judged: Run, name: str) -> None:
    text, missing = SWALLOWED[name]
    write({"test_a.py": TWO_GOOD, "conftest.py": text})
    code, said, record = judged()
    assert (code, record["exit_code"], record["complete"], len(record["not_run"])) == (13, 0, False, missing)
    assert f"{missing} of 2 collected tests have no result" in said


def test_an_exit_with_0_in_a_test_is_13_and_names_it(write: Write, judged: Run) -> None:
    write({"test_a.py": f"import pytest\n{TWO_GOOD}def test_ends(): pytest.exit('enough', returncode=0)\n"})
    code, text, record = judged()
    assert (code, record["complete"], record["not_run"]) == (13, False, ["test_a.py::test_ends"])
    assert "exit code 13" in text
    assert "Exit: enough" in text


def test_no_tests_under_a_forced_zero_are_13(write: Write, judged: Run) -> None:
    write({"conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 0\n", "product.py": "x = 1\n"})
    code, _, record = judged()
    assert (code, record["collected"], record["tests"]) == (13, 0, [])


def test_a_lost_report_under_xdist_is_no_green(write: Write, judged: Run) -> None:
    pytest.importorskip("xdist")
    passing = "".join(f"def test_{number}(): pass\n" for number in range(4))
    write({"test_a.py": passing + 'def test_bad(): raise ValueError("\\udcff")\n'})
    code, _, record = judged("-n2")
    assert (code, record["complete"], outcomes(record).get("test_a.py::test_bad")) == (1, True, "failed")


@pytest.mark.parametrize(
    "statement",
    ["report.user_properties.append(('name', object()))", "report.extras = [object()]", "report.sections = [object()]"],
)
def test_a_report_that_no_worker_can_send_is_no_green(write: Write, judged: Run, statement: str) -> None:
    pytest.importorskip("xdist")
    write({
        "test_a.py": TWO_GOOD,
        "conftest.py": f"""
            import pytest
            @pytest.hookimpl(wrapper=True)
            def pytest_runtest_makereport(item):
                report = yield
                if item.name == "test_two" and report.when == "call": {statement}
                return report
        """,
    })  # fmt: skip
    code, _, record = judged("-n1")
    assert (code, record["exit_code"], record["complete"]) in {(13, 0, False), (3, 3, False)}
    assert record["not_run"] == ["test_a.py::test_two"]
    assert "internal error" in record["incomplete_reason"]


def test_a_process_that_leaves_through_the_window_is_no_green(write: Write, judged: Run) -> None:
    write(RED)
    assert judged()[0] == 1
    write({"test_a.py": "import os\ndef test_good(): pass\ndef test_bad(): os._exit(0)\n"})
    code, text, record = judged()
    assert (code, record["exit_code"], record["complete"]) == (13, None, False)
    assert "the process ended with 0" in text
    assert (record["in_flight"], outcomes(record)) == ("test_a.py::test_bad", {"test_a.py::test_good": "passed"})
    write(RED)
    code, text, _ = judged()
    assert code == 1
    assert "a loop begins" not in text


def test_a_conftest_that_exits_with_0_is_13(write: Write, judged: Run) -> None:
    write({**RED, "conftest.py": "import sys\nsys.exit(0)\n"})
    code, text, record = judged()
    assert code == 13
    assert "conftest" in text
    assert not record.get("complete", False)


@pytest.mark.parametrize("text", ["import sys; sys.exit(0)", "raise ValueError"])
def test_a_run_that_cannot_begin_leaves_no_earlier_record(
    write: Write, pytester: pytest.Pytester, project: Path, text: str
) -> None:
    path = pytester.path / "record.json"
    write(GREEN)
    assert pytester.runpytest_subprocess(f"--fire-loop-record={path}").ret == 0
    assert json.loads(path.read_text())["complete"] is True
    write({"conftest.py": text})
    pytester.runpytest_subprocess(f"--fire-loop-record={path}")
    assert not path.exists() or json.loads(path.read_text())["complete"] is False


@pytest.mark.parametrize(
    "option",
    ["--setup-plan", "--setup-only", "--cache-show", "--help"],
)
def test_what_only_shows_something_is_no_run(write: Write, judged: Run, option: str) -> None:
    write(GREEN)
    code, text, record = judged(option)
    assert (code, record) == (0, {})
    assert "= fire-loop =" not in text


NOT_SHOWN = {
    "node-id": (["test_a.py::test_good"], RED),
    "other-file": (["test_b.py"], {**RED, "test_b.py": TWO_GOOD}),
    "all-skipped": ([], {"test_a.py": "import pytest\npytestmark = pytest.mark.skip\n" + TESTS}),
}


@pytest.mark.parametrize("name", NOT_SHOWN)
def test_a_zero_that_shows_less_ends_no_loop(write: Write, judged: Run, name: str) -> None:
    args, files = NOT_SHOWN[name]
    write(RED)
    assert "a loop begins" in judged()[1]
    write(files)
    assert judged(*args)[0] == 0
    write(RED)
    code, text, _ = judged()
    assert code == 1
    assert "a loop begins" not in text


def test_a_whole_green_run_ends_the_loop(write: Write, judged: Run) -> None:
    write(RED)
    assert "a loop begins" in judged()[1]
    write(GREEN)
    assert judged()[0] == 0
    write(RED)
    assert "a loop begins" in judged()[1]
