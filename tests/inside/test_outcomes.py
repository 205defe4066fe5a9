"""The outcome of each test, whatever its reports look like, in real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

FUNCTIONS = """
    import sys
    import pytest

    class Unspeakable(Exception):
        def __str__(self): raise RuntimeError("no text")
    class Opaque:
        def __repr__(self): raise RuntimeError("no repr")
        def __eq__(self, other): return False
        __hash__ = None
    class TestBrokenFixture:
        @pytest.fixture(scope="class", autouse=True)
        def broken(self): raise ValueError("class")
        def test_one(self): pass
        def test_two(self): pass
    @pytest.fixture
    def skips(): pytest.skip("from a fixture")
    @pytest.fixture
    def leaves():
        yield
        raise RuntimeError("in the teardown")

    def test_passes(): pass
    def test_fail_called(): pytest.fail("said so")
    def test_fail_without_traceback(): pytest.fail("said so", pytrace=False)
    def test_system_exit(): raise SystemExit(0)
    def test_sys_exit(): sys.exit(0)
    def test_group(): raise ExceptionGroup("two", [ValueError("a"), TypeError("b")])
    def test_unspeakable(): raise Unspeakable
    def test_opaque(): assert Opaque() == 1
    def test_endless(): test_endless()
    def test_no_such_fixture(nothing_of_that_name): pass
    def test_skip_called(): pytest.skip("not here")
    def test_skip_in_fixture(skips): pass
    def test_xfail_called(): pytest.xfail("known")
    @pytest.mark.xfail(raises=ValueError)
    def test_other_exception(): raise TypeError
    @pytest.mark.xfail(False, reason="not here")
    def test_condition_is_false(): assert 0
    @pytest.mark.xfail(strict=True)
    def test_strict_and_failing(): assert 0
    @pytest.mark.skipif(True, reason="not here")
    def test_skipif(): pass
    def test_skip_then_teardown(leaves): pytest.skip("not here")
    async def test_async(): pass
    @pytest.mark.parametrize("number", [1, 2])
    def test_number(number): assert number == 1
"""
FUNCTION_OUTCOMES = {
    "TestBrokenFixture::test_one": "error",
    "TestBrokenFixture::test_two": "error",
    "test_passes": "passed",
    "test_fail_called": "failed",
    "test_fail_without_traceback": "failed",
    "test_system_exit": "failed",
    "test_sys_exit": "failed",
    "test_group": "failed",
    "test_unspeakable": "failed",
    "test_opaque": "failed",
    "test_endless": "failed",
    "test_no_such_fixture": "error",
    "test_skip_called": "skipped",
    "test_skip_in_fixture": "skipped",
    "test_xfail_called": "xfailed",
    "test_other_exception": "failed",
    "test_condition_is_false": "failed",
    "test_strict_and_failing": "xfailed",
    "test_skipif": "skipped",
    "test_skip_then_teardown": "error",
    "test_async": "failed",
    "test_number[1]": "passed",
    "test_number[2]": "failed",
}
CLASSES = """
    import unittest

    class TestUnit(unittest.TestCase):
        def test_passes(self): pass
        def test_cleanup(self): self.addCleanup(lambda: 1 / 0)
        @unittest.expectedFailure
        def test_expected(self): self.fail("known")
        @unittest.expectedFailure
        def test_unexpected(self): pass
        @unittest.skip("not here")
        def test_skip(self): pass
        def test_skip_raised(self): raise unittest.SkipTest("not here")
        def test_skip_of_a_part(self):
            with self.subTest(part=1): self.skipTest("not here")
            with self.subTest(part=2): pass
    class TestNoSetUp(unittest.TestCase):
        @classmethod
        def setUpClass(cls): raise ValueError("class")
        def test_one(self): pass
        def test_two(self): pass
    class TestNoTearDown(unittest.TestCase):
        @classmethod
        def tearDownClass(cls): raise ValueError("class")
        def test_one(self): pass
        def test_two(self): pass
    class TestSkipped(unittest.TestCase):
        @classmethod
        def setUpClass(cls): raise unittest.SkipTest("not here")
        def test_one(self): pass
    class TestAsync(unittest.IsolatedAsyncioTestCase):
        async def test_awaited(self): self.assertEqual(1, 2)
