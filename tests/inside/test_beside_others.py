"""Beside what else looks at a run: reports, tracers, orders of tests, other runs, other plugins."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

FILES = {"test_a.py": "def test_good(): pass\ndef test_bad(): assert 0\n", "test_b.py": "def test_good(): pass\n"}


def outcomes(record: dict[str, Any]) -> dict[str, str]:
    return {test["nodeid"]: test["outcome"] for test in record["tests"]}


@pytest.mark.parametrize("args", [[], ["-n2"]], ids=["plain", "xdist"])
def test_the_junit_report_says_what_the_judge_said(write: Write, judged: Run, project: Path, args: list[str]) -> None:
    pytest.importorskip("xdist")
    write(FILES)
    path = project.parent / "report.xml"
    judged(f"--junitxml={path}", *args)
    _, _, record = judged(f"--junitxml={path}", *args)
    (suite,) = ET.parse(path).getroot().iter("testsuite")
    properties = {each.get("name"): each.get("value") for each in suite.iterfind("properties/property")}
    said = {name.rpartition("fireloop")[2].strip("._-"): value for name, value in properties.items() if name}
    assert said["score"] == str(record["score"])
    assert said["health"] == record["health"]
    assert said["circuit"] == record["circuit"]["state"]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")


def test_a_record_alone_leaves_the_junit_report_as_it_is(write: Write, run: Run, project: Path) -> None:
    write(FILES)
    path = project.parent / "report.xml"
    run(f"--junitxml={path}")
    assert "fireloop" not in path.read_text()


def test_no_tracer_is_started_and_a_running_one_is_left(write: Write, judged: Run, project: Path) -> None:
    pytest.importorskip("coverage")
    write({"test_a.py": "import sys, wares\ndef test_good(): assert wares.value() == 1 and not sys.gettrace()\n"})
    write({"wares.py": "def value():\n    return 1\n"})
    assert judged()[0] == 0
    data = project.parent / "coverage.data"
    command = [sys.executable, "-m", "coverage", "run", f"--data-file={data}", "--include=wares.py", "-m", "pytest"]
    write({"test_a.py": "import wares\ndef test_good(): assert wares.value() == 1\n"})
    state = project.parent / "state"
    done = subprocess.run([*command, "--fire-loop", f"--fire-loop-dir={state}"], capture_output=True, check=False)
    report = [sys.executable, "-m", "coverage", "report", f"--data-file={data}", "--format=total"]
    assert (done.returncode, subprocess.check_output(report, text=True).strip()) == (0, "100")


def test_another_order_of_the_tests_is_no_change(write: Write, judged: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    turned = "import os\ndef pytest_collection_modifyitems(items):\n    if 'TURNED' in os.environ: items.reverse()\n"
    write({**FILES, "conftest.py": turned})
    judged()
    monkeypatch.setenv("TURNED", "1")
    _, _, record = judged()
    assert record["tests"][0]["nodeid"] == "test_b.py::test_good"
    assert {name: nodes for name, nodes in record["delta"].items() if nodes} == {
        "still_failing": ["test_a.py::test_bad"]
    }


def test_runs_at_the_same_time_neither_wait_for_ever_nor_lose_a_result(write: Write, project: Path) -> None:
    write(FILES)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--fire-loop"]
    state = f"--fire-loop-dir={project.parent / 'state'}"
    runs = [
        subprocess.Popen([*command, state], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(4)
    ]
    said = [process.communicate(timeout=60)[0] for process in runs]
    assert {process.returncode for process in runs} <= {1, 10}
    assert [text for text in said if "locked" in text or "switched off" in text or "not judged" in text] == []
    assert sum("a loop begins" in text for text in said) >= 1
    again = subprocess.run([*command, state], capture_output=True, text=True, check=False)
    assert again.returncode in {1, 10}
    assert "a loop begins" not in again.stdout


@pytest.mark.parametrize("name", ["mute", "loud"])
def test_reports_that_other_plugins_add_or_change_do_no_harm(write: Write, judged: Run, name: str) -> None:
    plugins = {
        "mute": "def pytest_report_teststatus(report): return ('', '', '')\n",
        "loud": """
            import pytest
            @pytest.hookimpl(wrapper=True)
            def pytest_runtest_makereport(item):
                report = yield
                report.nodes, report.extras, report.duration = [item], object(), 0.5
                report.sections.append(("noise", "\\udcff" * 1000))
                return report
        """,
    }
    write({**FILES, "conftest.py": plugins[name]})
    code, text, record = judged()
    assert (code, record["complete"]) == (1, True)
    assert outcomes(record) == {
        "test_a.py::test_good": "passed",
        "test_a.py::test_bad": "failed",
        "test_b.py::test_good": "passed",
    }
    assert "switched off" not in text


def test_the_state_survives_what_cleans_the_tree(write: Write, judged: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(FILES)
    judged()
    code, _, record = judged("--cache-clear")
    assert (code, record["delta"]["still_failing"]) == (1, ["test_a.py::test_bad"])
    assert not [name for name in os.listdir(".pytest_cache") if "fire" in name]
