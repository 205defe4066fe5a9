"""The checks of a test function, and whether one asks for less than another."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_fireloop.observe.integrity.syntax import Function, last_name, text

#: Calls that check something though no `assert` statement stands there.
CHECKING_CALL = re.compile(r"^(?:assert|check_|verify_|expect_)|^(?:raises|warns|fail|deprecated_call)$")
TRUE, VAGUE, PARTIAL, EXACT = range(4)
#: Tolerances by keyword, with the sign that makes a larger number a looser check.
TOLERANCES = {"abs": 1, "rel": 1, "abs_tol": 1, "rel_tol": 1, "delta": 1, "places": -1, "ndigits": -1}
BOUNDS = {ast.Lt: 1, ast.LtE: 1, ast.Gt: -1, ast.GtE: -1}
BROAD = frozenset({"Exception", "BaseException"})
LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing a test asks for; `guards` are the conditions under which it does."""

    text: str
    node: ast.expr
    guards: tuple[str, ...]
    line: int


def checks_of(function: Function) -> tuple[Check, ...]:
    """Return the checks that can be reached; what follows a `return` asks for nothing."""
    return tuple(_in_body(function.body, ()))


def _in_body(body: list[ast.stmt], guards: tuple[str, ...]) -> Iterator[Check]:
    for node in body:
        yield from _in_statement(node, guards)
        if isinstance(node, LEAVES) or (isinstance(node, ast.If) and _holds(node.test) and _leaves(node.body)):
            return


def _in_statement(node: ast.stmt, guards: tuple[str, ...]) -> Iterator[Check]:
    if isinstance(node, ast.Assert):
        yield from (Check(text(each), each, guards, node.lineno) for each in _conjuncts(node.test))
    elif isinstance(node, ast.If):
        condition = () if _holds(node.test) else (text(node.test),)
        yield from _in_body(node.body, guards + condition)
        yield from _in_body(node.orelse, (*guards, f"not ({text(node.test)})"))
    elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
        source = node.test if isinstance(node, ast.While) else node.iter
        never = isinstance(source, ast.List | ast.Tuple | ast.Dict) and not getattr(source, "elts", [])
        yield from _in_body(node.body, (*guards, "never") if never else guards)
        yield from _in_body(node.orelse, guards)
    elif isinstance(node, ast.Try):
        for part in (node.body, node.orelse, node.finalbody):
            yield from _in_body(part, guards)
        for handler in node.handlers:
            yield from _in_body(handler.body, (*guards, f"except {text(handler.type) if handler.type else ''}"))
    elif isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            yield from _calls(item.context_expr, guards)
        yield from _in_body(node.body, guards)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from _in_body(node.body, guards)
    else:
        yield from _calls(node, guards)


def _calls(node: ast.AST, guards: tuple[str, ...]) -> Iterator[Check]:
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and CHECKING_CALL.search(last_name(each)):
            yield Check(text(each), each, guards, each.lineno)


def _conjuncts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for each in node.values:
            yield from _conjuncts(each)
    else:
        yield node


def strength(node: ast.expr) -> int:
    """Return how much a check asks for: nothing, mere existence or type, a part, an exact value."""
    if always_true(node):
        return TRUE
    if isinstance(node, ast.UnaryOp):
        return strength(node.operand)
    if isinstance(node, ast.BoolOp):
        return min(PARTIAL, *(strength(each) for each in node.values))
    if isinstance(node, ast.Compare):
        kinds = {type(op) for op in node.ops}
        if kinds <= {ast.IsNot} or (kinds <= {ast.Is} and last_name(node.left) == "type"):
            return VAGUE
        if _is_length(node.left) and not kinds <= {ast.Eq}:
            return VAGUE
        return EXACT if kinds <= {ast.Eq, ast.Is} and not _is_length(node.left) else PARTIAL
    if isinstance(node, ast.Call):
        name = last_name(node)
        if CHECKING_CALL.search(name):
            weak = name in {"assertTrue", "assertIsNotNone", "assertIsInstance", "assertTruthy"}
            return VAGUE if weak else EXACT
        return PARTIAL if name in {"startswith", "endswith", "issubset", "match", "search", "any"} else VAGUE
    return VAGUE