"""
CLASS_OUTCOMES = {
    "TestUnit::test_passes": "passed",
    "TestUnit::test_cleanup": "failed",
    "TestUnit::test_expected": "xfailed",
    "TestUnit::test_unexpected": "failed",
    "TestUnit::test_skip": "skipped",
    "TestUnit::test_skip_raised": "skipped",
    "TestUnit::test_skip_of_a_part": "passed",
    "TestNoSetUp::test_one": "error",
    "TestNoSetUp::test_two": "error",
    "TestNoTearDown::test_one": "passed",
    "TestNoTearDown::test_two": "error",
    "TestSkipped::test_one": "skipped",
    "TestAsync::test_awaited": "failed",
}
SCOPES = {
    "conftest.py": """
        import pytest
        @pytest.fixture(scope="session")
        def broken_session(): raise ValueError("session")
    """,
    "test_function.py": "def setup_function(): raise ValueError\ndef test_one(): pass\n",
    "test_module.py": "def setup_module(): raise ValueError\ndef test_one(): pass\ndef test_two(): pass\n",
    "test_module_end.py": "def teardown_module(): raise ValueError\ndef test_one(): pass\ndef test_two(): pass\n",
    "test_session.py": "def test_one(broken_session): pass\ndef test_two(broken_session): pass\ndef test_three(): pass\n",
    "test_class.py": "class TestIt:\n    def setup_class(cls): raise ValueError\n    def test_one(self): pass\n",
}
SCOPE_OUTCOMES = {
    "test_function.py::test_one": "error",
    "test_module.py::test_one": "error",
    "test_module.py::test_two": "error",
    "test_module_end.py::test_one": "passed",
    "test_module_end.py::test_two": "error",
    "test_session.py::test_one": "error",
    "test_session.py::test_two": "error",
    "test_session.py::test_three": "passed",
    "test_class.py::TestIt::test_one": "error",
}
DOCTESTS = {
    "shop.py": '''
        def good():
            """
            >>> 1 + 1
            2
            """
        def bad():
            """
            >>> 1 + 1
            3
            """
        def skipped():
            """
            >>> 1 + 1  # doctest: +SKIP
            3
            """
        def raising():
            """
            >>> 1 / 0
            """
    ''',
    "test_text.txt": ">>> 2 * 2\n5\n",
}
DOCTEST_OUTCOMES = {
    "shop.py::shop.good": "passed",
    "shop.py::shop.bad": "failed",
    "shop.py::shop.skipped": "skipped",
    "shop.py::shop.raising": "failed",
    "test_text.txt::test_text.txt": "failed",
}
SUBTESTS = {
    "test_sub.py": """
        import unittest, pytest
        class TestUnit(unittest.TestCase):
            def test_parts(self):
                for number in range(3):
                    with self.subTest(number=number): self.assertNotEqual(number, 1)
            def test_good_parts(self):
                with self.subTest(number=1): pass
        def test_parts(subtests):
            with subtests.test("first"): assert 0
            with subtests.test("second"): pass
        def test_skipped_part(subtests):
            with subtests.test("first"): pytest.skip("not here")
            with subtests.test("second"): pass
        def test_parts_and_body(subtests):
            with subtests.test("first"): pass
            assert 0
    """
}
SUBTEST_OUTCOMES = {
    "test_sub.py::TestUnit::test_parts": "failed",
    "test_sub.py::TestUnit::test_good_parts": "passed",
    "test_sub.py::test_parts": "failed",
    "test_sub.py::test_skipped_part": "passed",
    "test_sub.py::test_parts_and_body": "failed",
}


def outcomes(record: dict[str, Any]) -> dict[str, str]:
    return {test["nodeid"]: test["outcome"] for test in record["tests"]}


def under(path: str, rows: dict[str, str]) -> dict[str, str]:
    return {f"{path}::{name}": said for name, said in rows.items()}


@pytest.mark.parametrize(
    ("files", "args", "expected"),
    [
        pytest.param({"test_all.py": FUNCTIONS}, [], under("test_all.py", FUNCTION_OUTCOMES), id="functions"),
        pytest.param({"test_all.py": CLASSES}, [], under("test_all.py", CLASS_OUTCOMES), id="unittest"),
        pytest.param(SCOPES, [], SCOPE_OUTCOMES, id="scopes"),
        pytest.param(DOCTESTS, ["--doctest-modules"], DOCTEST_OUTCOMES, id="doctests"),
        pytest.param(SUBTESTS, [], SUBTEST_OUTCOMES, id="subtests"),
        pytest.param(SUBTESTS, ["-p", "no:terminal"], SUBTEST_OUTCOMES, id="subtests-without-terminal"),
    ],
)
def test_every_kind_of_test_has_its_outcome(
    write: Write, run: Run, files: dict[str, str], args: list[str], expected: dict[str, str]
) -> None:
    write(files)
    code, _, record = run(*args)
    assert outcomes(record) == expected
    assert (code, record["exit_code"], record["complete"], record["partial"]) == (1, 1, True, False)
    assert (record["collected"], record["not_run"], record["in_flight"]) == (len(expected), [], None)
    red = {nodeid for nodeid, said in expected.items() if said in {"failed", "error"}}
    assert {test["nodeid"] for test in record["tests"] if test["signature"] and test["cause"]} == red
    assert {nodeid for failure in record["failures"] for nodeid in failure["nodeids"]} == red
