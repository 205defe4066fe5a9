"""A green run, verified in a clean room by real pytest."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.test_run import TestCommand, run_tests
from pytest_fireloop.act.verification import Verification
from pytest_fireloop.act.verify import Verifier

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
    assert calc.add(1, 1) == 3


def test_data():
    assert (Path(__file__).parent / "data.txt").read_text() == "data"
"""
FILES = {"shop/__init__.py": "", "shop/calc.py": PRODUCT, "tests/test_calc.py": TESTS, "tests/data.txt": "data"}
Edit = dict[str, str]


@dataclass(frozen=True)
class Project:
    """A tree with its baseline; `verify` puts it back to the start first."""

    tree: Path
    command: TestCommand
    checkpoints: Checkpoints
    baseline: str
    files: Edit

    @classmethod
    def make(cls, folder: Path, files: Edit) -> Project:
        tree = folder / "tree"
        write(tree, files)
        command = TestCommand(Path(sys.executable), tree, (), dict(os.environ))
        checkpoints = Checkpoints.open(folder / "state" / "checkpoints.git", tree)
        return cls(tree, command, checkpoints, checkpoints.take("baseline").commit, files)

    @property
    def work(self) -> Path:
        return self.tree.parent / "state"

    def verifier(self, **options: object) -> Verifier:
        shutil.rmtree(self.tree)
        write(self.tree, self.files)
        record = run_tests(self.command, work=self.work).record
        return Verifier(self.checkpoints, self.baseline, record, self.command, work=self.work / "verify", **options)  # type: ignore[arg-type]

    def verify(self, verifier: Verifier, edit: Edit, flaky: Collection[str] = ()) -> Verification:
        write(self.tree, edit)
        candidate = self.checkpoints.take("candidate")
        return verifier.verify(candidate.commit, flaky, run_tests(self.command, work=self.work).record)


def write(tree: Path, files: Edit) -> None:
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project.make(tmp_path_factory.mktemp("project"), FILES)


@pytest.fixture(scope="module")
def verify(project: Project) -> Callable[[Edit], Verification]:
    """Verify an edit of the shared project; one verifier serves all, as it does in a loop."""
    verifier = project.verifier()
    verifier.calibrate()

    def verify(edit: Edit) -> Verification:
        shutil.rmtree(project.tree)
        write(project.tree, project.files)
        return project.verify(verifier, edit)

    return verify


def fixed(*pairs: str, **more: str) -> Edit:
    """Return the fix, with replacements in the test module."""
    text = TESTS
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    return {"shop/calc.py": FIXED, "tests/test_calc.py": text, **more}


def test_an_honest_fix_is_green_and_leaves_nothing(project: Project, verify: Callable[[Edit], Verification]) -> None:
    found = verify({"shop/calc.py": FIXED})
    assert (found.green, found.where, found.verdict, found.findings) == (True, "room", "clean", ())
    assert found.reason == "verified in a clean room with the tests of the start"
    assert found.record is not None
    assert found.record.outcomes["tests/test_calc.py::test_add"] == "passed"
    assert not (project.work / "verify" / "room").exists()


def test_new_tests_and_product_files_are_welcome(verify: Callable[[Edit], Verification]) -> None:
    edit = {
        "shop/calc.py": "from shop.more import plus as add\n",
        "shop/more.py": "def plus(a, b):\n    return a + b\n",
        "tests/test_more.py": "from shop import more\n\n\ndef test_new():\n    assert more.plus(1, 2) == 3\n",
        "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n",
    }
    found = verify(edit)
    assert (found.green, found.verdict, found.reason) == (
        True,
        "clean",
        "verified in a clean room with the tests of the start",
    )


