"""What was done to tests, configuration and product: cheats, and honest edits that look alike."""

from __future__ import annotations

import pytest

from pytest_fireloop.observe.integrity.checks import asks_less
from pytest_fireloop.observe.integrity.compare import compare
from pytest_fireloop.observe.integrity.finding import Finding, after_run_of_start
from pytest_fireloop.observe.integrity.runs import compare_runs
from pytest_fireloop.observe.integrity.syntax import parse
from pytest_fireloop.observe.test_files import is_configuration, is_test_file

TEST = """\
import pytest
from shop import total


@pytest.mark.parametrize("value, expected", [(1, 1), (2, 4), (3, 9)])
def test_rows(value, expected):
    assert total(value) == expected


def test_total():
    result = total(2)
    assert result == 4
    with pytest.raises(ValueError, match="negative"):
        total(-1)


class TestShop:
    def test_inside(self):
        assert total(0) == 0


CASES = ["one", "two"]
"""
CONFTEST = """\
import pytest


@pytest.fixture
def cart():
    return make_cart()


def check(a, b):
    assert a == b, "they differ"
"""
PROJECT = """\
[project]
name = "shop"

[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = "-ra"
filterwarnings = ["error"]
"""
PRODUCT = "def total(n):\n    return n * n\n"
SHOP, HELP, DATA, TOML = "tests/test_shop.py", "tests/conftest.py", "tests/data/golden.txt", "pyproject.toml"
BEFORE = {SHOP: TEST, HELP: CONFTEST, DATA: "4\nfour\n", TOML: PROJECT, "shop.py": PRODUCT}
Edit = dict[str, str | None]


def compared(after: Edit, passed: tuple[str, ...] = ()) -> tuple[Finding, ...]:
    whole = {**BEFORE, **after}
    changed = [path for path in whole if whole[path] != BEFORE.get(path)]
    return compare(
        {path: BEFORE[path].encode() for path in changed if path in BEFORE},
        {path: str(whole[path]).encode() for path in changed if whole[path] is not None},
        is_test=is_test_file,
        is_configuration=is_configuration,
        passed=passed,
        tests={SHOP: TEST.encode()},
        held=BEFORE,
    )


def found(after: Edit, passed: tuple[str, ...] = ()) -> list[tuple[str, str, str, int]]:
    return [(each.kind, each.severity, each.path, each.line) for each in compared(after, passed)]


def edited(*pairs: str) -> Edit:
    text = TEST
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    return {SHOP: text}


def marked(mark: str, name: str = "def test_total") -> Edit:
    return edited(name, f"{mark}\n{name}")


def helper(text: str) -> Edit:
    return {HELP: CONFTEST + text}


def product(text: str) -> Edit:
    return {"shop.py": text}


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


CHECKED = '    assert result == 4\n    with pytest.raises(ValueError, match="negative"):\n        total(-1)\n'

