"""`pytest --fire-loop`, run by run, in processes of its own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BROKEN = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
TESTS = "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\ndef test_zero():\n    assert calc.add(0, 0) == 0\n"
Run = Callable[..., tuple[int, str, dict[str, Any]]]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    tree.mkdir()
    (tree / "calc.py").write_text(BROKEN)
    (tree / "test_calc.py").write_text(TESTS)
    return tree


@pytest.fixture
def run(tree: Path) -> Run:
    record = tree.parent / "record.json"

    def run(*args: str) -> tuple[int, str, dict[str, Any]]:
        record.unlink(missing_ok=True)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "--fire-loop",
            f"--fire-loop-record={record}",
        ]
        done = subprocess.run([*command, *args], cwd=tree, capture_output=True, text=True, check=False)
        text = done.stdout + done.stderr
        return done.returncode, text, json.loads(record.read_text()) if record.exists() else {}

    return run


def fireloop(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop", *words]
    environment = {"PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(
        command, cwd=tree, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_a_loop_from_red_to_green(tree: Path, run: Run) -> None:
    code, text, record = run()
    assert code == 1
    assert "a loop begins" in text
    assert "delta" not in record
    assert "the first run here: there is none to compare it with" in text
    (tree / "calc.py").write_text(FIXED)
    code, text, record = run()
    assert code == 0
    assert record["delta"]["newly_passing"] == ["test_calc.py::test_add"]
    assert record["changes"] == {"files": ["calc.py"], "source_lines": 2, "test_lines": 0, "test_fix_ratio": 0.0}
    assert (record["score"], record["health"], record["level"]) == (5, "PROGRESS", "healthy")
    assert record["circuit"]["state"] == "CLOSED"
    assert "1 newly passing" in text
    assert "score +5" in text
    code, text, _ = run()
    assert code == 0
    assert "score" not in text
    (tree / "calc.py").write_text(BROKEN)
    assert "a loop begins" in run()[1]


def test_a_stuck_loop_opens_the_circuit_and_refuses_to_run(tree: Path, run: Run) -> None:
    codes = [run()[0] for _ in range(3)]
    assert codes == [1, 1, 1]
    code, text, record = run()
    assert code == 10
    assert "CIRCUIT OPEN: no_progress" in text
    assert record["circuit"]["state"] == "OPEN"
    assert record["exit_code"] == 1
    code, text, record = run()
    assert (code, record) == (10, {})
    assert "the circuit is open (no_progress); no test was run" in text
    assert "test_add" not in text
    code, text, _ = run("--fire-loop-force")
    assert code == 1
    assert fireloop(tree, "status", "--json").returncode == 0
    status = json.loads(fireloop(tree, "status", "--json").stdout)
    assert (status["circuit"]["state"], status["verdict"]) == ("OPEN", "open")
    assert fireloop(tree, "reset").returncode == 0
    assert "circuit_open" in fireloop(tree, "history").stdout
    code, text, _ = run()
    assert code == 1
    assert "a loop begins" in text


def test_a_live_loop_replays_to_the_same_decisions(tree: Path, run: Run) -> None:
    records = [run()[2]]
    for text in (BROKEN + "\nX = 1\n", BROKEN + "\nY = 2\n", FIXED):
        (tree / "calc.py").write_text(text)
        records.append(run()[2])
    loop_id = json.loads(fireloop(tree, "history", "--json").stdout)["loops"][0]["loop_id"]
    replayed = json.loads(fireloop(tree, "replay", loop_id, "--json").stdout)["iterations"]
    names = ("score", "window_score", "health", "level")
    assert [[row[name] for name in names] for row in replayed] == [[r[name] for name in names] for r in records[1:]]
    assert [row["circuit"] for row in replayed] == [record["circuit"]["state"] for record in records[1:]]


@pytest.mark.parametrize("args", [["-k", "zero"], ["test_calc.py::test_zero"], ["--deselect=test_calc.py::test_add"]])
def test_a_partial_run_is_never_believed_and_removes_nothing(tree: Path, run: Run, args: list[str]) -> None:
    run()
    code, _, record = run(*args)
    assert (code, record["partial"]) == (0, True)
    assert record["delta"]["removed"] == []
    assert record["delta"]["newly_passing"] == []
    status = json.loads(fireloop(tree, "status", "--json").stdout)
    assert (status["verdict"], status["iterations"]) == ("open", 0)


def test_a_zero_that_cannot_be_believed_is_13(tree: Path, run: Run) -> None:
    (tree / "conftest.py").write_text("def pytest_sessionfinish(session):\n    session.exitstatus = 0\n")
    code, text, _ = run()
    assert code == 13
    assert "this green cannot be believed: exit code 0 with 1 red test" in text


@pytest.mark.parametrize(("option", "expected"), [("warn", 0), ("forbid", 13)])
def test_weakened_tests_are_told(tree: Path, run: Run, option: str, expected: int) -> None:
    run()
    (tree / "test_calc.py").write_text(TESTS.replace("    assert calc.add(2, 3) == 5\n", "    pass\n"))
    code, text, _ = run(f"--fire-loop-test-edits={option}")
    assert code == expected
    assert "blocker: assertion_removed in test_calc.py:4" in text
    code, text, _ = run(f"--fire-loop-test-edits={option}")
    assert code == expected
    assert "blocker: assertion_removed in test_calc.py:4" in text


@pytest.mark.parametrize(
    ("args", "expected"), [(["--no-such-option"], 4), (["absent.py"], 4), (["-k", "nothing_at_all"], 5)]
)
def test_other_exit_codes_stay(run: Run, args: list[str], expected: int) -> None:
    assert run(*args)[0] == expected


def test_inside_a_loop_of_the_runner_nothing_is_judged(tree: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRELOOP_LOOP", "x")
    code, text, _ = run()
    assert code == 1
    assert "inside a loop of fireloop-test" in text
    assert fireloop(tree, "status").returncode == 4


def _newer(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("file is not a database", lambda path: path.write_bytes(b"no database" * 100)),
        ("it is empty", Path.touch),
        ("it is a folder", Path.mkdir),
        ("it is a named pipe", os.mkfifo),
        ("it is a link to 'nowhere', which is not there", lambda path: path.symlink_to("nowhere")),
        ("of a newer version (99)", _newer),
    ],
)
def test_what_is_no_journal_of_ours_fails_closed_and_a_reset_moves_it_aside(
    tree: Path, run: Run, monkeypatch: pytest.MonkeyPatch, kind: str, make: Callable[[Path], object]
) -> None:
    state = tree.parent / "state"
    monkeypatch.setenv("FIRELOOP_DIR", str(state))
    state.mkdir()
    make(state / "journal.sqlite")
    before = (state / "journal.sqlite").lstat()
    for _ in range(2):
        code, text, record = run()
        assert (code, record) == (10, {})
        assert kind in text
        assert "the circuit stays open until it is mended" in text
    assert f"`fireloop reset --fire-loop-dir {state}`" in text
    done = fireloop(tree, "reset", "--fire-loop-dir", str(state))
    assert (done.returncode, done.stderr) == (0, ""), done
    (kept,) = state.glob("journal.*-*")
    assert f"kept as {kept}\n" in done.stdout
    assert kept.lstat().st_ino == before.st_ino
    assert run()[0] == 1


def test_nothing_but_the_view_lies_in_the_tree(tree: Path, run: Run) -> None:
    run()
    assert {path.name for path in tree.iterdir()} - {"__pycache__"} == {"calc.py", "test_calc.py"}


def test_xdist_is_judged_alike(tree: Path, run: Run) -> None:
    pytest.importorskip("xdist")
    run("-n2")
    (tree / "calc.py").write_text(FIXED)
    code, _, record = run("-n2")
    assert (code, record["score"]) == (0, 5)


@pytest.mark.parametrize(("option", "expected"), [("warn", 0), ("forbid", 13)])
def test_what_lies_beside_the_tests_is_compared_too(tree: Path, run: Run, option: str, expected: int) -> None:
    run()
    (tree / "calc.py").write_text("def add(a, b):\n    return 5 if (a, b) == (2, 3) else a - b\n")
    (tree / "rich.py").write_text("")
    (tree / "extra.pyc").write_bytes(b"code")
    code, text, _ = run(f"--fire-loop-test-edits={option}")
    assert code == expected
    for found in ("blocker: byte_code_added in extra.pyc", "blocker: shadowing_module in rich.py"):
        assert found in text
    assert "warning: special_case in calc.py:2" in text


def test_a_test_that_is_taken_out_elsewhere_is_told(tree: Path, run: Run) -> None:
    run()
    (tree / "conftest.py").write_text("def pytest_itemcollected(item):\n    item.add_marker('skip')\n")
    code, text, _ = run()
    assert code == 0
    assert "blocker: test_skipped in test_calc.py" in text


def test_forbid_means_any_edit(tree: Path, run: Run) -> None:
    run()
    (tree / "test_calc.py").write_text(TESTS.replace("== 5", "== -1"))
    assert run("--fire-loop-test-edits=warn")[0] == 0
    (tree / "test_calc.py").write_text(TESTS)
    run()
    (tree / "test_calc.py").write_text(TESTS.replace("== 5", "== -1"))
    assert run("--fire-loop-test-edits=forbid")[0] == 13


def test_the_home_folder_is_not_stored(tree: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tree))
    code, text, _ = run()
    assert code == 1
    assert "this run is not judged" in text
    assert "is no project" in text


@pytest.mark.parametrize("args", [(), ("-n1",)], ids=["plain", "xdist"])
def test_an_edit_of_the_same_size_in_the_same_second_is_run(tree: Path, run: Run, args: tuple[str, ...]) -> None:
    if args:
        pytest.importorskip("xdist")
    path, test = tree / "calc.py", tree / "test_calc.py"
    for expected, product, tests in ((1, BROKEN, TESTS), (0, FIXED, TESTS), (1, FIXED, TESTS.replace("== 5", "== 6"))):
        path.write_text(product)
        test.write_text(tests)
        # the second in which all byte code is written
        for each in (path, test):
            os.utime(each, (2**31, 2**31))
        assert run(*args)[0] == expected


def test_a_state_folder_of_another_tree_is_refused_by_every_command(
    tree: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRELOOP_DIR", str(tree.parent / "shared"))
    run()
    other = tree.parent / "other"
    other.mkdir()
    (other / "calc.py").write_text("precious\n")
    for words in (["status"], ["history"], ["log"], ["diff"], ["restore", "0"], ["reset"], ["prune"], ["resume"]):
        done = fireloop(other, *words)
        assert (done.returncode, done.stderr.count("\n")) == (4, 1), words
        assert "belongs to the tree" in done.stderr
    assert (other / "calc.py").read_text() == "precious\n"
    assert sorted(path.name for path in other.iterdir()) == ["calc.py"]