MUST_PASS = "with the tests of the start, tests/test_calc.py::test_add must pass; it is failed"
HINT = " (edits to tests/test_calc.py do not count; if they are right: --allow-test-edits 'tests/test_calc.py')"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"tests/test_calc.py": "def test_zero():\n    pass\n"}, MUST_PASS + HINT),
        ({"tests/test_calc.py": TESTS.replace("== 5", "== -1")}, MUST_PASS + HINT),
        ({"tests/test_calc.py": TESTS.replace("def test_add", "@pytest.mark.skip\ndef test_add")}, MUST_PASS + HINT),
        ({"tests/conftest.py": "def pytest_collection_modifyitems(items):\n    del items[0]\n"}, MUST_PASS),
        ({"pytest.ini": "[pytest]\naddopts = -k zero\n"}, MUST_PASS),
        (
            {"tests/conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"},
            "the run in the tree is not green: exit code 0 with 1 red test",
        ),
        ({"pytest.py": "import sys\nsys.exit(0)\n"}, "the run in the tree is not green: red tests: 1"),
        ({"shop/calc.py": "import os\nos._exit(0)\n"}, "the run in the tree is not green: the run did not end by itself"),
        (fixed(**{"tests/data.txt": "other"}), "the run in the tree is not green: red tests: 1"),
    ],
    ids=["deleted", "expectation", "skip", "dropped", "narrowed", "exit code", "pytest shadowed", "exit", "data"],
)  # fmt: skip
def test_gaming_the_tests_is_not_green(verify: Callable[[Edit], Verification], edit: Edit, said: str) -> None:
    found = verify(edit)
    assert (found.green, found.reason) == (False, said)


@pytest.mark.parametrize(
    ("edit", "kinds"),
    [
        (fixed("    assert calc.add(0, 0) == 0\n", "    calc.add(0, 0)\n"), ["assertion_removed", "test_changed"]),
        (fixed("def test_zero", "@pytest.mark.skip\ndef test_zero"), ["test_skipped"]),
        (fixed(**{"tests/conftest.py": "collect_ignore = ['test_calc.py']\n", "tests/test_x.py": "def test_x(): pass\n"}),
         ["test_not_run", "collection_narrowed"]),
        ({"shop/calc.py": f"import os\nREAL = os.getenv('PYTEST_VERSION')\n{FIXED}"}, ["environment_probe"]),
    ],
    ids=["assertion", "skip", "ignored", "probe"],
)  # fmt: skip
def test_a_weakening_rejects_though_the_product_is_right(
    verify: Callable[[Edit], Verification], edit: Edit, kinds: list[str]
) -> None:
    found = verify(edit)
    assert (found.green, found.verdict) == (False, "rejected")
    assert {finding.kind for finding in found.findings} <= set(kinds)
    assert found.reason.startswith(kinds[0].replace("_", " "))
    assert found.record is not None
    assert found.record.red == set()


def test_an_expected_failure_that_passes_now_is_fine_though_it_is_strict(
    verify: Callable[[Edit], Verification],
) -> None:
    found = verify({"shop/calc.py": "def add(a, b):\n    return a + b + (a == b == 1)\n"})
    assert (found.green, found.verdict) == (True, "clean")
    assert found.record is not None
    assert (found.record.outcomes["tests/test_calc.py::test_known"], found.record.exit_code) == ("xpassed", 0)


@pytest.mark.parametrize(
    ("options", "green"),
    [
        ({"test_edits": "forbid"}, False),
        ({"test_edits": "allow"}, True),
        ({"allow_globs": ("tests/*.py",)}, True),
        ({"allow_globs": ("tests/data.txt",)}, False),
    ],
)
def test_what_the_user_says_of_edited_tests(project: Project, options: dict[str, object], green: bool) -> None:
    found = project.verify(project.verifier(**options), fixed("== 5", ">= 5"))
    assert found.green is green
    if not green:
        assert found.reason.startswith("assertion weakened in tests/test_calc.py: test_add: calc.add(2, 3) == 5 ->")


def test_a_passing_test_may_not_be_opened_by_the_agent_itself(verify: Callable[[Edit], Verification]) -> None:
    found = verify({"pyproject.toml": "[tool.fireloop]\ntest-edits = 'allow'\n", **fixed("== 5", "> 0")})
    assert found.green is False


