"""One project gives one record, whether its tests run in one process or in two workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

KINDS = """
    import unittest
    import pytest

    def test_passes(): pass
    def test_fails(): assert {"a": 1} == {"a": 2}
    def test_skips(): pytest.skip("not here")
    @pytest.mark.xfail
    def test_xfails(): assert 0
    @pytest.mark.xfail
    def test_xpasses(): pass
    @pytest.mark.xfail(strict=True)
    def test_xpasses_strictly(): pass
    @pytest.fixture
    def leaves():
        yield
        raise RuntimeError("in the teardown")
    def test_teardown(leaves): pass
    class TestBroken:
        @pytest.fixture(scope="class", autouse=True)
        def broken(self): raise ValueError("class")
        def test_one(self): pass
        def test_two(self): pass
    class TestUnit(unittest.TestCase):
        @unittest.expectedFailure
        def test_unexpected(self): pass
        def test_parts(self):
            for number in range(3):
                with self.subTest(number=number): self.assertNotEqual(number, 1)
    class TestNoSetUp(unittest.TestCase):
        @classmethod
        def setUpClass(cls): raise ValueError("class")
        def test_one(self): pass
    @pytest.mark.parametrize("number", [1, 2])
    def test_parts(subtests, number):
        with subtests.test("first", number=number, name="x"): assert number == 0
"""
MODULES = {
    "conftest.py": """
        import pytest
        @pytest.fixture(scope="session")
        def broken_session(): raise ValueError("session")
    """,
    "a/test_setup.py": "def setup_module(): raise ValueError\ndef test_one(): pass\ndef test_two(): pass\n",
    "b/test_session.py": "def test_one(broken_session): pass\ndef test_two(broken_session): pass\n",
    "b/test_skipped.py": "import pytest\npytest.skip('no', allow_module_level=True)\n",
    "c/test_good.py": "def test_one(): pass\n",
}
EXCEPTIONS = r"""
    import os, pytest
    class Unspeakable(Exception):
        def __str__(self): raise RuntimeError("no text")
    class Odd(Exception):
        def __init__(self, one, two): super().__init__(f"{one} and {two}")
    def test_unspeakable(): raise Unspeakable
    def test_odd(): raise Odd(1, 2)
    def test_group(): raise ExceptionGroup("two", [ValueError("a"), TypeError("b")])
    def test_chain():
        try: {}["a"]
        except KeyError as error: raise ValueError("b") from error
    def test_no_traceback(): pytest.fail("said so", pytrace=False)
    def test_system_exit(): raise SystemExit(3)
    def test_endless(): test_endless()
    def test_long(): assert "x" * 20_000 == "y"
    def test_control(): raise ValueError("\x1b[31m \x00 \x07 \r\n \u202e \u2028")
    def test_warns(recwarn): pytest.warns(UserWarning, lambda: None)
"""
SURROGATE = r"""
    import sys, pytest
    def test_message(): raise ValueError("\udcff")
    def test_assertion(): assert "\udcff" == "\ud800"
    def test_printed():
        print("\udcff")
        assert 0
    def test_skips(): pytest.skip("\udcff")
    @pytest.mark.xfail(reason="\udcff")
    def test_xfails(): assert 0
    def test_property(record_property): record_property("name", "\udcff")
    def test_passes(): pass
    def test_group(): raise ExceptionGroup("\udcff", [ValueError("\udcff")])
"""
IDS = r"""
    import pytest
    ODD = ["a::b", "a[b]", "a@b", "é", "\udcff", "\x00", "", " ", "x" * 200, "a/b", "a", "a"]
    @pytest.mark.parametrize("text", ODD)
    def test_text(text): assert text != "a::b"
    @pytest.mark.parametrize("text", ["a", "b"], ids=["one::two", "[three]"])
    def test_named(text): assert text == "a"
    @pytest.mark.xdist_group("group")
    @pytest.mark.parametrize("number", [1, 2])
    def test_grouped(number): assert number == 1
    @pytest.mark.xdist_group("group")
    def test_of_the_group(): pass
