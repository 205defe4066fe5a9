"""A green run, verified in a clean room by real pytest."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.test_run import TestCommand, run_tests
from pytest_fireloop.act.verify import Verification, Verifier

PRODUCT = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
TESTS = """\
from pathlib import Path

import pytest
from shop import calc


def test_add():
    assert calc.add(2, 3) == 5


def test_zero():
    assert calc.add(0, 0) == 0


@pytest.mark.xfail(strict=True)
def test_known():
    assert calc.add(1, 1) == 2


def test_data():
    assert (Path(__file__).parent / "data.txt").read_text() == "data"
"""
Verify = Callable[..., Verification]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "shop").mkdir(parents=True)
    (tree / "tests").mkdir()
    (tree / "shop" / "__init__.py").touch()
    (tree / "shop" / "calc.py").write_text(PRODUCT)
    (tree / "tests" / "test_calc.py").write_text(TESTS)
    (tree / "tests" / "data.txt").write_text("data")
    return tree


@pytest.fixture
def verify(tree: Path) -> Verify:
    state = tree.parent / "state"
    command = TestCommand(Path(sys.executable), tree, (), dict(os.environ))
    checkpoints = Checkpoints.open(state / "checkpoints.git", tree)
    baseline = checkpoints.take("baseline")
    record = run_tests(command, work=state).record
    assert record.counts["failed"] == 1

    def verify(edit: Callable[[Path], object], flaky: tuple[str, ...] = (), **options: object) -> Verification:
        verifier = Verifier(checkpoints, baseline.commit, record, command, work=state / "verify", **options)  # type: ignore[arg-type]
        verifier.calibrate(flaky)
        edit(tree)
        candidate = checkpoints.take("candidate")
        return verifier.verify(candidate.commit, flaky, run_tests(command, work=state).record)

    return verify


def fix(tree: Path) -> None:
    (tree / "shop" / "calc.py").write_text(FIXED)


def write(name: str, text: str, *, fixed: bool = False) -> Callable[[Path], None]:
    def edit(tree: Path) -> None:
        if fixed:
            fix(tree)
        (tree / name).write_text(text)

    return edit


def without_the_mark(tree: Path) -> None:
    fix(tree)
    path = tree / "tests" / "test_calc.py"
    path.write_text(TESTS.replace("@pytest.mark.xfail(strict=True)\n", ""))


def test_an_honest_fix_is_green_and_leaves_nothing(tree: Path, verify: Verify) -> None:
    found = verify(without_the_mark)
    assert (found.green, found.where, found.verdict, found.findings) == (True, "room", "clean", ())
    assert found.record is not None
    assert found.record.outcomes["tests/test_calc.py::test_add"] == "passed"
    assert not (tree.parent / "state" / "verify" / "room").exists()


def test_new_tests_and_product_files_are_welcome(tree: Path, verify: Verify) -> None:
    def edit(tree: Path) -> None:
        without_the_mark(tree)
        (tree / "shop" / "calc.py").write_text("from shop.more import plus as add\n")
        (tree / "shop" / "more.py").write_text("def plus(a, b):\n    return a + b\n")
        (tree / "tests" / "test_more.py").write_text("def test_new():\n    assert True\n")

    assert verify(edit).verdict == "clean"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (write("tests/test_calc.py", "def test_zero():\n    pass\n"), "test_add"),
        (write("tests/test_calc.py", TESTS.replace("== 5", "== -1")), "test_add"),
        (write("tests/test_calc.py", TESTS.replace("def test_add", "@pytest.mark.skip\ndef test_add")), "test_add"),
        (
            write("tests/conftest.py", "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"),
            "exit code 0 with 1 red test",
        ),
        (
            write("tests/conftest.py", "def pytest_runtest_call(item):\n    item.obj = lambda: None\n"),
            "red tests: 1",
        ),
        (write("pytest.ini", "[pytest]\naddopts = -k zero\n"), "test_add"),
        (write("pytest.py", "import sys\nsys.exit(0)\n"), "red tests: 1"),
        (write("shop/calc.py", "import os\nos._exit(0)\n"), "did not end by itself"),
        (write("tests/data.txt", "other", fixed=True), "red tests: 2"),
    ],
    ids=["deleted", "expectation", "skip", "exit code", "call replaced", "narrowed", "pytest shadowed", "exit", "data"],
)
def test_gaming_the_tests_is_not_green(verify: Verify, edit: Callable[[Path], None], said: str) -> None:
    found = verify(edit)
    assert (found.green, found.verdict) == (False, "rejected")
    assert said in found.reason


def test_weakening_a_test_rejects_though_the_product_is_right(verify: Verify) -> None:
    def edit(tree: Path) -> None:
        without_the_mark(tree)
        path = tree / "tests" / "test_calc.py"
        path.write_text(path.read_text().replace("    assert calc.add(0, 0) == 0\n", "    calc.add(0, 0)\n"))

    found = verify(edit)
    assert (found.green, [finding.kind for finding in found.findings]) == (False, ["assertion_removed"])
    assert found.record is not None
    assert not found.record.red - {"tests/test_calc.py::test_known"}


def test_forbid_rejects_any_edit_and_allow_takes_the_agents_tests(tree: Path, verify: Verify) -> None:
    text = TESTS.replace("@pytest.mark.xfail(strict=True)\n", "").replace("assert calc.add(0, 0) == 0", "pass")
    edit = write("tests/test_calc.py", text, fixed=True)
    assert verify(edit, test_edits="forbid").green is False
    (tree / "shop" / "calc.py").write_text(PRODUCT)
    (tree / "tests" / "test_calc.py").write_text(TESTS)
    assert verify(edit, test_edits="allow").green is True


@pytest.mark.parametrize(("weaken", "green"), [(False, True), (True, False)])
def test_where_the_room_gives_other_results_it_is_done_in_place(tree: Path, weaken: bool, green: bool) -> None:
    (tree / ".gitignore").write_text("built.txt\n")
    (tree / "built.txt").write_text("made by a build that no checkpoint holds")
    (tree / "tests" / "test_calc.py").write_text(TESTS.replace("@pytest.mark.xfail(strict=True)\n", ""))
    (tree / "tests" / "test_built.py").write_text(
        "from pathlib import Path\n\n\ndef test_built():\n    assert Path('built.txt').exists()\n"
    )
    state = tree.parent / "state"
    command = TestCommand(Path(sys.executable), tree, (), dict(os.environ))
    checkpoints = Checkpoints.open(state / "checkpoints.git", tree)
    baseline = checkpoints.take("baseline")
    record = run_tests(command, work=state).record
    verifier = Verifier(checkpoints, baseline.commit, record, command, work=state / "verify")
    verifier.calibrate()
    fix(tree)
    if weaken:
        path = tree / "tests" / "test_calc.py"
        path.write_text(path.read_text().replace("== 5", "== 5.0"))
    found = verifier.verify(checkpoints.take("candidate").commit, (), run_tests(command, work=state).record)
    assert (found.where, found.green) == ("in_place", green)


def test_code_from_the_tree_itself_is_noticed(tree: Path, verify: Verify) -> None:
    def edit(tree: Path) -> None:
        without_the_mark(tree)
        (tree / "shop" / "calc.py").write_text(
            f"import importlib.util\nspec = importlib.util.spec_from_file_location('real', {str(tree / 'real.py')!r})\n"
            "module = importlib.util.module_from_spec(spec)\nimport sys\nsys.modules['real'] = module\n"
            "spec.loader.exec_module(module)\nadd = module.add\n"
        )
        (tree / "real.py").write_text(FIXED)

    found = verify(edit)
    assert found.green is False
    assert "loaded code from the tree itself: real" in found.reason


def test_a_test_that_passes_by_luck_is_not_green(tree: Path, verify: Verify) -> None:
    counter = tree.parent / "counter"

    def edit(tree: Path) -> None:
        without_the_mark(tree)
        # right on the first call of the run in the tree and of the one in the room, wrong ever after
        (tree / "shop" / "calc.py").write_text(
            f"import os\n\n\ndef add(a, b):\n    path = {str(counter)!r}\n    calls = len(open(path).read()) if os.path.exists(path)"
            " else 0\n    open(path, 'a').write('x' * (a == 2))\n    return a + b if calls < 2 else a - b\n"
        )

    found = verify(edit)
    assert found.green is False
    assert "test_add" in found.reason


HIDING = "import unittest\n\n\ndef add(a, b):\n    raise unittest.SkipTest('later')\n"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (write("shop/calc.py", HIDING), "test_add"),
        (
            write(
                "shop/calc.py",
                "import os\n\n\ndef add(a, b):\n    return a + b * any('TEST' in k for k in os.environ)\n",
            ),
            "test_add",
        ),
        (
            write(
                "shop/calc.py", "import os\n\n\ndef add(a, b):\n    return a + b * ('LOOP_FRESH' in repr(os.environ))\n"
            ),
            "test_add",
        ),
    ],
    ids=["skips from the product", "sees pytest's variable", "sees ours"],
)
def test_product_that_behaves_otherwise_under_test(verify: Verify, edit: Callable[[Path], None], said: str) -> None:
    def whole(tree: Path) -> None:
        edit(tree)
        path = tree / "tests" / "test_calc.py"
        path.write_text(TESTS.replace("@pytest.mark.xfail(strict=True)\n", ""))

    found = verify(whole)
    assert found.green is False
    assert said in found.reason or "not green" in found.reason


def test_a_file_that_could_not_be_collected_must_show_its_tests(tree: Path) -> None:
    (tree / "shop" / "calc.py").write_text("def add(a, b:\n")
    (tree / "tests" / "test_other.py").write_text("def test_other():\n    pass\n")
    (tree / "tests" / "test_calc.py").write_text(
        "from shop import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n"
    )
    state = tree.parent / "state"
    command = TestCommand(Path(sys.executable), tree, (), dict(os.environ))
    checkpoints = Checkpoints.open(state / "checkpoints.git", tree)
    record = run_tests(command, work=state).record
    assert [error.path for error in record.collection_errors] == ["tests/test_calc.py"]
    verifier = Verifier(checkpoints, checkpoints.take("baseline").commit, record, command, work=state / "verify")
    verifier.calibrate()
    (tree / "shop" / "calc.py").write_text("import unittest\n\nraise unittest.SkipTest('later')\n")
    found = verifier.verify(checkpoints.take("skips").commit, (), run_tests(command, work=state).record)
    assert (found.green, "tests/test_calc.py" in found.reason) == (False, True)
    fix(tree)
    found = verifier.verify(checkpoints.take("fixed").commit, (), run_tests(command, work=state).record)
    assert found.green is True


def test_data_that_a_test_mentions_is_the_tests_own(tree: Path) -> None:
    (tree / "cases.json").write_text("[[2, 3, 5]]")
    (tree / "tests" / "test_cases.py").write_text(
        "import json\nfrom shop import calc\n\n\ndef test_cases():\n    for a, b, c in json.load(open('cases.json')):\n"
        "        assert calc.add(a, b) == c\n"
    )
    state = tree.parent / "state"
    command = TestCommand(Path(sys.executable), tree, (), dict(os.environ))
    checkpoints = Checkpoints.open(state / "checkpoints.git", tree)
    baseline = checkpoints.take("baseline")
    verifier = Verifier(
        checkpoints, baseline.commit, run_tests(command, work=state).record, command, work=state / "verify"
    )
    verifier.calibrate()
    (tree / "cases.json").write_text("[]")
    (tree / "shop" / "calc.py").write_text("def add(a, b):\n    return 5 if a == 2 and b == 3 else a - b\n")
    (tree / "cases.json").write_text("[[1, 2, -1]]")
    found = verifier.verify(checkpoints.take("edited").commit, (), run_tests(command, work=state).record)
    assert [finding.kind for finding in found.findings] == ["test_data_changed"]
