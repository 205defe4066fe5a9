"""A project with forty failures of five causes: the same signatures under any condition, others after a real change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": """
        PRICES = {"apple": 3, "pear": 4}


        class Line:
            def __init__(self, name):
                self.name = name


        def price(line):
            if line.name not in PRICES:
                raise LookupError(f"no price for {line.name} in {line!r}")
            return PRICES[line.name]


        def total(names):
            return sum(price(Line(name)) for name in names)


        def tax(amount, rate=0.2):
            return amount - amount * rate
        """,
    "shop/store.py": """
        import json
        import os


        class Store:
            def __init__(self, path):
                self.path = path

            def load(self):
                try:
                    return json.loads(self.path.read_text())
                except FileNotFoundError as error:
                    raise RuntimeError(f"process {os.getpid()} has no store at {self.path}") from error
        """,
    "shop/labels.py": """
        def labels(names):
            return {name.upper() for name in names} | {"SALE", "NEW", "LAST"}
        """,
    "tests/conftest.py": """
        import os
        import tempfile
        import time
        import uuid

        import pytest


        @pytest.fixture
        def database():
            folder = os.path.dirname(os.path.dirname(__file__))
            raise ConnectionError(f"refused for {folder}, {os.path.expanduser('~')}, {uuid.uuid4()} at {time.time()}")
        """,
    "tests/test_cart.py": """
        import pytest

        from shop.cart import tax, total


        @pytest.mark.parametrize("amount", [10, 20, 30, 40, 50, 60, 70, 80])
        def test_tax(amount):
            assert tax(amount) == amount * 6 / 5


        @pytest.mark.parametrize("name", ["plum", "fig", "lime", "kiwi", "date", "nut", "oat", "rye"])
        def test_total(name):
            assert total(["apple", name]) > 3
        """,
    "tests/test_store.py": """
        import pytest

        from shop.store import Store


        @pytest.mark.parametrize("number", range(8))
        def test_load(tmp_path, number):
            assert Store(tmp_path / f"store{number}.json").load() == {}


        @pytest.mark.parametrize("number", range(8))
        def test_query(database, number):
            assert database.query(number)
        """,
    "tests/test_labels.py": """
        import pytest

        from shop.labels import labels


        @pytest.mark.parametrize("name", ["plum", "fig", "lime", "kiwi", "date", "nut", "oat", "rye"])
        def test_labels(name):
            assert labels([name, "pear"]) == {name.upper(), "PEAR"}
        """,
}
#: File, text, its replacement, and the one test function whose failures become others.
CHANGES = {
    "another value": ("shop/cart.py", "rate=0.2", "rate=0.3", "test_tax"),
    "another sign": ("shop/cart.py", "amount - amount * rate", "amount * rate - amount", "test_tax"),
    "no value": ("shop/cart.py", "return amount - amount * rate", "amount - amount * rate", "test_tax"),
    "an exception in place of a value": ("shop/cart.py", "amount * rate", "amount / (rate - 0.2)", "test_tax"),
    "another expectation": ("tests/test_cart.py", "amount * 6 / 5", "amount * 7 / 5", "test_tax"),
    "another exception": ("shop/cart.py", "raise LookupError", "raise KeyError", "test_total"),
    "another message": ("shop/cart.py", "no price for", "no discount for", "test_total"),
    "another missing name": ("tests/test_cart.py", '["apple", name]', '["apple", name + "s"]', "test_total"),
    "raised elsewhere": (
        "shop/cart.py",
        "return sum(price(Line(name)) for name in names)",
        "names = [Line(name) for name in names]\n    return price(names[1])",
        "test_total",
    ),
    "a misspelled name": ("shop/cart.py", "if line.name not in PRICES", "if line.name not in PRICE", "test_total"),
    "a missing attribute": ("shop/cart.py", "self.name = name", "self.names = name", "test_total"),
    "another cause below": ("shop/store.py", "self.path.read_text()", 'open(self.path / "x").read()', "test_load"),
    "a cause caught no more": ("shop/store.py", "except FileNotFoundError", "except PermissionError", "test_load"),
    "no cause": ("shop/store.py", " from error", " from None", "test_load"),
    "another type of the same text": ("shop/store.py", "raise RuntimeError(", "raise OSError(", "test_load"),
    "another store": ("tests/test_store.py", "store{number}.json", "shop{number}.json", "test_load"),
    "refused for another reason": ("tests/conftest.py", "refused for", "timed out for", "test_query"),
    "another error of a fixture": ("tests/conftest.py", "raise ConnectionError", "raise TimeoutError", "test_query"),
    "an element more": ("shop/labels.py", '"LAST"}', '"LAST", "HOT"}', "test_labels"),
    "an element less": ("shop/labels.py", '"SALE", ', "", "test_labels"),
}
#: By name: arguments, variables of the environment, and what is done to the project.
CONDITIONS: dict[str, tuple[list[str], dict[str, str]]] = {
    "hash seed": ([], {"PYTHONHASHSEED": "7"}),
    "user and home": ([], {"USER": "ines", "LOGNAME": "ines", "HOME": "/home/ines"}),
    "narrow": ([], {"COLUMNS": "40"}),
    "wide, continuous integration": ([], {"COLUMNS": "300", "CI": "true"}),
    "verbose": (["-vv"], {}),
    "quiet, short tracebacks": (["-q", "--tb=short"], {}),
    "native tracebacks with locals": (["--tb=native", "-l"], {}),
    "no tracebacks": (["--tb=no"], {}),
    "colour": (["--color=yes"], {}),
    "another temporary folder": (["--basetemp=scratch"], {}),
    "plain imports": (["--import-mode=importlib"], {}),
    "no capturing": (["-s"], {}),
    "another order": (["tests/test_store.py", "tests/test_labels.py", "tests/test_cart.py"], {}),
    "xdist": (["-n2"], {}),
    "another Python": ([], {}),
}
Marks = dict[str, tuple[str, str]]


def lay(folder: Path) -> Path:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n", encoding="utf-8")
    return folder


def marks(folder: Path, *args: str, python: str = sys.executable, **environment: str) -> Marks:
    """Run the tests and return signature and cause of each failure."""
    record = folder.parent / f"{folder.name}.json"
    known = {
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), sysconfig.get_path("purelib")]),
        "PYTHONHASHSEED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    xdist = ["-p", "xdist"] if "-n2" in args else []
    subprocess.run(
        [python, "-m", "pytest", "-p", "pytest_fireloop.plugin", *xdist, f"--fire-loop-record={record}", *args],
        cwd=folder,
        env={**os.environ, **known, **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )
    tests = json.loads(record.read_text("utf-8"))["tests"]
    return {test["nodeid"]: (test["signature"], test["cause"]) for test in tests}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Marks:
    return marks(lay(tmp_path_factory.mktemp("first") / "shop"))


def another_python() -> str | None:
    """Return an interpreter of another release that can run the installed pytest, or None."""
    for minor in (13, 12, 14, 11, 15, 10):
        path = shutil.which(f"python3.{minor}")
        if path is None or minor == sys.version_info.minor:
            continue
        known = {**os.environ, "PYTHONPATH": sysconfig.get_path("purelib")}
        if subprocess.run([path, "-c", "import pytest"], env=known, capture_output=True, check=False).returncode == 0:
            return path
    return None


def test_there_are_forty_failures_of_five_causes(before: Marks) -> None:
    assert len(before) == 40
    assert Counter(Counter(cause for _, cause in before.values()).values()) == {8: 5}
    by_function = {(node.partition("[")[0], cause) for node, (_, cause) in before.items()}
    assert len(by_function) == 5


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_change_no_signature(before: Marks, tmp_path: Path, condition: str) -> None:
    args, environment = CONDITIONS[condition]
    python = sys.executable
    if condition == "xdist":
        pytest.importorskip("xdist")
    if condition == "another Python":
        python = another_python() or pytest.skip("no other release of Python is here")
    folder = lay(tmp_path / "srv" / "agent7" / "work" / "shop.checkout")
    assert marks(folder, *args, python=python, **environment) == before


def test_lines_added_above_change_no_signature(before: Marks, tmp_path: Path) -> None:
    folder = lay(tmp_path / "shop")
    for name in FILES:
        path = folder / name
        if path.name != "__init__.py":
            text = path.read_text("utf-8").replace("\n\n\n", "\n\n\n# unrelated\nUNRELATED = 1\n\n\n")
            path.write_text(f"'''Said above.'''\n\n{text}", encoding="utf-8")
    assert marks(folder) == before


@pytest.mark.parametrize("change", CHANGES)
def test_a_real_change_makes_another_signature(before: Marks, tmp_path: Path, change: str) -> None:
    name, old, new, function = CHANGES[change]
    folder = lay(tmp_path / "shop")
    text = (folder / name).read_text("utf-8")
    assert text.count(old) == 1
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    after = marks(folder)
    assert after.keys() == before.keys()
    changed = {node for node in before if after[node][0] != before[node][0]}
    assert changed == {node for node in before if f"::{function}[" in node}
