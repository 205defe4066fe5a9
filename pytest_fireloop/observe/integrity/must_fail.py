"""Makes tests that must fail out of tests that pass: what they expect is another value, or they fail at their end."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Collection, Mapping

from pytest_fireloop.observe.integrity.syntax import Function, dotted, parse
from pytest_fireloop.observe.integrity.units import units

#: Equal to nothing else; a value of the product that is equal to it is equal to everything.
OTHER = "type('Other', (), {})()"
#: A value that is another one of its own type, where that is text or a number: letters, for some helpers let figures be.
VARIED = (
    "(lambda value: value[: len(value) // 2] + 'zq' + value[len(value) // 2 :] + 'zq' if type(value) is str else "
    "value + abs(value) + 1 if type(value) in (int, float) and value - value == 0 else type('Other', (), {{}})())({})"
)
EQUALITIES = frozenset({"assertEqual", "assertEquals", "assertAlmostEqual", "assertListEqual", "assertDictEqual"})
#: Helpers of the project's own that compare two things.
SAME = re.compile(r"^(?:assert|check|expect|verify)\w*_(?:same|equal|equals|match|matches)(?:_|$)", re.IGNORECASE)
#: Decorators that leave the failure of a test a failure.
PLAIN = ("pytest.mark.", "mark.", "staticmethod", "given", "settings", "patch", "mock.", "parameterized")
#: What stands for any value; a test that compares with it may pass whatever is expected.
ANYTHING = ("ANY", "Is", "Any")


def must_fail(source: bytes, lines: Mapping[str, int | None]) -> tuple[bytes, frozenset[str]] | None:
    """Return a test file in which the named tests must fail, with the names of those; None where none can be made.

    `lines` holds, by qualified name, the line on which the test failed at the start, where that is known.
    """
    tree, found = parse(source), units("", source)
    if tree is None or found is None:
        return None
    own = {(each.lineno, each.name): each for each in ast.walk(tree) if isinstance(each, Function)}
    made = set()
    for unit in found:
        node = own.get((unit.line, unit.function_name))
        if unit.is_test and unit.name in lines and node is not None and _make(node, lines[unit.name]):
            made.add(unit.name)
    if not made:
        return None
    return ast.unparse(ast.fix_missing_locations(tree)).encode("utf-8", "surrogatepass"), frozenset(made)


def _make(function: Function, line: int | None) -> bool:
    if not all(dotted(each).startswith(PLAIN) for each in function.decorator_list):
        return False
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(function)):
        return False
    checks = [each for each in function.body if _compared(each) is not None]
    if checks and not _may_leave(function, checks[-1]):
        failed = (each for each in checks if line is not None and each.lineno <= line <= (each.end_lineno or 0))
        _vary(next(failed, checks[-1]))
        return True
    if _may_leave(function, None):
        return False
    function.body.append(ast.parse("raise AssertionError('this test must fail')").body[0])
    return True


def _may_leave(function: Function, last: ast.stmt | None) -> bool:
    """Whether a passing test may end before a statement of its body, or before its end."""
    before = function.body[: function.body.index(last)] if last is not None else function.body
    return any(isinstance(each, ast.Return) for statement in before for each in ast.walk(statement))


def _compared(statement: ast.stmt) -> tuple[ast.expr, ast.expr] | None:
    """Return the two sides of a plain check for equality."""
    if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
        test = statement.test
        sides = (test.left, test.comparators[0]) if len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq) else None
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        method = dotted(call).rpartition(".")[2]
        plain = (method in EQUALITIES or SAME.search(method)) and len(call.args) > 1 and not call.keywords
        sides = (call.args[0], call.args[1]) if plain else None
    else:
        return None
    if sides is None or any(_is_anything(each) for each in sides):
        return None
    return sides


def _is_anything(node: ast.expr) -> bool:
    """Whether the product's side of a check, taken by itself, is made to be equal to anything."""
    return dotted(node).rpartition(".")[2].startswith(ANYTHING)


def _vary(statement: ast.stmt) -> None:
    sides = _compared(statement)
    assert sides is not None
    # the literal is what is expected, whichever side it stands on
    expected = sides[0] if isinstance(sides[0], ast.Constant) and not isinstance(sides[1], ast.Constant) else sides[1]
    other = _other(expected)
    if isinstance(statement, ast.Assert):
        assert isinstance(statement.test, ast.Compare)
        if expected is statement.test.left:
            statement.test.left = other
        else:
            statement.test.comparators[0] = other
        return
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    statement.value.args[0 if expected is sides[0] else 1] = other


def _other(node: ast.expr) -> ast.expr:
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, str):
        return ast.Constant(f"{value}?")
    if isinstance(value, bytes):
        return ast.Constant(value + b"?")
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return ast.Constant(value + abs(value) + 1)
    if isinstance(node, ast.Name | ast.Attribute):
        # of the same type, so that a comparison which is lenient with its own kind is asked
        return ast.parse(VARIED.format(ast.unparse(node)), mode="eval").body
    return ast.parse(OTHER, mode="eval").body


def named(nodeids: Collection[str], made: Collection[str]) -> list[str]:
    """Return those of the node ids whose test is among the made ones."""
    return [node for node in nodeids if node.partition("::")[2].partition("[")[0] in made]
