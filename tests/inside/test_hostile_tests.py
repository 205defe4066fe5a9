"""Tests that change the process they run in, for a moment or for good: the record is right nonetheless."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

AFTER = "\ndef test_zz_good(): pass\ndef test_zz_bad(): assert 1 == 2\n"
EXPECTED = {"test_first": "passed", "test_zz_good": "passed", "test_zz_bad": "failed"}

#: What a test, or the import of its file, does to the process for good.
CHANGES = {
    "environment": "os.environ.clear()",
    "process": "sys.path[:] = []; sys.path_importer_cache.clear(); sys.setrecursionlimit(250)",
    "folder": "os.chdir('/')",
    "folder-gone": "gone = tempfile.mkdtemp(); os.chdir(gone); os.rmdir(gone)",
    "stdout": "sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = io.StringIO(); sys.stdout.close()",
    "time": "time.time = time.perf_counter = time.monotonic = lambda: 0.0",
    "open": "builtins.open = refuse",
    "os-write": "os.write = os.pwrite = os.replace = os.rename = refuse",
    "json": "json.dumps = json.dump = json.loads = refuse",
    "modules": "[sys.modules.pop(name, None) for name in ('json', 'time', 'platform', 'hashlib', 'linecache')]",
    "random": "os.urandom = refuse; os.getpid = lambda: 1; os.getcwd = refuse",
}
HEAD = """import builtins, hashlib, io, json, os, sys, tempfile, time
def refuse(*args, **kwargs): raise OSError("refused by the test")
"""


def outcomes(record: dict[str, Any]) -> dict[str, str]:
    return {test["nodeid"].partition("::")[2]: test["outcome"] for test in record["tests"]}


#: Changes that may break the end of the session, which leaves with an exception: where a plugin imports something then.
BREAKS_THE_END = frozenset({"process", "random"})


def assert_right(code: int, record: dict[str, Any], *, whole: bool = True) -> None:
    assert outcomes(record) == EXPECTED
    assert (code, record["exit_code"], record["collected"]) == (1, 1, 3)
    assert record["complete"] or not whole
    assert record["complete"] is not str(record["incomplete_reason"]).startswith("the end of the session failed: ")
    (failure,) = record["failures"]
    assert failure["message"].startswith(("assert 1 == 2", "AssertionError: assert 1 == 2"))
    assert failure["location"] == "test_a.py:6"
    assert 0 <= record["duration_s"] < 60


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_test_changes_for_good_changes_no_record(write: Write, run: Run, name: str) -> None:
    write({"test_a.py": f"{HEAD}def test_first():\n    {CHANGES[name]}{AFTER}"})
    code, _, record = run("-p", "no:cacheprovider")
    assert_right(code, record, whole=name not in BREAKS_THE_END)


@pytest.mark.parametrize("name", ["environment", "folder", "time", "open", "os-write", "json", "stdout", "random"])
def test_what_an_import_changes_for_good_changes_no_verdict(write: Write, judged: Run, name: str) -> None:
    write({"test_a.py": f"{HEAD}{CHANGES[name]}\ndef test_first(): pass{AFTER}"})
    code, text, record = judged("-p", "no:cacheprovider")
    assert "switched off" not in text
    assert_right(code, record, whole=name not in BREAKS_THE_END)
    assert "a loop begins" in text


@pytest.mark.parametrize("name", ["environment", "json"])
def test_what_a_test_changes_in_a_worker_changes_no_record(write: Write, run: Run, name: str) -> None:
    pytest.importorskip("xdist")
    write({"test_a.py": f"{HEAD}def test_first():\n    {CHANGES[name]}{AFTER}"})
    code, _, record = run("-n1", "-p", "no:cacheprovider")
    assert_right(code, record)


def test_what_a_test_patches_for_its_own_time_changes_no_record(write: Write, run: Run) -> None:
    patches = ["os.write", "os.pwrite", "os.replace", "os.fsync", "json.dumps", "json.dump", "builtins.open"]
    patches += ["time.time", "time.perf_counter", "time.strftime", "os.getcwd", "os.path.abspath", "os.path.relpath"]
    lines = "".join(f"    monkeypatch.setattr({each!r}, refuse)\n" for each in patches)
    write({"test_a.py": f"{HEAD}def test_first(monkeypatch):\n{lines}{AFTER}"})
    code, _, record = run()
    assert outcomes(record) == EXPECTED
    assert (code, record["complete"], record["counts"]["failed"]) == (1, True, 1)


def test_a_failure_under_patches_keeps_its_signature(write: Write, run: Run) -> None:
    body = "    monkeypatch.setattr('json.dumps', refuse)\n    monkeypatch.setattr('os.path.relpath', refuse)\n"
    write({"test_a.py": f"{HEAD}def test_bad(monkeypatch):\n    pass\n    pass\n    assert 1 == 2\n"})
    (plain,) = run()[2]["failures"]
    write({"test_a.py": f"{HEAD}def test_bad(monkeypatch):\n{body}    assert 1 == 2\n"})
    (patched,) = run()[2]["failures"]
    assert patched == plain


@pytest.mark.parametrize("end", [64, 5000])
def test_a_test_that_closes_every_file_writes_into_none_of_the_users(
    write: Write, run: Run, project: Path, end: int
) -> None:
    takes = (
        f"    os.closerange(3, {end})\n    global kept\n    kept = [open(f'user{{n}}.txt', 'w') for n in range(9)]\n"
    )
    wrote = "    [file.write('mine') for file in kept]\n    [file.flush() for file in kept]\n"
    write({"test_a.py": f"{HEAD}def test_first():\n{takes}{wrote}{AFTER}"})
    code, _, record = run("-s", "-p", "no:faulthandler", "-p", "no:cacheprovider")
    assert {path.read_text() for path in project.glob("user*.txt")} == {"mine"}
    assert (code, outcomes(record)) == (1, EXPECTED)


def test_a_child_that_runs_on_does_not_speak_for_the_run(write: Write, run: Run) -> None:
    forks = "    child = os.fork()\n    if child == 0: raise ValueError('in the child')\n    os.waitpid(child, 0)\n"
    write({"test_a.py": f"{HEAD}def test_first():\n{forks}{AFTER}"})
    code, _, record = run()
    assert_right_but_place(code, record)


def assert_right_but_place(code: int, record: dict[str, Any]) -> None:
    assert outcomes(record) == EXPECTED
    assert (code, record["exit_code"], record["complete"], len(record["failures"])) == (1, 1, True, 1)


def test_a_record_that_a_test_removes_is_written_again(write: Write, run: Run, project: Path) -> None:
    write({"test_a.py": f"{HEAD}def test_first(): os.remove({str(project.parent / 'record.json')!r}){AFTER}"})
    code, _, record = run()
    assert_right_but_place(code, record)


def test_a_full_disk_leaves_result_and_exit_code_alone(write: Write, pytester: pytest.Pytester, project: Path) -> None:
    full = "    import resource\n    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))\n"
    write({"test_a.py": f"{HEAD}def test_first():\n{full}{AFTER}"})
    path = project.parent / "record.json"
    plain = pytester.runpytest_subprocess("-s", "-p", "no:cacheprovider")
    done = pytester.runpytest_subprocess(f"--fire-loop-record={path}", "-s", "-p", "no:cacheprovider")
    # where its own output goes to a file, Python cannot flush it and ends with 120
    assert int(done.ret) == int(plain.ret) != 0
    assert not path.exists() or json.loads(path.read_text())["complete"] is False


def test_text_of_any_size_is_capped(write: Write, run: Run, project: Path) -> None:
    write({
        "test_a.py": """
            import pytest
            def test_long(): raise ValueError("x" * 5_000_000)
            def test_printed():
                print("y" * 5_000_000)
                assert 0
            @pytest.mark.parametrize("number", range(3))
            def test_chain(number):
                try: raise KeyError("z" * 5_000_000)
                except KeyError: raise ValueError("w" * 5_000_000)
        """
    })  # fmt: skip
    code, _, record = run("--tb=no")
    assert (code, record["counts"]["failed"], record["complete"]) == (1, 5, True)
    assert max(len(failure["message"]) for failure in record["failures"]) <= 4_100
    assert os.path.getsize(project.parent / "record.json") < 50_000


@pytest.mark.parametrize("judge", [False, True], ids=["record", "referee"])
def test_surrogates_and_control_characters_anywhere_leave_a_readable_record(
    write: Write, run: Run, judged: Run, project: Path, judge: bool
) -> None:
    ini = "[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = true\n"
    text = """
        import pytest
        @pytest.mark.parametrize("text", ["\\udcff", "\\x1b[31m", "\\u202e", "\\x07", "a\\nb"])
        def test_text(text):
            print(text)
            assert text == "", text
    """
    write({"pytest.ini": ini, "test_a.py": text})
    (project / os.fsdecode(b"test_\xff.py")).write_text("def test_named(): assert 0\n")
    # pytest's own cache cannot store such ids
    code, said, record = (judged if judge else run)("-p", "no:cacheprovider")
    assert (code, record["complete"], record["counts"]["failed"]) == (1, True, 6)
    assert "test_\udcff.py::test_named" in {test["nodeid"] for test in record["tests"]}
    assert "test_a.py::test_text[\udcff]" in {test["nodeid"] for test in record["tests"]}
    assert "switched off" not in said
    assert ("a loop begins" in said) is judge


@pytest.mark.parametrize(
    "shop",
    [
        # asked for its class, it would run its factory and be another thing where it is used later
        """
        class Lazy:
            made = []
            @property
            def __class__(self):
                self.made.append(1)
                return int
        thing = Lazy()
        """,
        """
        import types
        class Module(types.ModuleType):
            def __getattribute__(self, name): raise SystemExit(0)
        thing = Module("thing")
        """,
        """
        class Meta(type):
            def __getattribute__(cls, name): raise SystemExit(0)
        class thing(metaclass=Meta): pass
        """,
        """
        class Proxy:
            def __getattribute__(self, name): raise SystemExit(0)
        thing = Proxy()
        """,
    ],
)
def test_describing_a_failure_runs_no_code_of_the_project(run: Run, write: Write, shop: str) -> None:
    tests = """
        import shop
        def test_a(): assert shop.thing is None, "no"
        def test_b(): assert not getattr(shop, "Lazy", None) or shop.Lazy.made == []
        """
    write({"shop.py": shop, "test_a.py": tests})
    code, _, record = run("--assert=plain")
    assert code == 1
    assert [test["outcome"] for test in record["tests"]] == ["failed", "passed"]


@pytest.mark.parametrize(
    "body",
    [
        """
        def test_a():
            error = ValueError("a")
            error.exceptions = (error,)
            raise error
        """,
        """
        class Leaving(Exception):
            def __str__(self): raise SystemExit(0)
        def test_a():
            try:
                raise Leaving
            except Leaving as error:
                raise ValueError("b") from error
        """,
    ],
)
def test_odd_exceptions_are_failures_like_others(run: Run, write: Write, body: str) -> None:
    write({"test_a.py": f"{body}\n        def test_b(): pass\n"})
    code, _, record = run("--tb=no")
    assert code == 1
    assert [test["outcome"] for test in record["tests"]] == ["failed", "passed"]


@pytest.mark.parametrize("when", ["pytest_sessionstart", "pytest_collection_finish", "pytest_runtest_teardown"])
def test_a_record_that_cannot_grow_is_none(write: Write, run: Run, when: str) -> None:
    argument = "item" if when == "pytest_runtest_teardown" else "session"
    write(
        {
            "conftest.py": f"""
                def full(*_):
                    raise OSError(28, "No space left on device")

                def {when}({argument}):
                    recorder = {argument}.config.pluginmanager.get_plugin("fireloop-recorder")
                    recorder._file._write = full
            """,
            "test_a.py": "def test_a(): pass\ndef test_b(): assert 0\n",
        }
    )
    code, text, record = run()
    # less than was seen would be taken for all there was
    assert (code, record) == (1, {})
    assert text.count("No space left on device") == 1
