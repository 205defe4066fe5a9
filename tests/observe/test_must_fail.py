"""Tests that are changed so that they must fail, run by real pytest against products that are right and that cheat."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from pytest_fireloop.observe.integrity.must_fail import must_fail, named

RIGHT = "def five():\n    return 5\n\n\ndef words():\n    return ['a', 'b']\n\n\nNAN = float('inf')\n"
UNITTEST = (
    "import unittest\nimport product\n\n\nclass TestIt(unittest.TestCase):\n    def test_it(self):\n        self.{}\n"
)


def body(text: str, name: str = "test_it", head: str = "") -> str:
    lines = dedent(text).strip().splitlines()
    return f"import pytest\nimport product\n\n\n{head}def {name}():\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    "source",
    [
        body("assert product.five() == 5"),
        body("assert 5 == product.five()"),
        body("assert product.five() == pytest.approx(5, abs=0.5)"),
        body("assert product.words() == ['a', 'b']"),
        body("assert ''.join(product.words()) == 'ab'"),
        body("assert ''.join(product.words()).encode() == b'ab'"),
        body("assert product.NAN == float('inf')"),
        body("assert product.NAN == 1e999"),
        body("expected = 5\nassert product.five() == expected"),
        body("expected = float('inf')\nassert product.NAN == expected"),
        body("expected = ['a', 'b']\nassert product.words() == expected"),
        body("expected = 'ab'\nassert ''.join(product.words()) == expected"),
        body("assert product.five() > 4"),
        body("with pytest.raises(AssertionError):\n    assert product.five() == 6"),
        body("for n in range(2):\n    assert product.five() == 5"),
        body("if product.five() == 5:\n    assert True"),
        body("assert product.five()\nassert product.five() == 5", head="@pytest.mark.filterwarnings('error')\n"),
        "import product\n\n\nasync def helper():\n    yield 1\n\n\ndef test_it():\n    assert product.five() == 5\n",
        UNITTEST.format("assertEqual(product.five(), 5)"),
        UNITTEST.format("assertAlmostEqual(product.five(), 5, delta=100)"),
    ],
)
def test_what_must_fail_fails_with_a_product_that_is_right(pytester: pytest.Pytester, source: str) -> None:
    name = "TestIt::test_it" if "class" in source else "test_it"
    made = must_fail(source.encode(), {name: None})
    assert made is not None
    assert made[1] == {name}
    Path("product.py").write_text(RIGHT)
    Path("test_it.py").write_text(source)
    assert pytester.runpytest_subprocess("-p", "no:fireloop").ret == 0
    Path("test_it.py").write_bytes(made[0])
    outcome = pytester.runpytest_subprocess("-p", "no:fireloop")
    outcome.assert_outcomes(failed=1)


@pytest.mark.parametrize(
    "source",
    [
        body("if product.five() == 5:\n    return\nassert product.five() == 6"),
        body("yield 1\nassert product.five() == 5"),
        body("assert product.five() == 5", head="@expect_failure\n"),
        body("assert product.five() == 5", name="helper"),
        "def test_it(:\n",
    ],
    ids=["ends early", "generator", "decorated", "no test", "unreadable"],
)
def test_what_may_pass_all_the_same_is_left_alone(source: str) -> None:
    assert must_fail(source.encode(), {"test_it": None, "helper": None}) is None


@pytest.mark.parametrize("left", ["mock.ANY", "ANY", "IsInt", "AnyThing()", "dirty.IsPositive()"])
def test_what_is_equal_to_anything_on_purpose_only_fails_at_its_end(left: str) -> None:
    made = must_fail(body(f"assert {left} == product.five()").encode(), {"test_it": None})
    assert made is not None
    assert f"assert {left} == product.five()" in made[0].decode()
    assert "raise AssertionError" in made[0].decode()


def test_the_check_that_failed_at_the_start_is_the_one_that_is_changed() -> None:
    source = body("assert product.five() == 5\nassert product.words() == ['a']\nassert 1 == 1")
    made = must_fail(source.encode(), {"test_it": 7})
    assert made is not None
    assert made[0].decode().splitlines()[-3:] == [
        "    assert product.five() == 5",
        "    assert product.words() == type('Other', (), {})()",
        "    assert 1 == 1",
    ]


def test_parameter_sets_and_classes_belong_to_their_test() -> None:
    nodes = ["a.py::test_a[1]", "a.py::test_a[2]", "a.py::TestA::test_a", "a.py::test_b"]
    assert named(nodes, {"test_a"}) == nodes[:2]
    assert named(nodes, {"TestA::test_a"}) == nodes[2:3]
