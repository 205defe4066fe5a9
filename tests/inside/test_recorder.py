"""The record of one run, by real pytest in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

PROJECT = """
    import unittest
    import pytest

    def test_passes(): pass
    def test_fails(): assert 1 == 2
    @pytest.fixture
    def broken(): raise ValueError("in the fixture")
    def test_fixture(broken): pass
    @pytest.fixture
    def leaves():
        yield
        raise RuntimeError("in the teardown")
    def test_teardown(leaves): pass
    def test_call_and_teardown(leaves): assert 0
    @pytest.mark.skip
    def test_skipped(): pass
    @pytest.mark.xfail
    def test_xfails(): assert 0
    @pytest.mark.xfail(run=False)
    def test_not_even_run(): assert 0
    @pytest.mark.xfail
    def test_xpasses(): pass
    @pytest.mark.xfail(strict=True)
    def test_strict(): pass
    class TestUnit(unittest.TestCase):
        def test_parts(self):
            for number in range(3):
                with self.subTest(number=number):
                    self.assertNotEqual(number, 1)
    def test_parts(subtests):
        with subtests.test("first"): assert 0
        with subtests.test("second"): pass
"""
OUTCOMES = {
    "test_passes": "passed",
    "test_fails": "failed",
    "test_fixture": "error",
    "test_teardown": "error",
    "test_call_and_teardown": "failed",
    "test_skipped": "skipped",
    "test_xfails": "xfailed",
    "test_not_even_run": "xfailed",
    "test_xpasses": "xpassed",
    "test_strict": "failed",
    "TestUnit::test_parts": "failed",
    "test_parts": "failed",
}


def recorded(pytester: pytest.Pytester, *args: str) -> tuple[int, dict[str, Any]]:
    path = pytester.path / "record.json"
    done = pytester.runpytest_subprocess(f"--fire-loop-record={path}", *args)
    return int(done.ret), json.loads(path.read_text(encoding="utf-8"))


def test_an_outcome_is_the_worst_of_all_reports(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_all=PROJECT)
    code, record = recorded(pytester)
    assert {test["nodeid"].partition("::")[2]: test["outcome"] for test in record["tests"]} == OUTCOMES
    assert (code, record["exit_code"], record["complete"], record["partial"]) == (1, 1, True, False)
    assert record["counts"] == {"passed": 1, "failed": 5, "error": 2, "skipped": 1, "xfailed": 2, "xpassed": 1}
    assert record["schema"] == "fireloop.run/1"
    assert record["collected"] == 12


def test_xdist_gives_the_same_record(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(test_all=PROJECT, test_broken="import nothing_of_that_name")
    _, serial = recorded(pytester, "--continue-on-collection-errors")
    _, parallel = recorded(pytester, "-n2")

    def comparable(record: dict[str, Any]) -> dict[str, Any]:
        tests = {test["nodeid"]: (test["outcome"], test["signature"], test["cause"]) for test in record["tests"]}
        errors = [(error["path"], error["signature"]) for error in record["collection_errors"]]
        return {"tests": tests, "errors": errors, "counts": record["counts"], "collected": record["collected"]}

    assert comparable(serial) == comparable(parallel)
    assert [path for path, _ in comparable(serial)["errors"]] == ["test_broken.py"]


def test_reruns_count_and_the_last_attempt_decides(pytester: pytest.Pytester) -> None:
    pytest.importorskip("pytest_rerunfailures")
    pytester.makepyfile(
        """
        calls = []
        def test_second_time_lucky():
            calls.append(1)
            assert len(calls) == 2
        def test_never():
            assert False
        """
    )
    code, record = recorded(pytester, "--reruns=2")
    found = {test["nodeid"].partition("::")[2]: (test["outcome"], test["reruns"]) for test in record["tests"]}
    assert found == {"test_second_time_lucky": ("passed", 1), "test_never": ("failed", 2)}
    assert (code, record["complete"]) == (1, True)


def test_a_process_that_ends_early_leaves_a_readable_record(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import os
        def test_first(): pass
        def test_dies(): os._exit(0)
        def test_last(): pass
        """
    )
    code, record = recorded(pytester)
    assert code == 0
    assert (record["exit_code"], record["complete"]) == (None, False)
    assert record["in_flight"].endswith("::test_dies")
    assert [test["nodeid"].partition("::")[2] for test in record["tests"]] == ["test_first"]