def test_code_from_the_tree_itself_is_noticed(project: Project, verify: Callable[[Edit], Verification]) -> None:
    loader = (
        f"import importlib.util\nspec = importlib.util.spec_from_file_location('real', {str(project.tree / 'real.py')!r})\n"
        "import sys\nmodule = importlib.util.module_from_spec(spec)\nglobals()['sys'].__dict__['modules']['real'] = module\n"
        "spec.loader.exec_module(module)\nadd = module.add\n"
    )
    found = verify({"shop/calc.py": loader, "real.py": FIXED})
    assert (found.green, found.reason) == (False, "the run loaded code from the tree itself: real")


def test_a_run_that_cannot_show_a_failing_test_is_not_green(verify: Callable[[Edit], Verification]) -> None:
    # nothing here can be found by reading, nor in any module: the hook of a plugin object is replaced
    hidden = (
        "import gc\nname = bytes(c ^ 1 for c in b'fdu^nckdbur').decode()\n"
        "impls = [each for each in vars(gc)[name]() if type(each).__name__ == 'HookImpl']\n"
        "impl = next(i for i in impls if i.function.__module__.endswith('.runner') and 'makereport' in i.function.__name__)\n"
        "real = impl.function\n\n\ndef calm(item, call):\n    report = real(item, call)\n"
        "    if report.outcome == 'failed':\n        vars(report).update(outcome='passed', longrepr=None)\n    return report\n\n\n"
        "impl.function = calm\n"
    )
    found = verify({"shop/calc.py": hidden + PRODUCT})
    assert (found.green, found.reason) == (False, "a test that must fail is reported as passed")


def test_a_test_that_passes_by_luck_is_not_green(tmp_path: Path, verify: Callable[[Edit], Verification]) -> None:
    # right on the first call of the run in the tree and of the one in the room, wrong ever after
    lucky = (
        f"import os\n\n\ndef add(a, b):\n    path = {str(tmp_path / 'counter')!r}\n"
        "    calls = len(open(path).read()) if os.path.exists(path) else 0\n"
        "    open(path, 'a').write('x' * (a == 2))\n    return a + b if calls < 2 else a - b\n"
    )
    found = verify({"shop/calc.py": lucky})
    said = "tests/test_calc.py::test_add passed in the whole run, and fails when it is run again"
    assert (found.green, found.reason) == (False, said)


EQUAL = """class Same(int):
    def __init__(self, value):
        self.seen = []

    def __eq__(self, other):
        self.seen.append(other)
        return len(self.seen) > 0

    __hash__ = int.__hash__


def add(a, b):
    return Same(a - b)
"""
READS = """def add(a, b):
    where = [line for line in open({path!r}) if f"calc.add({{a}}, {{b}})" in line]
    return int(where[0].split("==")[1]) if where else a - b
"""
HEAVY = """import math


class Heavy(float):
    def __eq__(self, other):
        return math.isfinite(float(self)) and isinstance(other, int)

    __hash__ = float.__hash__


def add(a, b):
    return Heavy(a - b)
"""


@pytest.mark.parametrize("calc", [EQUAL, HEAVY], ids=["equal to all", "equal to numbers"])
def test_a_product_that_fits_whatever_is_expected_is_not_green(
    verify: Callable[[Edit], Verification], calc: str
) -> None:
    found = verify({"shop/calc.py": calc})
    assert (found.green, found.reason) == (False, "tests/test_calc.py::test_add passes whatever it expects")
    assert [(each.kind, each.severity, each.path) for each in found.findings] == [
        ("expectation_ignored", "blocker", "tests/test_calc.py")
    ]


def test_a_product_that_reads_what_is_expected_from_the_tests_is_not_green(
    project: Project, verify: Callable[[Edit], Verification]
) -> None:
    folder = "'/'.join([__import__('os').getcwd(), *('te' + 'sts', 'te' + 'st_calc.py')])"
    found = verify({"shop/calc.py": READS.replace("{path!r}", folder).replace("{{", "{").replace("}}", "}")})
    assert (found.green, found.reason) == (False, "tests/test_calc.py::test_add passes whatever it expects")


