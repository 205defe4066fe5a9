"""A run that shows only a part: what it does not show is unknown, never removed and never fixed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

FILES = {
    "pytest.ini": "[pytest]\nmarkers = slow\n",
    "product.py": "value = 0\n",
    "test_a.py": """
        import pytest, product
        def test_good(): pass
        @pytest.mark.slow
        def test_bad(): assert product.value == 1
    """,
    "test_b.py": "import product\ndef test_good(): pass\ndef test_bad(): assert product.value == 1\n",
    "sub/test_c.py": "def test_good(): pass\n",
}
A_BAD, B_BAD = "test_a.py::test_bad", "test_b.py::test_bad"
ALL = {"test_a.py::test_good", A_BAD, "test_b.py::test_good", B_BAD, "sub/test_c.py::test_good"}
SHARDS = """
    def pytest_addoption(parser):
        parser.addoption("--{count}", type=int, dest="{dest}")
        parser.addoption("--{which}", type=int)
    def pytest_collection_modifyitems(config, items):
        count, which = config.option.{dest}, config.getoption("--{which}")
        if count: items[:] = [item for number, item in enumerate(items) if number % count == which % count]
"""
SPLIT = SHARDS.format(count="splits", dest="splits", which="group")
SHARD = SHARDS.format(count="num-shards", dest="num_shards", which="shard-id")


def node_ids(record: dict[str, Any]) -> set[str]:
    return {test["nodeid"] for test in record["tests"]}


def assert_nothing_taken_for_gone(record: dict[str, Any]) -> None:
    delta = record["delta"]
    assert {name: delta[name] for name in ("removed", "newly_passing", "added", "newly_failing", "newly_skipped")} == {
        "removed": [],
        "newly_passing": [],
        "added": [],
        "newly_failing": [],
        "newly_skipped": [],
    }


NARROWED = {
    "keyword": "-k good",
    "node-id": A_BAD,
    "file": "test_a.py",
    "last-failed": "--lf",
    "exitfirst": "-x",
    "shards": "--num-shards=2 --shard-id=0",
}


@pytest.mark.parametrize("name", NARROWED)
def test_a_narrowed_run_removes_and_fixes_nothing(write: Write, judged: Run, name: str) -> None:
    write({**FILES, "conftest.py": {"splits": SPLIT, "shards": SHARD}.get(name, "")})
    first_code, _, first = judged()
    assert (first_code, node_ids(first), first["partial"]) == (1, ALL, False)
    code, _, record = judged(*NARROWED[name].split())
    assert node_ids(record) < ALL
    assert (code, record["partial"]) == (record["exit_code"], True)
    assert_nothing_taken_for_gone(record)
    assert record["delta"]["still_failing"] == sorted(node_ids(record) & {A_BAD, B_BAD})
    _, _, after = judged()
    assert (node_ids(after), after["partial"]) == (ALL, False)
    assert_nothing_taken_for_gone(after)


@pytest.mark.parametrize("options", ["folder:sub", "--sw", "--splits=2 --group=1", "-m slow"])
def test_what_leaves_tests_out_is_partial(write: Write, run: Run, options: str) -> None:
    write({**FILES, "conftest.py": SPLIT})
    _, _, record = run(*options.removeprefix("folder:").split())
    assert node_ids(record) < ALL
    assert record["partial"] is True


@pytest.mark.parametrize("options", ["--ff --maxfail=0", "test_a.py test_b.py sub", "-n2"])
def test_what_leaves_no_test_out_is_no_narrowing(write: Write, judged: Run, options: str) -> None:
    pytest.importorskip("xdist")
    write(FILES)
    judged()
    code, _, record = judged(*options.split())
    assert (code, node_ids(record), record["partial"], record["complete"]) == (1, ALL, False, True)
    assert_nothing_taken_for_gone(record)
    assert record["delta"]["still_failing"] == [A_BAD, B_BAD]


@pytest.mark.parametrize(
    ("addopts", "options", "partial"),
    [
        ("-m 'not slow'", "", False),
        ("-m 'not slow'", "-m slow", True),
        ("-k good", "-k bad", True),
        ("--ignore-glob=*_b.py", "--ignore=test_a.py", True),
        ("--deselect=test_b.py::test_bad", "--deselect=test_a.py::test_bad", True),
        ("-vx", "", False),
        ("--import-mode=importlib", "-k good", True),
    ],
)
def test_only_what_the_projects_own_options_do_not_say_narrows(
    write: Write, run: Run, addopts: str, options: str, partial: bool
) -> None:
    write({**FILES, "pytest.ini": f"[pytest]\nmarkers = slow\naddopts = {addopts}\n"})
    _, _, record = run(*options.split())
    assert record["partial"] is partial


def test_the_environment_narrows_as_the_command_line_does(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(FILES)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k good")
    assert run()[2]["partial"] is True


@pytest.mark.parametrize("options", ["", "tests"])
def test_the_projects_own_folders_are_the_whole(write: Write, run: Run, options: str) -> None:
    write({"pytest.ini": "[pytest]\ntestpaths = tests\n", "tests/test_a.py": "def test_good(): pass\n"})
    code, _, record = run(*options.split())
    assert (code, record["collected"], record["partial"]) == (0, 1, False)


CUT_SHORT = {
    "broken-file": ({"test_b.py": "import nothing_of_that_name\n"}, ""),
    "broken-file-passed-over": ({"test_b.py": "def test_(:\n"}, "--continue-on-collection-errors"),
    "interrupt": ({"test_a.py": "def test_good(): raise KeyboardInterrupt\ndef test_bad(): pass\n"}, ""),
    "exit-0": ({"test_a.py": "import pytest\ndef test_good(): pytest.exit('no', 0)\ndef test_bad(): pass\n"}, ""),
    "lost-report": (
        {"conftest.py": f"def pytest_runtest_protocol(item): return item.nodeid == {B_BAD!r} or None\n"},
        "",
    ),
}


@pytest.mark.parametrize("name", CUT_SHORT)
def test_a_run_cut_short_removes_and_fixes_nothing(write: Write, judged: Run, name: str) -> None:
    files, options = CUT_SHORT[name]
    write({**FILES, "conftest.py": ""})
    judged()
    write(files)
    code, _, record = judged(*options.split())
    assert code in {1, 2, 13}
    assert (record["complete"], record["partial"]) == (False, False)
    assert_nothing_taken_for_gone(record)
    write({**FILES, "conftest.py": ""})
    _, _, after = judged()
    assert node_ids(after) == ALL
    assert_nothing_taken_for_gone(after)


def test_workers_that_collect_different_tests_remove_and_fix_nothing(write: Write, judged: Run) -> None:
    pytest.importorskip("xdist")
    write(FILES)
    judged("-n2")
    ids = "[os.environ.get('PYTEST_XDIST_WORKER', '')]"
    text = f"import os, pytest\n@pytest.mark.parametrize('worker', {ids})\ndef test_good(worker): pass\n"
    write({"test_a.py": text})
    code, _, record = judged("-n2")
    assert (code, record["complete"], record["tests"]) == (1, False, [])
    assert_nothing_taken_for_gone(record)


def test_a_process_that_died_removes_and_fixes_nothing(write: Write, judged: Run) -> None:
    write(FILES)
    judged()
    write({"test_a.py": "import os\ndef test_good(): os._exit(0)\n"})
    judged()
    write(FILES)
    assert_nothing_taken_for_gone(judged()[2])


def test_a_whole_run_names_what_was_deleted_added_and_fixed(write: Write, judged: Run) -> None:
    write(FILES)
    judged()
    write({"product.py": "value = 1\n", "test_a.py": "def test_new(): assert 0\ndef test_good(): pass\n"})
    _, _, record = judged()
    assert record["delta"]["removed"] == [A_BAD]
    assert record["delta"]["added"] == ["test_a.py::test_new"]
    assert record["delta"]["newly_passing"] == [B_BAD]


def test_a_look_at_a_part_between_two_runs_loses_no_progress(write: Write, judged: Run) -> None:
    write(FILES)
    judged()
    assert judged("-k", "good")[0] == 0
    write({"product.py": "value = 1\n"})
    code, _, record = judged()
    assert (code, record["delta"]["newly_passing"]) == (0, [A_BAD, B_BAD])
    assert record["score"] == 8


def test_ids_that_differ_in_each_run_are_neither_added_nor_removed(write: Write, judged: Run) -> None:
    write({
        "test_a.py": """
            import uuid, pytest
            class Thing: pass
            @pytest.mark.parametrize("thing", [Thing(), Thing()], ids=str)
            def test_address(thing): pass
            @pytest.mark.parametrize("name", [str(uuid.uuid4())])
            def test_uuid(name): pass
            @pytest.mark.parametrize("name", {"one", "two", "three"})
            def test_order(name): pass
            def test_bad(): assert 0
        """
    })  # fmt: skip
    judged()
    _, _, record = judged()
    assert record["collected"] == 7
    assert_nothing_taken_for_gone(record)


def test_runs_of_two_roots_are_not_compared(write: Write, judged: Run, project: Path) -> None:
    write(FILES)
    judged()
    _, _, record = judged("--rootdir=sub")
    assert (record["rootdir"], record["collected"]) == (str(project / "sub"), 5)
    delta = record.get("delta", {})
    assert (delta.get("removed", []), delta.get("added", []), delta.get("newly_passing", [])) == ([], [], [])


@pytest.mark.parametrize(
    ("options", "partial"),
    [
        ("-o python_files=test_a.py", True),
        ("-o python_functions=test_good", True),
        ("-o testpaths=sub", True),
        ("-o addopts=-kgood", True),
        ("-o addopts=", False),
        ("-o console_output_style=count", False),
        ("--pyargs sub", True),
    ],
)
def test_a_setting_given_for_once_narrows_where_it_decides_what_is_collected(
    write: Write, run: Run, options: str, partial: bool
) -> None:
    write({**FILES, "sub/__init__.py": ""})
    assert run(*options.split())[2]["partial"] is partial


def test_a_run_from_a_folder_of_the_project_shows_that_folder(
    write: Write, judged: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({**FILES, "sub/test_c.py": "import product\ndef test_c(): assert product.value == 1\n", "conftest.py": ""})
    judged()
    write({"product.py": "value = 1\n", "test_b.py": "def test_good(): assert 0\n"})
    monkeypatch.chdir(project / "sub")
    code, _, record = judged()
    assert (code, record["partial"], record["narrowed_by"]) == (0, True, ["paths"])
    monkeypatch.chdir(project)
    assert "a loop begins" not in judged()[1]


def test_folders_that_the_settings_name_by_a_pattern_are_the_whole(write: Write, run: Run) -> None:
    write({"pytest.ini": "[pytest]\ntestpaths = */tests\n", "a/tests/test_a.py": "def test_a(): pass\n"})
    write({"b/tests/test_b.py": "def test_b(): pass\n"})
    assert run()[2]["partial"] is False
    assert run("a/tests")[2]["partial"] is True
