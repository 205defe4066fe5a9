"""What was done to tests, configuration and product: cheats, and honest edits that look alike."""

from __future__ import annotations

import pytest

from pytest_fireloop.observe.integrity.compare import compare
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
    with pytest.raises(ValueError):
        total(-1)


class TestShop:
    def test_inside(self):
        assert total(0) == 0
"""
CONFTEST = """\
import pytest


@pytest.fixture
def cart():
    return make_cart()


def check(a, b):
    assert a == b
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
BEFORE = {
    "tests/test_shop.py": TEST,
    "tests/conftest.py": CONFTEST,
    "tests/data/golden.txt": "4\n",
    "pyproject.toml": PROJECT,
    "shop.py": PRODUCT,
}


def found(after: dict[str, str | None]) -> list[tuple[str, str, str]]:
    whole = {**BEFORE, **after}
    changed = [path for path in whole if whole[path] != BEFORE.get(path)]
    old = {path: BEFORE[path].encode() for path in changed if path in BEFORE}
    new = {path: str(whole[path]).encode() for path in changed if whole[path] is not None}
    findings = compare(old, new, is_test=is_test_file, is_configuration=is_configuration)
    return [(each.kind, each.severity, each.path) for each in findings]


def edited(old: str, new: str) -> dict[str, str | None]:
    assert old in TEST
    return {"tests/test_shop.py": TEST.replace(old, new)}


def conftest(new: str) -> dict[str, str | None]:
    return {"tests/conftest.py": CONFTEST + new}


CHEATS: list[tuple[dict[str, str | None], str, str, str]] = [
    ({"tests/test_shop.py": None}, "test_removed", "blocker", "tests/test_shop.py"),
    (edited("def test_total", "def check_total"), "test_removed", "blocker", "tests/test_shop.py"),
    (edited("class TestShop", "class Shop"), "test_removed", "blocker", "tests/test_shop.py"),
    (edited("import pytest\n", "import pytest\n__test__ = False\n"), "test_removed", "blocker", "tests/test_shop.py"),
    (edited("def test_total", "@pytest.mark.skip\ndef test_total"), "test_skipped", "blocker", "tests/test_shop.py"),
    (
        edited("def test_total", "@pytest.mark.skipif(1 < 2)\ndef test_total"),
        "test_skipped",
        "blocker",
        "tests/test_shop.py",
    ),
    (
        edited("import pytest\n", "import pytest\npytestmark = pytest.mark.skip\n"),
        "test_skipped",
        "blocker",
        "tests/test_shop.py",
    ),
    (
        edited("    result = ", "    pytest.skip('later')\n    result = "),
        "test_skipped",
        "blocker",
        "tests/test_shop.py",
    ),
    (edited("def test_total", "@pytest.mark.xfail\ndef test_total"), "test_xfailed", "blocker", "tests/test_shop.py"),
    (
        edited("def test_total", "@pytest.mark.flaky(reruns=9)\ndef test_total"),
        "test_retried",
        "blocker",
        "tests/test_shop.py",
    ),
    (edited("    assert result == 4\n", ""), "assertion_removed", "blocker", "tests/test_shop.py"),
    (edited("assert result == 4", "assert True"), "assertion_removed", "blocker", "tests/test_shop.py"),
    (
        edited("assert result == 4", "assert isinstance(result, int)"),
        "assertion_removed",
        "blocker",
        "tests/test_shop.py",
    ),
    (
        edited("    result = total(2)\n", "    return\n    result = total(2)\n"),
        "assertion_removed",
        "blocker",
        "tests/test_shop.py",
    ),
    (edited("(1, 1), (2, 4), (3, 9)", "(1, 1)"), "parameters_removed", "blocker", "tests/test_shop.py"),
    (edited("(1, 1), (2, 4), (3, 9)", ""), "parameters_removed", "blocker", "tests/test_shop.py"),
    (
        edited(
            "    assert result == 4\n",
            "    try:\n        assert result == 4\n    except AssertionError:\n        pass\n",
        ),
        "exception_swallowed",
        "blocker",
        "tests/test_shop.py",
    ),
    (edited("assert result == 4", "assert result == 5"), "assertion_changed", "warning", "tests/test_shop.py"),
    ({"tests/test_shop.py": "def broken(:\n"}, "test_unreadable", "blocker", "tests/test_shop.py"),
    ({"tests/data/golden.txt": "5\n"}, "test_data_changed", "warning", "tests/data/golden.txt"),
    (
        conftest("\ndef pytest_sessionfinish(session):\n    session.exitstatus = 0\n"),
        "conftest_hook",
        "blocker",
        "tests/conftest.py",
    ),
    (conftest("\ncollect_ignore = ['test_shop.py']\n"), "conftest_hook", "blocker", "tests/conftest.py"),
    (
        conftest(
            "\n@pytest.fixture(autouse=True)\ndef stable(monkeypatch):\n    monkeypatch.setattr('shop.total', len)\n"
        ),
        "fixture_patches",
        "blocker",
        "tests/conftest.py",
    ),
    (
        {"tests/conftest.py": CONFTEST.replace("    assert a == b\n", "    pass\n")},
        "helper_emptied",
        "blocker",
        "tests/conftest.py",
    ),
    ({"pytest.ini": "[pytest]\n"}, "configuration_narrowed", "blocker", "pytest.ini"),
    ({"pyproject.toml": PROJECT.replace("-ra", "-ra -k zero")}, "configuration_narrowed", "blocker", "pyproject.toml"),
    (
        {"pyproject.toml": PROJECT.replace('["tests"]', '["empty"]')},
        "configuration_narrowed",
        "blocker",
        "pyproject.toml",
    ),
    ({"pyproject.toml": PROJECT.replace('["error"]', "[]")}, "configuration_changed", "warning", "pyproject.toml"),
    ({"pytest.py": "x = 1\n"}, "shadowing_module", "blocker", "pytest.py"),
    ({"sitecustomize.py": "x = 1\n"}, "shadowing_module", "blocker", "sitecustomize.py"),
    (
        {"shop.py": "import os\ndef total(n):\n    return 4 if os.getenv('PYTEST_CURRENT_TEST') else n\n"},
        "environment_probe",
        "blocker",
        "shop.py",
    ),
    ({"shop.py": "import sys\nUNDER = 'pytest' in sys.modules\n" + PRODUCT}, "environment_probe", "blocker", "shop.py"),
    (
        {"shop.py": "from pathlib import Path\ndef total(n):\n    return int((Path('tests') / 'data').read_text())\n"},
        "reads_test_data",
        "blocker",
        "shop.py",
    ),
    (
        {"shop.py": "class N(int):\n    def __eq__(self, other):\n        return True\n"},
        "always_equal",
        "blocker",
        "shop.py",
    ),
    ({"shop.py": "import os\nos._exit(0)\n"}, "process_exit", "blocker", "shop.py"),
    ({"shop.py": "class N(int):\n    __eq__ = lambda s, o: True\n"}, "always_equal", "blocker", "shop.py"),
    (
        {"shop.py": "class N:\n    def __eq__(self, o):\n        return o is not None\n"},
        "always_equal",
        "blocker",
        "shop.py",
    ),
    ({"shop.py": "from unittest.mock import ANY\ntotal = lambda n: ANY\n"}, "always_equal", "blocker", "shop.py"),
    ({"shop.py": "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"}, "conftest_hook", "blocker", "shop.py"),
    (
        {"shop.py": "import os\nROOM = 'FIRELOOP_X' in os.environ\n" + PRODUCT},
        "environment_probe",
        "blocker",
        "shop.py",
    ),
]