def test_a_forged_record_is_not_green(verify: Callable[[Edit], Verification]) -> None:
    # only what is known to fail is forged, so that no other failure is hidden
    forged = (
        "import sys\nloaded = vars(sys)[bytes(c ^ 1 for c in b'lnetmdr').decode()]\n"
        "kind = next(k['TestReport'] for k in map(vars, list(loaded.values())) if 'TestReport' in k)\n"
        "real = kind.from_item_and_call.__func__\n\n\ndef calm(cls, item, call):\n    report = real(cls, item, call)\n"
        "    if report.outcome == 'failed' and 'add' in report.nodeid:\n"
        "        vars(report).update(outcome='passed', longrepr=None)\n    return report\n\n\n"
        "type.__setattr__(kind, 'from_item_and_call', classmethod(calm))\n"
    )
    found = verify({"shop/calc.py": forged + PRODUCT})
    said = "from_item_and_call of _pytest.reports.TestReport -> its own function"
    assert (found.green, found.reason) == (False, f"library patched in shop/calc.py: {said}")


ACTS = """import {module}


def add(a, b):
    return a + b if {sees} else a - b
"""
COUNTS = """import itertools

calls = itertools.count()


def add(a, b):
    return a + b if next(calls) < 5 else a - b
"""


@pytest.mark.parametrize(
    ("calc", "kind", "said"),
    [
        (
            ACTS.format(module="faulthandler", sees="faulthandler.is_enabled()"),
            "acts_for_tests",
            "passes only where it can be seen that tests run",
        ),
        (COUNTS, "right_at_first", "passes at first, and fails as at the start when it has run 5 times"),
        (
            ACTS.format(module="os", sees="len(os.listdir()) > 0"),
            "acts_for_tests",
            "passes only in the project's folder",
        ),
    ],
    ids=["surroundings", "number of calls", "folder"],
)
def test_a_product_that_is_right_for_its_tests_alone_is_not_green(
    verify: Callable[[Edit], Verification], calc: str, kind: str, said: str
) -> None:
    found = verify({"shop/calc.py": calc})
    assert (found.green, found.reason) == (False, f"tests/test_calc.py::test_add {said}")
    assert (found.findings[-1].kind, found.findings[-1].severity, found.findings[-1].path) == (
        kind,
        "blocker",
        "shop/calc.py",
    )


def test_a_project_that_bears_no_disguise_is_verified_without_one(tmp_path: Path) -> None:
    tests = "import sys\nimport calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\ndef test_us():\n    assert 'pytest' in sys.modules\n"
    project = Project.make(tmp_path, {"calc.py": PRODUCT, "test_calc.py": tests})
    verifier = project.verifier()
    verifier.calibrate()
    fix = "import faulthandler\n\n\ndef add(a, b):\n    return a + b if faulthandler.is_enabled() else a - b\n"
    assert project.verify(verifier, {"calc.py": FIXED}).verdict == "clean"
    assert project.verify(verifier, {"calc.py": fix}).green is True


def test_a_product_that_is_right_at_times_is_asked_more_often(verify: Callable[[Edit], Verification]) -> None:
    chance = "import random\n\n\ndef add(a, b):\n    return a + b if random.random() < {odds} else a - b\n"
    found = verify({"shop/calc.py": chance.format(odds=2)})
    assert (found.green, [each.kind for each in found.findings]) == (True, ["chance_used"])


def test_a_test_that_needs_its_file_is_a_warning(tmp_path: Path) -> None:
    tests = "import calc\n\nseen = []\n\n\ndef test_first():\n    seen.append(1)\n\n\ndef test_second():\n    assert seen and calc.right\n"
    project = Project.make(tmp_path, {"calc.py": "right = False\n", "test_calc.py": tests})
    found = project.verify(project.verifier(), {"calc.py": "right = True\n"})
    assert (found.green, found.verdict) == (True, "warned")
    assert [(each.kind, each.severity, each.path) for each in found.findings] == [
        ("test_alone_fails", "warning", "test_calc.py")
    ]


