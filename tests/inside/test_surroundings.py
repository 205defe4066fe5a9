"""The record is right whatever surrounds the tests: options, terminals, encodings, folders."""

from __future__ import annotations

import json
import os
import py_compile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

FILES = {
    "test_a.py": """
        def test_good(): print("→ ✓ é")
        def test_bad(tmp_path): assert "→" == "✓", "é \\x1b[31m"
    """
}
EXPECTED = {"test_a.py::test_good": "passed", "test_a.py::test_bad": "failed"}


def outcomes(record: dict[str, Any]) -> dict[str, str]:
    return {test["nodeid"]: test["outcome"] for test in record["tests"]}


def assert_right(code: int, record: dict[str, Any], expected: dict[str, str] = EXPECTED) -> None:
    assert outcomes(record) == expected
    assert (code, record["exit_code"], record["complete"], record["partial"]) == (1, 1, True, False)
    assert (record["collected"], record["incomplete_reason"]) == (len(expected), None)


OPTIONS = [
    "-p no:terminal",
    "-p no:cacheprovider -p no:stepwise",
    "-p no:junitxml -p no:pastebin -p no:doctest -p no:unittest -p no:xdist -p no:rerunfailures",
    "-p no:faulthandler -p no:warnings -p no:logging",
    "-s -W error",
    "-o faulthandler_timeout=5 -o console_output_style=count -o addopts=",
    "--import-mode=importlib --assert=plain --tb=no -qq",
    "--capture=tee-sys --color=yes --showlocals --full-trace -vv",
    "-p fireloop --junitxml=out/report.xml --cache-clear",
]


@pytest.mark.parametrize("options", OPTIONS)
def test_no_option_of_pytest_changes_the_record(write: Write, run: Run, options: str) -> None:
    write(FILES)
    code, _, record = run(*options.split())
    assert_right(code, record)


@pytest.mark.parametrize("options", ["-p no:terminal", "-p no:cacheprovider -s -W error"])
def test_no_option_of_pytest_keeps_the_referee_away(write: Write, judged: Run, options: str) -> None:
    write(FILES)
    assert judged(*options.split())[0] == 1
    code, text, record = judged(*options.split())
    assert_right(code, record)
    assert record["delta"]["still_failing"] == ["test_a.py::test_bad"]
    assert (record["score"], record["circuit"]["state"]) == (-5, "CLOSED")
    assert "switched off" not in text