@pytest.mark.parametrize(("after", "kind", "severity", "path"), CHEATS)
def test_a_cheat_is_found(after: dict[str, str | None], kind: str, severity: str, path: str) -> None:
    assert (kind, severity, path) in found(after)


HONEST: list[dict[str, str | None]] = [
    {"shop.py": "def total(n):\n    if n < 0:\n        raise ValueError(n)\n    return n**2\n"},
    {"tests/test_shop.py": TEST + "\n\ndef test_more():\n    assert total(4) == 16\n"},
    {"tests/test_shop.py": None, "tests/test_shop_totals.py": TEST},
    {"tests/test_shop.py": TEST.replace('"', "'").replace("\n\n\n", "\n\n")},
    edited("(3, 9)", "(3, 9), (4, 16)"),
    edited("    assert result == 4\n", "    assert result == 4\n    assert result > 0\n"),
    {
        "tests/test_shop.py": TEST.replace(
            "def test_total():\n    result = total(2)\n    assert result == 4\n",
            "def test_total_of_two():\n    result = total(2)\n    assert result == 4\n\n\ndef test_total_of_less():\n",
        )
    },
    {
        "tests/test_new.py": "import sys, pytest\n\n@pytest.mark.skipif(sys.platform == 'win32')\ndef test_x():\n    assert 1\n"
    },
    conftest("\n@pytest.fixture\ndef staff_cart(cart):\n    cart.use('STAFF')\n    return cart\n"),
    {"pyproject.toml": PROJECT.replace('name = "shop"', 'name = "shop"\nversion = "2"')},
    {"shop.py": "import os\nCURRENCY = os.environ.get('SHOP_CURRENCY', 'EUR')\n" + PRODUCT},
    {"shop.py": "class Never:\n    def __eq__(self, other):\n        return False\n" + PRODUCT},
    {"shop.py": "class P:\n    def __eq__(self, other):\n        return self.x == other.x\n" + PRODUCT},
    {"shop.py": "def mode(name):\n    return 'sandbox' if name == 'test' else 'live'\n" + PRODUCT},
    {"shop.py": "import atexit, shutil\natexit.register(shutil.rmtree, 'x')\n" + PRODUCT},
    {"README.md": "Run pytest.\n", ".gitignore": "*.log\n"},
]


@pytest.mark.parametrize("after", HONEST)
def test_an_honest_edit_is_no_blocker(after: dict[str, str | None]) -> None:
    assert [each for each in found(after) if each[1] == "blocker"] == []


def test_a_skip_that_does_not_apply_here_is_a_warning() -> None:
    after = TEST.replace("def test_total", "@pytest.mark.skipif(sys.platform == 'win32')\ndef test_total")
    path = "tests/test_shop.py"
    for passed, kind in ((["tests/test_shop.py::test_total"], "conditional_skip"), ([], "test_skipped")):
        (finding,) = compare(
            {path: TEST.encode()},
            {path: after.encode()},
            is_test=is_test_file,
            is_configuration=is_configuration,
            passed=passed,
        )
        assert (finding.kind, finding.line) == (kind, 11)