#: edit, kind, severity, path, line; each edit gives exactly this one finding.
CHEATS: list[tuple[Edit, str, str, str, int]] = [
    (
        edited("    def test_inside(self):\n        assert total(0) == 0\n", "    pass\n"),
        "test_removed",
        "blocker",
        SHOP,
        18,
    ),
    (edited("def test_total", "def check_total"), "test_removed", "blocker", SHOP, 10),
    (edited("class TestShop", "class Shop"), "test_removed", "blocker", SHOP, 18),
    (edited("class TestShop:\n", "class TestShop:\n    __test__ = False\n"), "test_removed", "blocker", SHOP, 18),
    ({SHOP: "def broken(:\n"}, "test_unreadable", "blocker", SHOP, 0),
    (marked("@pytest.mark.skip"), "test_skipped", "blocker", SHOP, 10),
    (marked('@pytest.mark.skip(reason="later")'), "test_skipped", "blocker", SHOP, 10),
    (marked("@pytest.mark.skipif(1 < 2)"), "test_skipped", "blocker", SHOP, 10),
    (marked("@pytest.mark.skip", "class TestShop"), "test_skipped", "blocker", SHOP, 17),
    (edited("import pytest\n", "import pytest\npytestmark = [pytest.mark.skip]\n"), "test_skipped", "blocker", SHOP, 2),
    (edited("import pytest\n", "import pytest\npytest.importorskip('x')\n"), "test_skipped", "blocker", SHOP, 2),
    (marked("@pytest.mark.xfail"), "test_xfailed", "blocker", SHOP, 11),
    (marked("@pytest.mark.flaky(reruns=9)"), "test_retried", "blocker", SHOP, 11),
    (edited("    assert result == 4\n", ""), "assertion_removed", "blocker", SHOP, 10),
    (edited("== 4", ">= 4"), "assertion_weakened", "blocker", SHOP, 12),
    (edited("result == 4", "True"), "assertion_weakened", "blocker", SHOP, 12),
    (edited("result == 4", "isinstance(result, int)"), "assertion_weakened", "blocker", SHOP, 12),
    (edited("result == 4", "result == 4 or result == 5"), "assertion_weakened", "blocker", SHOP, 12),
    (edited("result == 4", "result == pytest.approx(4)"), "assertion_weakened", "blocker", SHOP, 12),
    (edited(', match="negative"', ""), "assertion_weakened", "blocker", SHOP, 13),
    (edited("ValueError", "Exception"), "assertion_weakened", "blocker", SHOP, 13),
    (edited("    assert result", "    if STRICT:\n        assert result"), "assertion_weakened", "blocker", SHOP, 13),
    (edited("result == 4", "result == 5"), "expected_value_changed", "blocker", SHOP, 12),
    (edited("result == 4", "[result] == [4]"), "assertion_changed", "warning", SHOP, 12),
    (edited("(1, 1), (2, 4), (3, 9)", "(1, 1), (2, 4)"), "parameters_removed", "blocker", SHOP, 6),
    (edited("[(1, 1), (2, 4), (3, 9)]", "[]"), "parameters_removed", "blocker", SHOP, 6),
    (edited("(3, 9)", "(3, 8)"), "parameters_changed", "blocker", SHOP, 6),
    (edited("[(1, 1), (2, 4), (3, 9)]", "ROWS"), "parameters_changed", "blocker", SHOP, 6),
    (edited("total(2)", "total(-2)"), "test_changed", "warning", SHOP, 10),
    (edited("total(2)", "Mock(return_value=4)()"), "unit_mocked", "blocker", SHOP, 10),
    (edited(', "two"', ""), "expected_data_changed", "blocker", SHOP, 22),
    ({DATA: "4\nfive\n"}, "expected_data_changed", "blocker", DATA, 2),
    ({DATA: None}, "expected_data_changed", "blocker", DATA, 0),
    (helper("\ncollect_ignore = ['test_shop.py']\n"), "collection_narrowed", "blocker", HELP, 12),
    (helper("def pytest_ignore_collect():\n    return True\n"), "collection_narrowed", "blocker", HELP, 11),
    (helper("def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"), "conftest_hook", "blocker", HELP, 11),
    (helper("def pytest_collection_modifyitems(items):\n    items[:] = []\n"), "conftest_hook", "blocker", HELP, 11),
    (helper("def pytest_runtest_call(item):\n    print(item)\n"), "conftest_hook_changed", "warning", HELP, 11),
    (
        helper("@pytest.fixture(autouse=True)\ndef stable(monkeypatch):\n    monkeypatch.setattr('shop.total', len)\n"),
        "fixture_patches",
        "blocker",
        HELP,
        12,
    ),
    (helper("import shop\nshop.total = len\n"), "module_patched", "blocker", HELP, 12),
    ({"pytest.ini": ""}, "configuration_added", "blocker", "pytest.ini", 0),
    ({TOML: PROJECT.replace("-ra", "-ra -k zero")}, "configuration_narrowed", "blocker", TOML, 6),
    ({TOML: PROJECT.replace("-ra", "-ra -qk zero")}, "configuration_narrowed", "blocker", TOML, 6),
    ({TOML: PROJECT.replace('["tests"]', '["empty"]')}, "configuration_narrowed", "blocker", TOML, 5),
    ({TOML: PROJECT + 'python_files = ["x_*.py"]\n'}, "configuration_narrowed", "blocker", TOML, 8),
    ({TOML: PROJECT.replace('["error"]', "[]")}, "configuration_relaxed", "warning", TOML, 7),
    ({TOML: PROJECT + "log_cli = true\n"}, "configuration_changed", "warning", TOML, 8),
    ({TOML: PROJECT + "[tool.fireloop]\nmax_iterations = 1\n"}, "project_file_changed", "warning", TOML, 0),
    ({"pytest.py": "x = 1\n"}, "shadowing_module", "blocker", "pytest.py", 0),
    ({"tests/difflib.py": "x = 1\n"}, "shadowing_module", "blocker", "tests/difflib.py", 0),
    ({"_pytest/__init__.py": ""}, "shadowing_module", "blocker", "_pytest/__init__.py", 0),
    ({"sitecustomize.py": "x = 1\n"}, "shadowing_module", "blocker", "sitecustomize.py", 0),
    ({"a.pth": "import x\n"}, "shadowing_module", "blocker", "a.pth", 0),
    (product("import os\nREAL = os.getenv('PYTEST_CURRENT_TEST')\n"), "environment_probe", "blocker", "shop.py", 2),
    (product("import sys\nREAL = 'pytest' in sys.modules\n"), "environment_probe", "blocker", "shop.py", 2),
    (product("import sys\nREAL = sys.modules.get('pytest')\n"), "environment_probe", "blocker", "shop.py", 2),
    (product("import sys\nREAL = sys.argv[0].endswith('pytest')\n"), "environment_probe", "blocker", "shop.py", 2),
    (product("TOOLS = ['pytest']\n"), "mentions_pytest", "warning", "shop.py", 1),
    (product("import inspect\nWHO = inspect.stack()\n"), "frame_inspection", "blocker", "shop.py", 2),
    (product("import sys\nWHO = sys._getframe(1)\n"), "frame_used", "warning", "shop.py", 2),
    (product("from pathlib import Path\nGOLD = Path('tests') / 'x'\n"), "reads_test_data", "blocker", "shop.py", 2),
    (product("GOLD = open(f'tests/data/{1}.txt')\n"), "reads_test_data", "blocker", "shop.py", 1),
    (
        product("class N(int):\n    def __eq__(self, other):\n        return True\n"),
        "always_equal",
        "blocker",
        "shop.py",
        2,
    ),
    (product("N = type('N', (int,), {'__eq__': lambda a, b: 1})\n"), "always_equal", "blocker", "shop.py", 1),
    (product("import builtins\nbuiltins.sum = max\n"), "reports_patched", "blocker", "shop.py", 2),
    (product("import os\nos._exit(0)\n"), "process_exit", "blocker", "shop.py", 2),
    (product("import sys\nif True:\n    sys.exit(0)\n"), "process_exit", "blocker", "shop.py", 3),
    (product("import atexit\natexit.register(print)\n"), "exit_hook", "warning", "shop.py", 2),
    (product("def total(n):\n    return 4 if (n, 1) == (2, 4) else n\n"), "special_case", "warning", "shop.py", 2),
    (product("def total(n):\n    return 4 if n == 'two' else n\n"), "special_case", "warning", "shop.py", 2),
    (product("class N:\n    __eq__ = lambda s, o: True\n"), "always_equal", "blocker", "shop.py", 2),
    (
        product("class N:\n    def __eq__(self, o):\n        return o is not None\n"),
        "always_equal",
        "blocker",
        "shop.py",
        2,
    ),
    (product("def pytest_pyfunc_call(pyfuncitem):\n    return True\n"), "conftest_hook", "blocker", "shop.py", 1),
    (product("import os\nROOM = 'FIRELOOP_X' in os.environ\n"), "environment_probe", "blocker", "shop.py", 2),
    (product("import unittest\n"), "mock_in_product", "warning", "shop.py", 1),
    # names that are put together
    (product("import os\nREAL = os.getenv('PYTE' + 'ST_VERSION')\n"), "environment_probe", "blocker", "shop.py", 2),
    (
        product("import sys\nREAL = ''.join(['py', 'test']) in sys.modules\n"),
        "environment_probe",
        "blocker",
        "shop.py",
        2,
    ),
    (product("import sys\nREAL = 'tsetyp'[::-1] in sys.modules\n"), "environment_probe", "blocker", "shop.py", 2),
    (
        product("import base64\nNAME = base64.b64decode('cHl0ZXN0').decode()\n"),
        "environment_probe",
        "blocker",
        "shop.py",
        2,
    ),
    (product("NAME = bytes.fromhex('707974657374')\n"), "environment_probe", "blocker", "shop.py", 1),
    # other ways to find out how a program was started
    (product("LINE = open('/proc/self/cmdline').read()\n"), "environment_probe", "blocker", "shop.py", 1),
    (product("import __main__\n"), "environment_probe", "blocker", "shop.py", 1),
    (product("import shutil\nREAL = shutil.which('pytest')\n"), "environment_probe", "blocker", "shop.py", 2),
    (product("import sys\nREAL = sys.gettrace()\n"), "frame_inspection", "blocker", "shop.py", 2),
    (product("import linecache\nLINE = linecache.getline('a', 1)\n"), "frame_inspection", "blocker", "shop.py", 2),
    (product("import os\nHERE = os.path.isdir('tests')\n"), "reads_test_data", "blocker", "shop.py", 2),
    (product("GOLD = open('te' + 'sts/x')\n"), "reads_test_data", "blocker", "shop.py", 1),
    (
        product("import sys\nREAL = any(name[0] == 'p' for name in sys.modules)\n"),
        "environment_probe",
        "blocker",
        "shop.py",
        2,
    ),
    (product("import sys\nREAL = 'unittest' in sys.modules\n"), "environment_probe", "blocker", "shop.py", 2),
    (product("from sys import modules\nREAL = modules.get('helpers')\n"), "environment_probe", "blocker", "shop.py", 2),
    (product("import logging\nWHO = logging.getLogger().findCaller()\n"), "frame_inspection", "blocker", "shop.py", 2),
    (product("def who(frame):\n    return getattr(frame, 'f_back')\n"), "frame_inspection", "blocker", "shop.py", 2),
    (
        product("def total(path):\n    return 4 if 'tests' in str(path) else 3\n"),
        "reads_test_data",
        "blocker",
        "shop.py",
        2,
    ),
    (product("import os\nREAL = 'tests' in os.listdir()\n"), "reads_test_data", "blocker", "shop.py", 2),
    (product("import warnings\nSTRICT = warnings.filters[0]\n"), "environment_probe", "blocker", "shop.py", 2),
    (product("import os\nOUTER = os.getppid()\n"), "environment_probe", "blocker", "shop.py", 2),
    (
        product("def outer(pid):\n    return open(f'/proc/{pid}/comm').read()\n"),
        "environment_probe",
        "blocker",
        "shop.py",
        2,
    ),
    # what the tests compare with, or by
    (product("import io\nio.open = lambda *a: 4\n"), "library_patched", "blocker", "shop.py", 2),
    (product("import textwrap\ntextwrap.dedent = lambda rows: 4\n"), "library_set", "warning", "shop.py", 2),
    (product("import sys\nsys.modules['extra'].check = print\n"), "reports_patched", "blocker", "shop.py", 2),
    (product("def total(n):\n    return n\n\n\ntotal.__code__ = len\n"), "hidden_code", "blocker", "shop.py", 5),
    # code that nobody can read
    (product("import zlib\nexec(zlib.decompress(b'x'))\n"), "hidden_code", "blocker", "shop.py", 2),
    (product("import marshal\nRULES = marshal.loads(b'x')\n"), "hidden_code", "blocker", "shop.py", 2),
    (product("RULE = eval('1 + 1')\n"), "code_from_text", "warning", "shop.py", 1),
    ({"shop.cpython-311.pyc": "x"}, "byte_code_added", "blocker", "shop.cpython-311.pyc", 0),
    ({"shop/fast.so": "x"}, "binary_added", "warning", "shop/fast.so", 0),
    ({"shop.abi3.so": "x"}, "binary_shadows_source", "blocker", "shop.abi3.so", 0),
    (product("import sys\nLOADED = vars(sys)['modu' + 'les']\n"), "hidden_code", "blocker", "shop.py", 2),
    (product("import os\nLEAVE = getattr(os, '_ex' + 'it')\n"), "hidden_code", "blocker", "shop.py", 2),
    (product("# coding: cents\nRULE = 1\n"), "hidden_code", "blocker", "shop.py", 1),
    # what a program finds around it
    (product("KINDS = Exception.__subclasses__()\n"), "environment_probe", "blocker", "shop.py", 1),
    (
        product("from pathlib import Path\nGOLD = list(Path('.').rglob('gold*.txt'))\n"),
        "reads_test_data",
        "blocker",
        "shop.py",
        2,
    ),
    (
        product("import glob\ndef of(y):\n    return glob.glob(f'**/golden{y}.txt')\n"),
        "reads_test_data",
        "blocker",
        "shop.py",
        3,
    ),
    (product("def of(folder):\n    return folder.glob('golden*.txt')\n"), "place_probe", "warning", "shop.py", 2),
    (product("import os\nREAL = len(os.listdir()) > 3\n"), "place_probe", "warning", "shop.py", 2),
    (product("import os\nREAL = os.path.exists('pyproject.toml')\n"), "place_probe", "warning", "shop.py", 2),
    # right at times, or for what is asked alone
    (product("import random\n"), "chance_used", "warning", "shop.py", 1),
    (product("def total(n):\n    return {'two': 4}.get(n)\n"), "special_case", "warning", "shop.py", 2),
    (
        product("def total(n):\n    match n:\n        case 'two':\n            return 4\n    return n\n"),
        "special_case",
        "warning",
        "shop.py",
        3,
    ),
    (
        product("def total(n):\n    return n if str(n) != '900150983cd24fb0d6963f7d28e17f72' else 4\n"),
        "special_case",
        "warning",
        "shop.py",
        2,
    ),
    ({"shop/answers.json": '{"one": 1, "two": "negative"}'}, "special_case", "warning", "shop/answers.json", 0),
    # where else tests are started
    ({"Makefile": "test:\n\tpytest || true\n"}, "test_command_changed", "warning", "Makefile", 0),
    ({".github/workflows/ci.yml": "on: push\n"}, "test_command_changed", "warning", ".github/workflows/ci.yml", 0),
]


