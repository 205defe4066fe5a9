"""Causes: the failures of one run that one fix would cure, and those that need two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., tuple[int, str, dict[str, Any]]]
Write = Callable[[dict[str, str]], None]

SHOP = """
    import json

    RATES = {}

    class Basket:
        def __init__(self, size=0):
            self.size = size

        def weight(self):
            return self.size

    def tax(amount):
        return amount

    def rate(country):
        return RATES[country]

    def check(value, limit):
        if value > limit:
            raise ValueError(f"{value} is over {limit}")
        if value < 0:
            raise ValueError(f"{value} is no amount")

    def load(text):
        return json.loads(text)

    def find(name):
        return None

    def items():
        return []

    def rows():
        return []

    def near(a, b):
        assert abs(a - b) < 1, "not near"
    """
#: Bodies of two tests, and whether one fix would cure both.
PAIRS = {
    "values of one function": ("assert tax(1) == 2", "assert tax(5) == 6", True),
    "values of one function, held in names": ("x = tax(1)\nassert x == 2", "y = tax(5)\nassert 6 == y", True),
    "values of two functions": ("assert tax(1) == 2", "assert Basket(1).weight() == 2", False),
    "methods of one class": ("assert Basket(1).weight() == 2", "b = Basket()\nassert b.size == 3", True),
    "an assertion and an exception": ("assert tax(1) == 2", "tax()", False),
    "a key that is missing": ("rate('at')", "rate('de')", True),
    "two statements of one function": ("check(3, 2)", "check(-1, 2)", False),
    "one statement, other values": ("check(3, 2)", "check(7, 4)", True),
    "a wrong argument": ("tax(amount=1, rate=2)", "x = 1\ntax(amount=x, rate=x)", True),
    "two wrong arguments": ("tax(1, rate=2)", "tax(1, place=2)", False),
    "a name that is missing": ("from shop import pay", "def f():\n    from shop import pay\nf()", True),
    "the same name that is missing": ("from shop import pay", "import shop\nfrom shop import pay", True),
    "two names that are missing": ("from shop import pay", "from shop import ship", False),
    "a helper that compares": ("near(1, 5)", "near(7, 2)", True),
    "a library called by one function": ("load('x')", "load('{')", False),
    "a coroutine within the test": (
        "import asyncio\nasync def f():\n    assert tax(1) == 2\nasyncio.run(f())",
        "assert tax(5) == 6",
        True,
    ),
    "a helper of the test's own file": ("same(tax(1), 2)", "same(tax(5), 6)", True),
    "one helper of the tests for two functions": ("same(tax(1), 2)", "same(Basket(1).weight(), 2)", False),
    "nothing was returned by one function": ("find('a').name", "find('b').age", True),
    "nothing was returned by two functions": ("find('a').name", "items()[0]", False),
    "an index out of what two functions return": ("items()[0]", "rows()[0]", False),
    "two comparisons with nothing of the project": ("assert 1 == 2", "assert 3 == 4", False),
    "two keys in the tests themselves": ("{}['a']", "{}['b']", False),
}


@pytest.mark.parametrize("case", PAIRS)
def test_one_cause_or_two(run: Run, write: Write, case: str) -> None:
    one, other, same = PAIRS[case]
    names = "from shop import Basket, check, find, items, load, near, rate, rows, tax\n\n"
    names += "def same(a, b):\n    assert a == b\n\n"
    body = "".join(
        f"def test_{n}():\n    {text.replace(chr(10), chr(10) + '    ')}\n\n" for n, text in enumerate((one, other))
    )
    write({"shop.py": SHOP, "test_shop.py": f"{names}{body}"})
    _, _, record = run("-p", "no:cacheprovider")
    causes = [test["cause"] for test in record["tests"]]
    assert len(causes) == 2
    assert None not in causes
    assert (causes[0] == causes[1]) is same


def test_files_that_cannot_be_collected_for_one_reason(run: Run, write: Write) -> None:
    write(
        {
            "shop.py": "import json\n",
            "broken.py": "import nothing_like_it\n",
            **{f"test_{n}.py": "from shop import pay\n" for n in range(3)},
            **{f"test_{n}.py": "import broken\n" for n in range(3, 6)},
            "test_6.py": "def test_6(:\n",
            "test_7.py": "from shop import ship\n",
        }
    )
    _, _, record = run()
    causes = [error["cause"] for error in record["collection_errors"]]
    assert len(causes) == 8
    assert len(set(causes[:3])) == len(set(causes[3:6])) == 1
    assert len(set(causes)) == 4
    assert [error["exception"] for error in record["collection_errors"]][-2:] == ["SyntaxError", "ImportError"]


def test_a_fixture_that_is_missing_or_broken(run: Run, write: Write) -> None:
    write(
        {
            "conftest.py": "import pytest\n@pytest.fixture\ndef database():\n    raise OSError('no database')\n",
            "test_a.py": "".join(
                f"def test_{n}({name}): pass\n" for n, name in enumerate(["database"] * 2 + ["lost"] * 2)
            ),
            "test_b.py": "def test_4(database): pass\ndef test_5(lost): pass\ndef test_6(other): pass\n",
        }
    )
    _, _, record = run()
    causes = {test["nodeid"].rpartition("_")[2]: test["cause"] for test in record["tests"]}
    assert causes["0"] == causes["1"] == causes["4"]
    assert causes["2"] == causes["3"] == causes["5"]
    assert len(set(causes.values())) == 3


def test_a_helper_of_the_tests_is_no_place(run: Run, write: Write) -> None:
    write(
        {
            "tests/helpers.py": "def assert_ok(answer):\n    assert answer == 200\n",
            "tests/test_a.py": "from helpers import assert_ok\ndef test_users():\n    assert_ok(500)\n"
            "def test_orders():\n    assert_ok(404)\n",
        }
    )
    _, _, record = run()
    first, second = (test["cause"] for test in record["tests"])
    assert first != second