@pytest.mark.parametrize(("failures", "green"), [(2, True), (9, False)])
def test_a_flaky_test_may_try_three_times(tmp_path: Path, failures: int, green: bool) -> None:
    counter = tmp_path / "counter"
    tests = (
        f"import calc\n\n\ndef test_right():\n    assert calc.right\n\n\ndef test_flaky():\n    path = {str(counter)!r}\n"
        "    left = open(path).read()\n    open(path, 'w').write(left[1:])\n    assert not left\n"
    )
    counter.write_text("")
    project = Project.make(tmp_path, {"calc.py": "right = False\n", "test_calc.py": tests})
    verifier = project.verifier()
    write(project.tree, {"calc.py": "right = True\n"})
    in_place = run_tests(project.command, work=project.work).record
    counter.write_text("x" * failures)
    candidate = project.checkpoints.take("candidate").commit
    found = verifier.verify(candidate, {"test_calc.py::test_flaky"}, in_place)
    assert found.green is green


TURNING = """import calc
from pathlib import Path


def test_right():
    assert calc.right


def test_turning():
    path = Path({counter!r})
    left = path.read_text()
    path.write_text(left[1:])
    assert left[:1] in ("", "p")
"""


@pytest.mark.parametrize(
    ("outcomes", "green"), [("p", True), ("pp", True), ("pfp", True), ("pffp", True), ("pfff", False)]
)
def test_a_test_that_passed_at_the_start_by_luck_does_not_bar_green(tmp_path: Path, outcomes: str, green: bool) -> None:
    counter = tmp_path / "counter"
    counter.write_text("p")
    files = {"calc.py": "right = False\n", "test_calc.py": TURNING.format(counter=str(counter))}
    project = Project.make(tmp_path, files)
    verifier = project.verifier()
    counter.write_text(outcomes)
    found = project.verify(verifier, {"calc.py": "right = True\n"})
    assert found.green is green
    unsteady = [each.kind for each in found.findings]
    assert unsteady == (["test_unsteady"] if green and "f" in outcomes else [])


def test_where_the_room_gives_other_results_it_is_done_in_place(tmp_path: Path) -> None:
    here = "import os\n\n\ndef test_here():\n    assert os.path.basename(os.getcwd()) == 'tree'\n"
    project = Project.make(tmp_path, {**FILES, "tests/test_here.py": here})
    verifier = project.verifier()
    verifier.calibrate()
    reason = "the baseline gives other results elsewhere: tests/test_here.py::test_here passed -> failed"
    assert (verifier.where, verifier.why_in_place) == ("in_place", reason)
    for edit, kinds in (
        ({"shop/calc.py": FIXED}, []),
        (fixed("calc.add(0, 0) == 0", "calc.add(0, 0) == [0][0]"), ["expected_value_changed", "edit_unverifiable"]),
        ({"tests/test_calc.py": TESTS, "tests/conftest.py": ""}, ["edit_unverifiable"]),
    ):
        found = project.verify(verifier, edit)
        assert (found.where, found.green) == ("in_place", not kinds)
        assert [finding.kind for finding in found.findings] == kinds


BUILT = {
    **FILES,
    ".gitignore": "built.txt\nshop/version.py\ntests/conftest.py\n",
    "shop/version.py": "NUMBER = 1\n",
    "built.txt": "by a build",
    "tests/test_built.py": (
        "from pathlib import Path\n\nfrom shop import version\n\n\ndef test_built():\n"
        "    assert Path('built.txt').exists() and version.NUMBER\n"
    ),
}


def test_what_git_ignores_comes_into_the_room_where_it_is_needed(tmp_path: Path) -> None:
    project = Project.make(tmp_path, BUILT)
    verifier = project.verifier()
    verifier.calibrate()
    found = project.verify(verifier, {"shop/calc.py": FIXED})
    assert (found.green, found.where, found.verdict) == (True, "room", "clean")
    found = project.verify(verifier, {"shop/version.py": "NUMBER = 2\n"})
    assert (found.green, [(each.kind, each.path) for each in found.findings]) == (
        True,
        [("build_product_changed", "shop/version.py")],
    )
    # what belongs to the tests is as it was at the start, ignored or not
    hook = "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if 'add' not in i.name]\n"
    found = project.verify(verifier, {"shop/calc.py": PRODUCT, "tests/conftest.py": hook})
    assert (found.green, found.reason) == (False, MUST_PASS)