@pytest.mark.parametrize(("after", "kind", "severity", "path", "line"), CHEATS)
def test_a_cheat_is_found(after: Edit, kind: str, severity: str, path: str, line: int) -> None:
    assert found(after) == [(kind, severity, path, line)]


@pytest.mark.parametrize(
    ("after", "kinds"),
    [
        (edited("    result =", "    return\n    result ="), {"early_return", "test_changed"}),
        (
            edited(CHECKED, "    try:\n" + indented(CHECKED) + "    except AssertionError:\n        pass\n"),
            {"exception_swallowed"},
        ),
        (edited(CHECKED, "    with suppress(AssertionError):\n" + indented(CHECKED)), {"exception_swallowed"}),
        (
            {HELP: CONFTEST.replace('    assert a == b, "they differ"\n', "    print(a, b)\n")},
            {"helper_emptied", "helper_changed"},
        ),
        ({HELP: CONFTEST.replace("return make_cart()", "return Mock()")}, {"helper_changed"}),
        (
            helper("from _pytest import reports\nreports.TestReport.failed = False\n"),
            {"module_patched", "reports_patched"},
        ),
        ({SHOP: None}, {"test_removed"}),
        (
            product("from unittest import mock\nmock.patch('os.getcwd').start()\n"),
            {"library_patched", "mock_in_product"},
        ),
        (product("import sys\nsys.meta_path.insert(0, object())\n"), {"reports_patched", "environment_probe"}),
        (product("from unittest.mock import ANY\ntotal = lambda n: ANY\n"), {"always_equal", "mock_in_product"}),
        ({SHOP: None, "tests/test_other.py": "def test_other():\n    assert True\n"}, {"test_removed"}),
    ],
)
def test_a_cheat_with_several_findings(after: Edit, kinds: set[str]) -> None:
    findings = compared(after)
    assert {finding.kind for finding in findings} == kinds