def test_a_killed_process_leaves_a_readable_record(pytester: pytest.Pytester, tmp_path: Path) -> None:
    pytester.makepyfile("import time\ndef test_first(): pass\ndef test_hangs(): time.sleep(60)\n")
    path = tmp_path / "record.json"
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", f"--fire-loop-record={path}"], cwd=pytester.path, stdout=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if path.exists() and str(json.loads(path.read_text())["in_flight"]).endswith("::test_hangs"):
                break
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    record = json.loads(path.read_text())
    assert record["in_flight"].endswith("::test_hangs")
    assert [test["outcome"] for test in record["tests"]] == ["passed"]
    assert record["complete"] is False


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (
            {"conftest": "import pytest\ndef pytest_sessionfinish(session): session.exitstatus = 0"},
            "exit code 0 with 1 red",
        ),
        ({"test_zz": "import pytest\ndef test_ends(): pytest.exit('enough', returncode=0)"}, "ended early"),
    ],
)
def test_a_zero_over_red_tests_is_incomplete(pytester: pytest.Pytester, files: dict[str, str], reason: str) -> None:
    pytester.makepyfile(test_a="def test_bad(): assert 0", **files)
    code, record = recorded(pytester)
    assert code == 0
    assert record["complete"] is False
    assert reason in record["incomplete_reason"]


@pytest.mark.parametrize(
    ("args", "partial"),
    [
        ([], False),
        (["."], False),
        (["-k", "one"], True),
        (["-m", "slow"], True),
        (["test_a.py::test_one"], True),
        (["--lf"], True),
        (["-x"], True),
        (["--maxfail=3"], True),
        (["--deselect=test_a.py::test_two"], True),
        (["--ignore=test_b.py"], True),
    ],
)
def test_a_run_narrowed_on_purpose_is_partial(pytester: pytest.Pytester, args: list[str], partial: bool) -> None:
    pytester.makepyfile(test_a="def test_one(): pass\ndef test_two(): pass", test_b="def test_three(): pass")
    pytester.makeini("[pytest]\nmarkers = slow")
    _, record = recorded(pytester, *args)
    assert record["partial"] is partial


def test_the_projects_own_addopts_are_no_narrowing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\n@pytest.mark.slow\ndef test_slow(): pass\ndef test_fast(): pass")
    pytester.makeini("[pytest]\nmarkers = slow\naddopts = -m 'not slow'")
    _, record = recorded(pytester)
    assert (record["partial"], record["collected"], record["complete"]) == (False, 1, True)


@pytest.mark.parametrize("option", ["--collect-only", "--fixtures", "--setup-plan", "--markers"])
def test_what_runs_no_test_is_no_run(pytester: pytest.Pytester, option: str) -> None:
    pytester.makepyfile("def test_one(): pass")
    path = pytester.path / "record.json"
    pytester.runpytest_subprocess(f"--fire-loop-record={path}", option)
    assert not path.exists()


def test_surrogates_and_control_characters_are_kept_readable(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(r"def test_odd(): raise ValueError('\udcff \x1b[31m \x00')")
    path = pytester.path / "record.json"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", f"--fire-loop-record={path}"], capture_output=True, check=False
    )
    record = json.loads(path.read_text(encoding="utf-8"))
    assert done.returncode == 1
    (failure,) = record["failures"]
    assert failure["exception"] == "ValueError"
    assert "\udcff" in failure["message"]


def test_without_our_options_nothing_of_ours_is_imported_but_the_hook_specification(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys
        def test_modules():
            assert sorted(name for name in sys.modules if name.startswith("pytest_fireloop")) == [
                "pytest_fireloop", "pytest_fireloop.inside", "pytest_fireloop.inside.hookspecs",
                "pytest_fireloop.plugin"]
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_switched_off_by_the_environment(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRELOOP", "0")
    pytester.makepyfile("def test_one(): pass")
    path = pytester.path / "record.json"
    pytester.runpytest_subprocess(f"--fire-loop-record={path}").assert_outcomes(passed=1)
    assert not path.exists()


def test_a_folder_that_cannot_be_written_leaves_the_run_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): pass")
    done = pytester.runpytest_subprocess(f"--fire-loop-record={os.devnull}/below/record.json")
    done.assert_outcomes(passed=1)
    assert done.ret == 0
    assert "fire-loop: switched off by a fault of its own (" in done.stderr.str()


@pytest.mark.parametrize("args", [(), ("-n1",)], ids=["plain", "xdist"])
def test_a_folder_takes_a_record_of_each_environment(tmp_path: Path, args: tuple[str, ...]) -> None:
    if args:
        pytest.importorskip("xdist")
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    folder = tmp_path / "records"
    for name in ("py311", "odd/name"):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--fire-loop-record={folder}{os.sep}"]
        environment = {**os.environ, "TOX_ENV_NAME": name}
        folder.mkdir(exist_ok=True)
        assert subprocess.run([*command, *args], cwd=tmp_path, env=environment, check=False).returncode == 0
    records = [json.loads(path.read_text()) for path in sorted(folder.iterdir())]
    assert [(record["environment"], record["exit_code"]) for record in records] == [("odd/name", 0), ("py311", 0)]