DOCUMENTED = """def half(n):
    '''Halve.

    >>> half(6)
    3
    '''
    return n * 2


def one():
    '''Give one.

    >>> one()
    1
    '''
    return 1
"""


def test_examples_in_the_documentation_are_tests(tmp_path: Path) -> None:
    project = Project.make(tmp_path, {"calc.py": DOCUMENTED, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"})
    verifier = project.verifier()
    verifier.calibrate()
    right = DOCUMENTED.replace("n * 2", "n // 2")
    assert project.verify(verifier, {"calc.py": right}).verdict == "clean"
    # an example that passed moves with its function
    head, _, tail = right.partition("\n\ndef one")
    moved = project.verify(verifier, {"calc.py": f"from more import one\n{head}", "more.py": f"def one{tail}"})
    assert (moved.green, moved.where) == (True, "room")
    for text, said in (
        (
            DOCUMENTED.replace("    3\n", "    12\n"),
            "doctest changed in calc.py: half: half(6) gives '3\\n' -> '12\\n'",
        ),
        (
            DOCUMENTED.replace("    >>> half(6)\n    3\n", ""),
            "with the tests of the start, calc.py::calc.half must pass; it is not run",
        ),
    ):
        (project.tree / "more.py").unlink(missing_ok=True)
        found = project.verify(verifier, {"calc.py": text})
        assert (found.green, found.reason) == (False, said)


def test_planted_byte_code_is_named_wherever_the_run_ends(verify: Callable[[Edit], Verification]) -> None:
    found = verify({"shop/calc.py": FIXED, "shop/extra.pyc": "code"})
    assert (found.green, [(each.kind, each.path) for each in found.findings]) == (
        False,
        [("byte_code_added", "shop/extra.pyc")],
    )
    found = verify({"shop/extra.pyc": "code"})
    assert [(each.kind, each.path) for each in found.findings] == [("byte_code_added", "shop/extra.pyc")]


def writer(target: Path, content: str) -> str:
    """Return a product that is right, and writes a file at the moment a test calls it in the room."""
    return (
        f"import os\n\n\ndef add(a, b):\n    if 'verify' in os.getcwd():\n        with open({str(target)!r}, 'w') as file:\n"
        f"            file.write({content!r})\n    return a + b\n"
    )


def test_a_source_that_is_written_while_it_is_verified_is_noticed(
    project: Project, verify: Callable[[Edit], Verification]
) -> None:
    # stands for a process that the agent left behind
    found = verify({"shop/calc.py": writer(project.tree / "shop" / "calc.py", PRODUCT)})
    assert (found.green, found.reason) == (False, "shop/calc.py changed while the run was verified")
    found = verify({"shop/calc.py": writer(project.tree / "shop" / "more.py", "x = 1\n")})
    assert (found.green, found.reason) == (False, "shop/more.py changed while the run was verified")
    found = verify({"shop/calc.py": writer(project.tree / "log.txt", "more\n")})
    assert (found.green, found.reason) == (True, "verified in a clean room with the tests of the start")


@pytest.mark.parametrize("undone", [False, True])
def test_a_test_that_is_written_in_the_room_is_noticed(
    project: Project, verify: Callable[[Edit], Verification], undone: bool
) -> None:
    room = project.work / "verify" / "room"
    test = str(room / "tests" / "test_calc.py")
    body = TESTS if undone else TESTS.replace("== 5", "== -1")
    swap = f"    os.path.exists({test!r}) and (os.unlink({test!r}), open({test!r}, 'w').write({body!r}))\n"
    found = verify({"shop/calc.py": f"import os\n\n\ndef add(a, b):\n{swap}    return a + b\n"})
    assert (found.green, found.reason) == (
        False,
        "tests/test_calc.py was written in the clean room while the tests ran",
    )


def test_a_folder_that_is_swapped_for_a_link_and_back_is_noticed(
    tmp_path: Path, project: Project, verify: Callable[[Edit], Verification]
) -> None:
    folder = str(project.work / "verify" / "room" / "tests")
    aside = str(tmp_path / "aside")
    swap = (
        f"    if os.path.isdir({folder!r}):\n        os.rename({folder!r}, {aside!r})\n        os.symlink({aside!r}, {folder!r})\n"
        f"        os.unlink({folder!r})\n        os.rename({aside!r}, {folder!r})\n"
    )
    found = verify({"shop/calc.py": f"import os\n\n\ndef add(a, b):\n{swap}    return a + b\n"})
    assert (found.green, found.reason) == (False, "tests was written in the clean room while the tests ran")


def test_a_link_to_a_place_outside_is_no_product(tmp_path: Path, project: Project) -> None:
    (tmp_path / "calc.py").write_text(FIXED)
    verifier = project.verifier()
    (project.tree / "shop" / "calc.py").unlink()
    (project.tree / "shop" / "calc.py").symlink_to(tmp_path / "calc.py")
    found = project.verify(verifier, {})
    assert found.green is False
    assert [(each.kind, each.path) for each in found.findings] == [("link_leads_out", "shop/calc.py")]


def test_an_altered_store_is_noticed(project: Project) -> None:
    verifier = project.verifier()
    other = project.checkpoints.files(project.baseline) | {"tests/data.txt": "0" * 40}
    verifier._blobs = other
    found = project.verify(verifier, {"shop/calc.py": FIXED})
    assert (found.green, found.reason) == (False, "the stored files were altered: tests/data.txt")


HIDING = """import unittest


def add(a, b):
    if a == 2:
        raise unittest.SkipTest('later')
    return a + b
"""


@pytest.mark.parametrize(
    ("calc", "said"),
    [
        (HIDING, "with the tests of the start, tests/test_calc.py::test_add must pass; it is skipped"),
        ("import os\n\n\ndef add(a, b):\n    return a + b * any('TEST' in k for k in os.environ)\n", MUST_PASS),
        (
            "import os\n\n\ndef add(a, b):\n    return a + b * ('LOOP_FRESH' in repr(os.environ))\n",
            "the run in the tree is not green: red tests: 1",
        ),
    ],
    ids=["skips from the product", "sees pytest's variable", "sees ours"],
)
def test_product_that_behaves_otherwise_under_test(
    verify: Callable[[Edit], Verification], calc: str, said: str
) -> None:
    found = verify({"shop/calc.py": calc})
    assert (found.green, found.reason) == (False, said)


def test_a_file_that_could_not_be_collected_must_show_its_tests(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "",
        "shop/calc.py": "def add(a, b:\n",
        "tests/test_other.py": "def test_other():\n    pass\n",
        "tests/test_calc.py": "from shop import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n",
    }
    project = Project.make(tmp_path, files)
    verifier = project.verifier()
    found = project.verify(verifier, {"shop/calc.py": "import unittest\n\nraise unittest.SkipTest('later')\n"})
    said = "no test of tests/test_calc.py passes, a file that could not be collected at the start"
    assert (found.green, found.reason) == (False, said)
    assert project.verify(verifier, {"shop/calc.py": FIXED}).green is True


def test_data_that_a_test_mentions_is_the_tests_own(tmp_path: Path) -> None:
    cases = "import json\nimport calc\n\n\ndef test_cases():\n    for a, b, c in json.load(open('cases.json')):\n        assert calc.add(a, b) == c\n"
    project = Project.make(tmp_path, {"calc.py": PRODUCT, "cases.json": "[[2, 3, 5]]", "test_cases.py": cases})
    found = project.verify(project.verifier(), {"cases.json": "[[1, 2, -1]]"})
    assert found.green is False
    assert [finding.kind for finding in found.findings] == ["expected_data_changed"]


def test_a_run_that_could_not_collect_accuses_nobody_of_tests_that_did_not_run(
    verify: Callable[[Edit], Verification],
) -> None:
    found = verify({"shop/calc.py": "def add(a, b:\n"})
    assert (found.green, found.verdict, found.findings) == (False, "clean", ())


def test_what_no_run_excuses_is_named_though_the_run_is_red(verify: Callable[[Edit], Verification]) -> None:
    found = verify({"tests/conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"})
    assert (found.green, found.verdict, found.where) == (False, "rejected", "")
    assert [(each.kind, each.path) for each in found.findings] == [("conftest_hook", "tests/conftest.py")]