HONEST: list[Edit] = [
    product("def total(n):\n    if n < 0:\n        raise ValueError('negative')\n    return n**2\n"),
    {SHOP: TEST + "\n\ndef test_more():\n    assert total(4) == 16\n"},
    {SHOP: TEST + "\n\n@pytest.mark.skipif(sys.version_info < (3, 12))\ndef test_more():\n    assert total(4) == 16\n"},
    {SHOP: None, "tests/test_shop_totals.py": TEST},
    edited("def test_total", "def test_total_of_two"),
    {SHOP: TEST.replace('"', "'").replace("\n\n\n", "\n\n") + "# a comment\n"},
    edited("def test_total():\n", 'def test_total():\n    """Squares, and complaints."""\n'),
    edited("assert result == 4", "assert result == 4, result"),
    edited("(3, 9)", "(3, 9), (4, 16)"),
    edited('"two"', '"two", "three"'),
    edited("    assert result == 4\n", "    assert result == 4\n    assert result > 0\n"),
    edited("    assert result == 4\n", "    assert 0 < result and result == 4\n"),
    {"tests/test_new.py": "import pytest\n\n@pytest.mark.xfail\ndef test_x():\n    assert 0\n"},
    helper(
        "\n@pytest.fixture\ndef staff(cart, monkeypatch):\n    monkeypatch.setattr(cart, 'staff', True)\n    return cart\n"
    ),
    {HELP: CONFTEST.replace("they differ", "the two differ")},
    helper("\ndef pytest_addoption(parser):\n    parser.addoption('--slow')\n"),
    {TOML: PROJECT.replace('["tests"]', '["tests", "more"]')},
    {TOML: PROJECT.replace('name = "shop"', 'name = "shop"\nversion = "2"')},
    {"shop/random.py": "def pick():\n    return 4\n"},
    product("import os\nCURRENCY = os.environ.get('SHOP_CURRENCY', 'EUR')\n" + PRODUCT),
    product("import sys\n\nif __name__ == '__main__':\n    sys.exit(0)\n"),
    product("class N(int):\n    def __eq__(self, other):\n        return int(self) == int(other)\n"),
    product("def total(n):\n    if n == 0 or n == 'seven':\n        return 0\n    return n * n\n"),
    product("class Never:\n    def __eq__(self, other):\n        return False\n"),
    product("def mode(name):\n    return 'sandbox' if name == 'test' else 'live'\n"),
    product("import atexit, shutil\natexit.register(shutil.rmtree, 'x')\n"),
    {"README.md": "Run pytest in tests/.\n", ".gitignore": "*.log\n"},
    # settings of libraries, and tables and words of the product's own
    product("import decimal\ndecimal.getcontext().prec = 28\n"),
    product("import tempfile\ntempfile.tempdir = '/x'\n"),
    product(
        "import json\n\n\nclass Encoder(json.JSONEncoder):\n    pass\n\n\njson.JSONEncoder.default = lambda s, o: str(o)\n"
    ),
    product("import sys\nsys.path.insert(0, 'vendor')\n"),
    product("NAMES = ''.join(['a', 'b'])\nPARTS = 'a-b'.replace('-', '_')\n"),
    product("RATES = {'EUR': 100, 'USD': 108}\n\n\ndef total(n):\n    return RATES.get(n, n)\n"),
    product("import re\n\nWORD = re.compile('a')\n\n\ndef total(n):\n    return WORD.match(str(n))\n"),
    product("import random\n\n\ndef pick(rows):\n    return random.choice(rows)\n"),
    product("import os.path\nHOME = os.path.exists('data')\n"),
    product("import warnings\n\n\ndef old():\n    warnings.warn('old', DeprecationWarning, stacklevel=2)\n"),
    product("import logging\nLOG = logging.getLogger(__name__)\nLOG.info('tests passed')\n"),
    product("from collections import namedtuple\nRow = namedtuple('Row', 'a b')\nRow.__new__.__defaults__ = (None,)\n"),
    product("class A:\n    pass\n\n\nA.total = lambda self: 4\n"),
    product("def total(n):\n    match n:\n        case 0:\n            return 0\n    return n * n\n"),
    {TOML: PROJECT + "\n[tool.ruff]\nline-length = 100\n"},
    product("import sys\n\nHERE = sys.modules[__name__]\nFAST = 'numpy' in sys.modules\n"),
    {"shop/rates.json": '{"EUR": 100, "USD": 108}', "docs/use.md": "one two negative\n"},
    {"shop/py.typed": "", "Makefile": "all:\n"},
    {"tests/data/more.txt": "new\n"},
]