"""
BROKEN = {
    "test_import.py": "import nothing_of_that_name",
    "test_syntax.py": "def test_(:",
    "test_raises.py": "raise ValueError('at import')",
    "sub/conftest.py": "raise ValueError('in conftest')",
    "sub/test_below.py": "def test_below(): pass",
    "test_good.py": "def test_good(): pass\ndef test_bad(): assert 0\n",
}
DOCTESTS = {
    "shop.py": 'def good():\n    """\n    >>> 1\n    1\n    """\ndef bad():\n    """\n    >>> 1\n    3\n    """\n',
    "test_text.txt": ">>> 2 * 2\n5\n",
}
NOISY = {
    "conftest.py": """
        import sys
        def pytest_runtest_teardown(item): sys.stderr.write("x" * 100_000)
    """,
    "test_a.py": """
        import os, time, uuid, warnings
        def test_address(): assert object() == 1
        def test_folder(tmp_path): assert not tmp_path.exists()
        def test_time(): assert time.strftime("%Y-%m-%d %H:%M:%S") == ""
        def test_uuid(): raise ValueError(str(uuid.uuid4()))
        def test_warned():
            warnings.warn("old")
            assert 0
    """,
}
PROJECTS: dict[str, tuple[dict[str, str], list[str]]] = {
    "kinds": ({"test_a.py": KINDS}, []),
    "kinds-each": ({"test_a.py": KINDS}, ["--dist=each"]),
    "modules": (MODULES, []),
    "exceptions": ({"test_a.py": EXCEPTIONS}, []),
    "surrogates": ({"test_a.py": SURROGATE}, []),
    "ids-and-groups": ({"test_a.py": IDS}, ["--dist=loadgroup", "-o", "markers=xdist_group"]),
    "broken-files": (BROKEN, ["--continue-on-collection-errors"]),
    "doctests": (DOCTESTS, ["--doctest-modules"]),
}
#: What tells one run from another, or follows from the number of processes.
APART = ("exit_code", "run_id", "started", "duration_s")


def comparable(record: dict[str, Any], *, texts: bool = True) -> dict[str, Any]:
    """Order lists, and leave out what may differ."""
    tests = {row["nodeid"]: (row["outcome"], row["signature"], row["cause"], row["reruns"]) for row in record["tests"]}
    failures = {row["signature"]: {**row, "nodeids": sorted(row["nodeids"])} for row in record["failures"]}
    if not texts:
        failures = {key: {name: row[name] for name in ("cause", "nodeids")} for key, row in failures.items()}
    errors = {row["path"]: row for row in record["collection_errors"]}
    rest = {name: value for name, value in record.items() if name not in APART}
    return {
        **rest,
        "tests": tests,
        "failures": failures,
        "collection_errors": errors,
        "not_run": sorted(rest["not_run"]),
    }


@pytest.mark.parametrize("name", PROJECTS)
def test_two_workers_give_the_record_of_one_process(write: Write, run: Run, name: str) -> None:
    pytest.importorskip("xdist")
    files, args = PROJECTS[name]
    write(files)
    _, _, plain = run("-n0", *args)
    _, _, parallel = run("-n2", *args)
    assert len(plain["tests"]) == len({row["nodeid"] for row in plain["tests"]})
    assert comparable(parallel) == comparable(plain)


def test_what_differs_from_run_to_run_is_in_no_signature(write: Write, run: Run) -> None:
    pytest.importorskip("xdist")
    write(NOISY)
    _, _, plain = run("-n0")
    _, _, parallel = run("-n2")
    assert plain["counts"]["failed"] == len(plain["failures"]) == 5
    assert comparable(parallel, texts=False) == comparable(plain, texts=False)


def test_an_odd_id_is_one_test_with_its_outcome(write: Write, run: Run) -> None:
    write({"test_a.py": IDS})
    _, _, record = run("-o", "markers=xdist_group")
    assert record["counts"] == {"passed": 14, "failed": 3, "error": 0, "skipped": 0, "xfailed": 0, "xpassed": 0}
    assert (record["collected"], len(record["tests"]), record["complete"]) == (17, 17, True)


def test_tests_of_one_id_in_two_workers_keep_apart(write: Write, run: Run) -> None:
    pytest.importorskip("xdist")
    write({
        "conftest.py": """
            import pytest
            class Case(pytest.Item):
                def runtest(self):
                    import time
                    time.sleep(0.1)
                    assert self.number % 2
                def reportinfo(self): return self.path, 0, self.name
            class File(pytest.File):
                def collect(self):
                    for number in range(6):
                        case = Case.from_parent(self, name="case")
                        case.number = number
                        yield case
            def pytest_collect_file(file_path, parent):
                return File.from_parent(parent, path=file_path) if file_path.suffix == ".case" else None
        """,
        "a.case": "",
    })  # fmt: skip
    _, _, plain = run("-n0")
    code, _, record = run("-n2")
    assert record["counts"] == plain["counts"] == {**plain["counts"], "passed": 3, "failed": 3}
    assert (code, record["collected"], record["complete"], len(record["tests"])) == (1, 6, True, 6)
    assert {row["nodeid"] for row in record["tests"]} == {row["nodeid"] for row in plain["tests"]}


def test_an_at_sign_in_a_path_is_no_group(write: Write, run: Run) -> None:
    pytest.importorskip("xdist")
    write({"api@2/test_a.py": "def test_a(): pass\ndef test_b(): pass\n", "test_c.py": "def test_c(): pass\n"})
    code, _, record = run("-n2", "--dist=loadgroup")
    assert (code, record["complete"]) == (0, True)
    names = ["api@2/test_a.py::test_a", "api@2/test_a.py::test_b", "test_c.py::test_c"]
    assert sorted(row["nodeid"] for row in record["tests"]) == names
