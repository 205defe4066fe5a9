"""Tests that run more than once in a run: the last attempt decides, the worst word of it counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

RERUNS = """
    import pytest
    calls = []
    def second_time(name):
        calls.append(name)
        return calls.count(name) == 2
    @pytest.fixture
    def late():
        if not second_time("setup"): raise ValueError("setup")
    @pytest.fixture
    def early():
        yield
        if not second_time("teardown"): raise ValueError("teardown")
    def test_call(): assert second_time("call")
    def test_setup(late): pass
    def test_teardown(early): pass
    def test_never(): assert 0
    def test_at_once(): pass
    def test_skipped(): pytest.skip("not here")
    def test_skipped_in_the_end():
        assert second_time("skip")
        pytest.skip("not here")
"""
LAST_WORDS = {
    "test_call": ("passed", 1),
    "test_setup": ("passed", 1),
    "test_teardown": ("passed", 1),
    "test_never": ("failed", 2),
    "test_at_once": ("passed", 0),
    "test_skipped": ("skipped", 0),
    "test_skipped_in_the_end": ("skipped", 1),
}


@pytest.mark.parametrize("args", [[], ["-n2"], ["-p", "no:terminal"]], ids=["plain", "xdist", "no-terminal"])
def test_the_last_attempt_decides(write: Write, run: Run, args: list[str]) -> None:
    pytest.importorskip("pytest_rerunfailures")
    pytest.importorskip("xdist")
    write({"test_a.py": RERUNS})
    code, _, record = run("--reruns=2", *args)
    found = {test["nodeid"].partition("::")[2]: (test["outcome"], test["reruns"]) for test in record["tests"]}
    assert found == LAST_WORDS
    assert (code, record["complete"], record["collected"]) == (1, True, 7)
    assert [failure["nodeids"] for failure in record["failures"]] == [["test_a.py::test_never"]]


def test_what_only_a_rerun_made_pass_is_flaky(write: Write, judged: Run) -> None:
    pytest.importorskip("pytest_rerunfailures")
    write({"test_a.py": RERUNS})
    judged("--reruns=2")
    _, _, record = judged("--reruns=2")
    assert record["delta"]["flaky"] == [f"test_a.py::test_{name}" for name in ("call", "setup", "teardown")]
    assert record["delta"]["still_failing"] == ["test_a.py::test_never"]


def test_fail_on_flaky_keeps_its_own_exit_code(write: Write, judged: Run) -> None:
    pytest.importorskip("pytest_rerunfailures")
    write({"test_a.py": "calls = []\ndef test_call():\n    calls.append(1)\n    assert len(calls) == 2\n"})
    code, _, record = judged("--reruns=2", "--fail-on-flaky")
    assert (code, record["exit_code"]) == (7, 7)
    assert record["counts"] == {"passed": 1, "failed": 0, "error": 0, "skipped": 0, "xfailed": 0, "xpassed": 0}


@pytest.mark.parametrize(
    ("red", "said"), [(1, ["failed", "passed"]), (2, ["passed", "failed"]), (3, ["passed", "passed"])]
)
def test_a_file_given_twice_gives_two_tests(write: Write, run: Run, red: int, said: list[str]) -> None:
    write({"test_a.py": f"calls = []\ndef test_one():\n    calls.append(1)\n    assert len(calls) != {red}\n"})
    code, _, record = run("--keep-duplicates", "test_a.py", "test_a.py")
    names = ["test_a.py::test_one", "test_a.py::test_one#2"]
    assert [(test["nodeid"], test["outcome"]) for test in record["tests"]] == list(zip(names, said, strict=True))
    assert (code, record["collected"], record["complete"]) == (int("failed" in said), 2, True)


def test_a_test_that_xdist_runs_on_each_worker_shows_the_worst(write: Write, run: Run) -> None:
    pytest.importorskip("xdist")
    write({"test_a.py": "import os\ndef test_one(): assert os.environ['PYTEST_XDIST_WORKER'] != 'gw0'\n"})
    code, _, record = run("-n2", "--dist=each")
    assert [(test["nodeid"], test["outcome"]) for test in record["tests"]] == [("test_a.py::test_one", "failed")]
    assert (code, record["complete"], record["collected"]) == (1, True, 1)