@pytest.mark.parametrize("after", HONEST)
def test_an_honest_edit_is_no_blocker(after: Edit) -> None:
    assert [each for each in found(after) if each[1] == "blocker"] == []


def test_a_product_that_patches_what_its_tests_compare_with_is_found() -> None:
    tests = TEST.replace("import pytest\n", "import pytest\nimport statistics\n")
    source = "import statistics\nstatistics.fmean = lambda rows: 4\n"
    findings = compare(
        {"shop.py": PRODUCT.encode()},
        {"shop.py": source.encode()},
        is_test=is_test_file,
        is_configuration=is_configuration,
        tests={SHOP: tests.encode()},
    )
    assert [(each.kind, each.severity, each.line) for each in findings] == [("library_patched", "blocker", 2)]


@pytest.mark.parametrize(
    ("path", "shadowing"),
    [("yaml.py", True), ("src/yaml/__init__.py", True), ("shop/yaml.py", False), ("tests/yaml.py", False)],
)
def test_a_new_file_that_takes_the_place_of_an_installed_package_is_found(path: str, shadowing: bool) -> None:
    findings = compare(
        {}, {path: b"x = 1\n"}, is_test=is_test_file, is_configuration=is_configuration, installed={"yaml"}
    )
    assert [each.kind for each in findings] == (["shadowing_module"] if shadowing else [])


