"""What the referee keeps from run to run: by environment and scope, flaky tests, runs that died, when a loop ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

RED = {"product.py": "value = 0\n", "tests/test_a.py": "import product\ndef test_a(): assert product.value == 1\n"}
BOTH = {
    **RED,
    "tests/test_b.py": "import product\ndef test_b(): assert product.value < 2\n",
    "test_c.py": "def test_c(): pass\n",
}


def test_each_environment_has_a_loop_of_its_own(write: Write, judged: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(RED)
    said = {}
    for name in ("py311", "py312"):
        monkeypatch.setenv("TOX_ENV_NAME", name)
        code, text, record = judged()
        said[name] = text.partition("a loop begins: ")[2].split()[0]
        assert (code, record["environment"], "delta" in record) == (1, name, False)
    assert said["py311"] != said["py312"]
    write({"product.py": "value = 1\n"})
    _, _, record = judged()
    assert record["delta"]["newly_passing"] == ["tests/test_a.py::test_a"]
    monkeypatch.setenv("TOX_ENV_NAME", "py311")
    _, text, record = judged()
    assert record["delta"]["newly_passing"] == ["tests/test_a.py::test_a"]
    assert said["py311"] in text


def test_environments_at_the_same_time_keep_apart(write: Write, project: Path, judged: Run) -> None:
    write(RED)
    state = f"--fire-loop-dir={project.parent / 'state'}"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--fire-loop", state]
    for expected in ("a loop begins", "iteration 1", "iteration 2"):
        runs = [
            subprocess.Popen(command, env={**os.environ, "TOX_ENV_NAME": name}, stdout=subprocess.PIPE, text=True)
            for name in ("one", "two", "three")
        ]
        texts = [process.communicate(timeout=120)[0] for process in runs]
        assert [expected in text for text in texts] == [True, True, True]
        assert not any("not judged" in text for text in texts)


def test_a_test_that_turns_twice_on_one_tree_is_flaky(write: Write, judged: Run, project: Path) -> None:
    # what decides lies outside the tree, as a service or a clock would
    switch = project.parent / "switch"
    write({"test_a.py": f"import os\ndef test_a(): assert os.path.exists({str(switch)!r})\ndef test_b(): assert 0\n"})
    flaky = "test_a.py::test_a"
    assert judged()[2].get("delta") is None
    switch.touch()
    _, _, record = judged()
    assert (record["delta"]["flaky"], record["delta"]["newly_passing"]) == ([flaky], [])
    write({"unrelated.py": "x = 1\n"})
    _, _, record = judged()
    assert record["delta"]["flaky"] == []  # one turn may have had a cause
    switch.unlink()
    _, _, record = judged()
    assert (record["delta"]["flaky"], record["delta"]["newly_failing"]) == ([flaky], [])
    write({"unrelated.py": "x = 2\n"})
    switch.touch()
    _, _, record = judged("--fire-loop-force")  # by now the circuit is open
    assert (record["delta"]["flaky"], record["delta"]["newly_passing"]) == ([flaky], [])


def test_a_loop_that_began_with_a_part_ends_with_it(write: Write, judged: Run) -> None:
    write(BOTH)
    code, text, record = judged("tests")
    assert (code, record["narrowed_by"], record["partial"]) == (1, ["paths"], True)
    assert "a loop begins" in text
    write({"product.py": "value = 1\n"})
    assert judged("tests/test_b.py")[0] == 0
    write({"product.py": "value = 0\n"})
    assert "a loop begins" not in judged("tests")[1]
    write({"product.py": "value = 1\n"})
    assert judged("tests")[0] == 0
    write({"product.py": "value = 0\n"})
    assert "a loop begins" in judged("tests")[1]


def test_a_whole_green_run_ends_a_loop_that_began_with_a_part(write: Write, judged: Run) -> None:
    write(BOTH)
    judged("tests/test_a.py")
    write({"product.py": "value = 1\n"})
    assert judged()[0] == 0
    write({"product.py": "value = 0\n"})
    assert "a loop begins" in judged()[1]


def test_a_loop_that_began_with_a_part_is_stuck_in_whole_runs_too(write: Write, judged: Run) -> None:
    write(BOTH)
    assert "a loop begins" in judged("-k", "test_a")[1]
    assert [judged()[0] for _ in range(4)] == [1, 1, 1, 10]


def test_a_run_that_was_killed_is_told_at_the_next(write: Write, judged: Run, project: Path) -> None:
    write({"test_a.py": "import time\ndef test_a(): pass\ndef test_hangs(): time.sleep(60)\n"})
    state = project.parent / "state"
    command = [sys.executable, "-m", "pytest", "--fire-loop", f"--fire-loop-dir={state}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not any(
            "test_hangs" in path.read_text() for path in state.glob("runs/*.json")
        ):
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    write({"test_a.py": "def test_a(): pass\n"})
    code, text, _ = judged()
    assert code == 0
    assert "the run before died in test_a.py::test_hangs after 1 of 2 tests; it is no iteration" in text
    assert list(state.glob("runs/*.json")) == []
    assert "the run before died" not in judged()[1]


def test_an_interrupted_run_is_no_iteration(write: Write, judged: Run) -> None:
    write(RED)
    judged()
    write({"tests/test_b.py": "def test_b(): raise KeyboardInterrupt\n"})
    code, text, _ = judged()
    assert (code, "iteration 1 of loop" in text) == (2, False)
    write({"tests/test_b.py": "def test_b(): pass\n"})
    assert "iteration 1 of loop" in judged()[1]


def test_the_junit_report_holds_the_sizes_of_the_delta(write: Write, judged: Run, project: Path) -> None:
    write(BOTH)
    judged()
    write({"product.py": "value = 1\n", "tests/test_d.py": "def test_d(): assert 0\n"})
    path = project.parent / "report.xml"
    judged(f"--junitxml={path}")
    (suite,) = ET.parse(path).getroot().iter("testsuite")
    found = {str(each.get("name")): each.get("value") for each in suite.iterfind("properties/property")}
    sizes = {name.removeprefix("fireloop."): value for name, value in found.items()}
    expected = {"newly_passing": "1", "newly_failing": "0", "still_failing": "0", "added": "1", "removed": "0"}
    assert {name: sizes[name] for name in expected} == expected
    assert (sizes["newly_skipped"], sizes["flaky"], sizes["iteration"]) == ("0", "0", "1")


def test_changes_are_told_against_the_run_before_and_the_start(write: Write, judged: Run) -> None:
    write(RED)
    judged()
    write({"product.py": "value = 2\n"})
    judged()
    write({"tests/test_a.py": RED["tests/test_a.py"] + "# said\n", "tests/data/a.json": "{}\n"})
    _, _, record = judged()
    assert record["changes"] == {
        "files": ["tests/data/a.json", "tests/test_a.py"],
        "source_lines": 0,
        "test_lines": 2,
        "test_fix_ratio": 1.0,
    }
    assert record["changes_since_start"] == {
        "files": ["product.py", "tests/data/a.json", "tests/test_a.py"],
        "source_lines": 2,
        "test_lines": 2,
        "test_fix_ratio": 0.5,
    }


def test_what_the_agent_commits_is_a_change_too(write: Write, judged: Run, project: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(project)]
    write(RED)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    judged()
    write({"product.py": "value = 2\n", "new.py": "x = 1\n"})
    subprocess.run([*git, "add", "product.py"], check=True)
    subprocess.run([*git, "commit", "-qm", "two"], check=True)
    assert judged()[2]["changes"]["files"] == ["new.py", "product.py"]


def test_without_git_on_the_path_the_tests_run_and_one_line_says_so(
    write: Write, judged: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(RED)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, text, record = judged()
    assert (code, record["complete"]) == (1, True)
    assert text.count("not judged") == 1
    assert "Traceback" not in text


def test_two_projects_never_share_a_loop(
    write: Write, judged: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({**RED, "other/pytest.ini": "[pytest]\n", "other/test_x.py": "def test_x(): assert 0\n"})
    assert "a loop begins" in judged()[1]
    monkeypatch.chdir(project / "other")
    code, text, _ = judged()
    assert code == 1
    assert "belongs to the tree" in text
    monkeypatch.chdir(project)
    assert "iteration 1 of loop" in judged()[1]