ENVIRONMENTS = [
    {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "20"},
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONWARNINGS": "error", "PYTHONDEVMODE": "1"},
    {"PYTHONSAFEPATH": "1", "PYTHONHASHSEED": "7"},
]


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda environment: next(iter(environment)))
def test_no_terminal_or_encoding_changes_the_record(
    write: Write, judged: Run, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    write({**FILES, "é → product.py": "x = 1\n"})
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    code, text, record = judged()
    assert_right(code, record)
    assert "a loop begins" in text
    assert "switched off" not in text
    (failure,) = record["failures"]
    assert failure["message"].startswith("AssertionError: é \x1b[31m")


def test_a_finding_in_an_odd_file_is_told_on_a_narrow_terminal(
    write: Write, judged: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    odd = {"test_é→.py": "def test_one(): assert 1 == 1\n"}
    write({**FILES, **odd})
    judged()
    write({"test_é→.py": "def test_one(): pass\n"})
    code, text, record = judged()
    assert (code, record["complete"]) == (1, True)
    assert "assertion_removed in test_" in text
    assert "switched off" not in text


@pytest.mark.parametrize("plugin", ["fireloop", "pytest_fireloop.plugin"])
def test_the_plugin_can_be_named_where_none_is_loaded_by_itself(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch, plugin: str
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    write(FILES)
    code, _, record = run("-p", plugin)
    assert_right(code, record)


def test_a_project_that_switches_the_plugin_off_is_overruled_by_name(write: Write, run: Run) -> None:
    write({**FILES, "pytest.ini": "[pytest]\naddopts = -p no:fireloop\n"})
    code, text, record = run()
    assert (code, record) == (4, {})
    assert "unrecognized arguments: --fire-loop-record" in text
    code, _, record = run("-p", "fireloop")
    assert_right(code, record)


def test_rootdir_may_lie_elsewhere(write: Write, run: Run, project: Path) -> None:
    write(FILES)
    code, _, record = run(f"--rootdir={project.parent}")
    assert_right(code, record, {f"project/{nodeid}": said for nodeid, said in EXPECTED.items()})
    assert record["rootdir"] == str(project.parent)


@pytest.mark.parametrize("args", [[], ["--pyargs", "test_a"]], ids=["plain", "pyargs"])
def test_from_a_folder_below_ids_are_those_of_the_root(
    write: Write, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, args: list[str]
) -> None:
    write({"pytest.ini": "[pytest]\npythonpath = below\n", "below/test_a.py": FILES["test_a.py"]})
    monkeypatch.chdir(project / "below")
    code, _, record = run(*args)
    # what names of packages leave out is not known
    assert record.pop("partial") is bool(args)
    assert_right(code, {**record, "partial": False}, {f"below/{nodeid}": said for nodeid, said in EXPECTED.items()})
    assert record["rootdir"] == str(project)


def test_a_rootdir_that_cannot_be_written_changes_nothing(write: Write, run: Run, project: Path) -> None:
    if os.path.exists("/proc/self/attr") is False:
        pytest.skip("no read-only folder that root cannot write to")
    write(FILES)
    code, _, record = run("--rootdir=/proc/self", "-W", "ignore", "test_a.py")
    assert record["rootdir"] == "/proc/self"
    assert {nodeid.partition("::")[2]: said for nodeid, said in outcomes(record).items()} == {
        "test_good": "passed",
        "test_bad": "failed",
    }
    assert (code, record["complete"]) == (1, True)


def test_a_record_lands_where_pytest_was_started_in_folders_made_for_it(
    write: Write, pytester: pytest.Pytester, project: Path
) -> None:
    write({**FILES, "sub/keep.txt": "", "conftest.py": "import os\nos.chdir('sub')\n"})
    done = pytester.runpytest_subprocess("--fire-loop-record=missing/deeper/record.json", "test_a.py")
    assert int(done.ret) == 1
    assert (project / "missing" / "deeper" / "record.json").exists()
    assert outcomes(json.loads((project / "missing" / "deeper" / "record.json").read_text())) == EXPECTED


def test_a_record_over_a_folder_leaves_the_run_alone(write: Write, pytester: pytest.Pytester, project: Path) -> None:
    write({**FILES, "record.json/keep.txt": "mine"})
    done = pytester.runpytest_subprocess("--fire-loop-record=record.json")
    assert int(done.ret) == 1
    done.assert_outcomes(passed=1, failed=1)
    assert done.stderr.str().count("fire-loop: ") == 1
    assert [path.name for path in project.iterdir() if ".tmp" in path.name] == []


def test_an_earlier_record_is_not_taken_for_this_run(write: Write, pytester: pytest.Pytester, project: Path) -> None:
    path = pytester.path / "record.json"
    write({"test_a.py": "def test_good(): pass\n"})
    pytester.runpytest_subprocess(f"--fire-loop-record={path}")
    first = json.loads(path.read_text())
    write({"test_a.py": "import os\ndef test_good(): os._exit(0)\n"})
    pytester.runpytest_subprocess(f"--fire-loop-record={path}")
    second = json.loads(path.read_text())
    assert (first["complete"], second["complete"], second["exit_code"]) == (True, False, None)
    assert first["run_id"] != second["run_id"]


def test_a_record_alone_imports_nothing_but_what_runs_inside(write: Write, run: Run) -> None:
    allowed = "('pytest_fireloop', 'pytest_fireloop.plugin')"
    write({
        "test_a.py": f"""
            import sys
            def test_ours():
                ours = [name for name in sys.modules if name.startswith("pytest_fireloop")]
                assert [n for n in ours if n not in {allowed} and not n.startswith("pytest_fireloop.inside")] == []
            def test_others(): assert not {{"rich", "git", "coverage", "junitparser", "sqlite3"}} & set(sys.modules)
        """
    })  # fmt: skip
    code, _, record = run()
    assert (code, record["counts"]["passed"]) == (0, 2)


def test_a_module_of_byte_code_alone_is_imported_as_ever(write: Write, judged: Run, project: Path) -> None:
    write({"hidden.py": "value = 1\n", "test_a.py": "import hidden\ndef test_a(): assert hidden.value == 1\n"})
    py_compile.compile(str(project / "hidden.py"), cfile=str(project / "hidden.pyc"), doraise=True)
    (project / "hidden.py").unlink()
    assert judged()[0] == 0


def test_a_conftest_that_renames_reports_loses_none(write: Write, judged: Run) -> None:
    renames = """
        import pytest
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_makereport(item):
            report = yield
            report.nodeid = report.nodeid.encode("utf-8").decode("unicode_escape")
            return report
    """
    body = "import pytest\n@pytest.mark.parametrize('text', ['\u4e2d\u6587', 'b'])\ndef test_a(text): pass\n"
    write({"conftest.py": renames, "test_a.py": body})
    code, _, record = judged()
    assert (code, record["complete"], record["counts"]["passed"], record["not_run"]) == (0, True, 2, [])