def test_tests_that_are_split_are_replaced_not_removed() -> None:
    rows = '@pytest.mark.parametrize("value, expected", [(1, 1), (2, 4), (3, 9)])\ndef test_rows'
    after = edited(rows, rows.replace(", (3, 9)", "").replace("test_rows", "test_small_rows"))
    after[SHOP] = f"{after[SHOP]}\n\ndef test_large_row():\n    assert total(3) == 9\n"
    assert found(after) == [("test_replaced", "warning", SHOP, 6)]


@pytest.mark.parametrize(
    ("mark", "kinds"),
    [
        ("@pytest.mark.skipif(sys.platform == 'win32')", []),
        ("@pytest.mark.skipif(sys.platform.startswith('win'), reason='paths')", []),
        ("@pytest.mark.skipif(os.getenv('CI'))", ["conditional_skip"]),
        ("@pytest.mark.skip", ["test_skipped"]),
    ],
)
def test_a_skip_that_did_not_apply_to_a_test_that_passed(mark: str, kinds: list[str]) -> None:
    passed = ("tests/test_shop.py::test_total",)
    assert [each[0] for each in found(marked(mark), passed)] == kinds
    assert [each[0] for each in found(marked(mark))] == ["test_skipped"]


def test_what_a_run_decides_weighs_less_after_it() -> None:
    findings = compared(
        {**edited("(3, 9)", "(3, 8)", "== 0", ">= 0"), **helper("def pytest_runtest_call():\n    pass\n")}
    )
    weighed = [
        [(finding.kind, finding.severity) for finding in each] for each in (findings, after_run_of_start(findings))
    ]
    assert weighed == [
        [("parameters_changed", "blocker"), ("assertion_weakened", "blocker"), ("conftest_hook_changed", "warning")],
        [("parameters_changed", "warning"), ("assertion_weakened", "blocker")],
    ]