def always_true(node: ast.expr) -> bool:
    """Whether an expression holds whatever the product does."""
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return isinstance(node.operand, ast.Constant) and not node.operand.value
    if isinstance(node, ast.BoolOp):
        every = [always_true(each) for each in node.values]
        return any(every) if isinstance(node.op, ast.Or) else all(every)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return bool(node.elts)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = node.left, node.comparators[0]
        if isinstance(node.ops[0], ast.Eq | ast.Is | ast.GtE | ast.LtE):
            same = text(left) == text(right) or _both_literal_and_equal(left, right)
            return same or (_is_length(left) and isinstance(node.ops[0], ast.GtE) and text(right) == "0")
    return isinstance(node, ast.Lambda)


def asks_less(old: ast.expr, new: ast.expr) -> bool:
    """Whether a check that took another's place lets more pass."""
    if strength(new) < strength(old):
        return True
    (bare_old, loose_old), (bare_new, loose_new) = _without_tolerance(old), _without_tolerance(new)
    if bare_old == bare_new:
        return any(value > loose_old.get(name, value - 1) for name, value in loose_new.items())
    if isinstance(new, ast.BoolOp) and isinstance(new.op, ast.Or):
        return any(text(each) == text(old) for each in new.values)
    if isinstance(old, ast.Call) and isinstance(new, ast.Call) and last_name(old) == last_name(new):
        return _expects_broader(old, new)
    return False


def only_value_differs(old: ast.expr, new: ast.expr) -> bool:
    """Whether two checks ask the same of the same thing, for another value."""
    if isinstance(old, ast.UnaryOp) != isinstance(new, ast.UnaryOp):
        return text(getattr(old, "operand", old)) == text(getattr(new, "operand", new))
    if isinstance(old, ast.Compare) and isinstance(new, ast.Compare):
        sides_old, sides_new = [old.left, *old.comparators], [new.left, *new.comparators]
        if [type(op) for op in old.ops] != [type(op) for op in new.ops]:
            return False
        return sum(text(a) == text(b) for a, b in zip(sides_old, sides_new, strict=True)) == len(sides_old) - 1
    if isinstance(old, ast.Call) and isinstance(new, ast.Call) and text(old.func) == text(new.func):
        arguments = [text(each) for each in old.args], [text(each) for each in new.args]
        return len(arguments[0]) == len(arguments[1]) and arguments[0] != arguments[1]
    return False


def _expects_broader(old: ast.Call, new: ast.Call) -> bool:
    """Whether `raises` and the like accept more: a broader class, more classes, no message."""
    had, has = ({keyword.arg for keyword in call.keywords} for call in (old, new))
    if "match" in had - has:
        return True
    if not old.args or not new.args:
        return False
    was, now = old.args[0], new.args[0]
    broader = last_name(now) in BROAD and last_name(was) not in BROAD
    more = isinstance(now, ast.Tuple) and text(was) in {text(each) for each in now.elts}
    return broader or more


def _without_tolerance(node: ast.expr) -> tuple[str, dict[str, float]]:
    """Return a check without its tolerances and bounds, and those as numbers: the larger, the looser."""
    stripper = _Tolerances()
    bare = stripper.visit(copy.deepcopy(node))
    return text(bare), stripper.found


class _Tolerances(ast.NodeTransformer):
    def __init__(self) -> None:
        self.found: dict[str, float] = {}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        kept = []
        for keyword in node.keywords:
            number = _number(keyword.value)
            if keyword.arg in TOLERANCES and number is not None:
                self.found[keyword.arg] = number * TOLERANCES[keyword.arg]
            else:
                kept.append(keyword)
        node.keywords = kept
        name = last_name(node)
        if name == "approx" and node.args:
            self.found["approx"] = 1
            return node.args[0]
        if name == "round" and node.args:
            digits = _number(node.args[1]) if len(node.args) > 1 else 0
            self.found["round"] = -(digits if digits is not None else 0)
            return node.args[0]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        number = _number(node.comparators[-1])
        sign = BOUNDS.get(type(node.ops[-1]))
        if sign is not None and number is not None and len(node.ops) == 1:
            self.found["bound"] = number * sign
            node.comparators[-1] = ast.Constant(0)
        return node


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _both_literal_and_equal(left: ast.expr, right: ast.expr) -> bool:
    try:
        return bool(ast.literal_eval(left) == ast.literal_eval(right))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False


def _is_length(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node) == "len"


def _holds(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], LEAVES)