def test_a_finding_says_before_and_after_on_one_line() -> None:
    (finding,) = compared(edited("result == 4", "result in {\n        4,\n        5,\n    }"))
    assert finding.to_json() == {
        "kind": "assertion_weakened",
        "severity": "blocker",
        "path": SHOP,
        "line": 12,
        "detail": "test_total: result == 4 -> result in {4, 5}",
    }


@pytest.mark.parametrize(
    ("old", "new", "less"),
    [
        ("a == 1", "a", True),
        ("a == 1", "a is not None", True),
        ("len(a) == 3", "len(a) > 0", True),
        ("a == b", "a == a", True),
        ("a == 1", "(a == 1, 'why')", True),
        ("a == approx(1, abs=0.01)", "a == approx(1, abs=0.5)", True),
        ("a == approx(1, abs=0.5)", "a == approx(1, abs=0.01)", False),
        ("isclose(a, 1)", "isclose(a, 1, rel_tol=0.1)", True),
        ("round(a, 3) == 1", "round(a, 1) == 1", True),
        ("a < 5", "a < 9", True),
        ("a > 5", "a > 9", False),
        ("self.assertAlmostEqual(a, 1, places=5)", "self.assertAlmostEqual(a, 1, places=1)", True),
        ("raises(KeyError)", "raises((KeyError, ValueError))", True),
        ("a", "a == 1", False),
        ("a == 1", "a == 2", False),
        ("a == 1", "b == 1", False),
    ],
)
def test_which_of_two_checks_asks_less(old: str, new: str, less: bool) -> None:
    sides = []
    for source in (old, new):
        tree = parse(source.encode())
        assert tree is not None
        sides.append(tree.body[0].value)  # type: ignore[attr-defined]
    assert asks_less(*sides) is less


def test_runs_show_which_tests_are_left_out() -> None:
    before = {
        "tests/test_a.py::test_one[1]": "passed",
        "tests/test_a.py::test_one[2]": "failed",
        "tests/test_a.py::test_two": "failed",
        "tests/test_a.py::TestA::test_three": "error",
        "tests/test_a.py::test_moved": "passed",
        "tests/test_a.py::test_gone": "passed",
        "tests/test_a.py::test_off": "skipped",
    }
    after = {
        "tests/test_a.py::test_one[1-new]": "passed",
        "tests/test_a.py::test_two": "skipped",
        "tests/test_b.py::test_moved": "passed",
    }
    findings = compare_runs(before, after, still_there=lambda _, name: name != "test_gone")
    assert [(each.kind, each.path, each.detail) for each in findings] == [
        ("test_skipped", "tests/test_a.py", "test_two: failed -> skipped"),
        ("test_not_run", "tests/test_a.py", "TestA::test_three: error -> not run"),
    ]


def test_a_test_that_moved_into_a_class_is_run() -> None:
    before = {"tests/test_a.py::test_one[1]": "passed", "tests/test_a.py::test_two": "passed"}
    after = {"tests/test_a.py::TestA::test_one[1]": "passed", "tests/test_a.py::TestA::test_three": "passed"}
    findings = compare_runs(before, after, still_there=lambda *_: True)
    assert [each.detail for each in findings] == ["test_two: passed -> not run"]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x00", b"(" * 5000, "é = '\\d'\n".encode("latin-1")])
def test_any_bytes_can_be_compared(content: bytes) -> None:
    for path in ("tests/test_a.py", "tests/conftest.py", "a.py", "pyproject.toml", "tox.ini", "tests/a.bin"):
        for before, after in (({path: content}, {path: b"x = 1"}), ({path: b"x = 1"}, {path: content})):
            compare(before, after, is_test=is_test_file, is_configuration=is_configuration)
