"""Edits to operators, conditions and constants."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from pytest_fireloop.agents.repair.source import Project, SourceFile, Span

_BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_OPPOSITE = {
    "==": ["!="],
    "!=": ["=="],
    "<": [">"],
    ">": ["<"],
    "<=": [">="],
    ">=": ["<="],
    "in": ["not in"],
    "not in": ["in"],
    "is": ["is not", "=="],
    "is not": ["is", "!="],
}
_ARITHMETIC = {
    "+": ["-"],
    "-": ["+"],
    "*": ["/", "//", "**"],
    "/": ["*", "//"],
    "//": ["/", "%"],
    "%": ["//"],
    "**": ["*"],
    "&": ["|"],
    "|": ["&"],
    "<<": [">>"],
    ">>": ["<<"],
}
_COMPARISON = re.compile(r"not\s+in\b|is\s+not\b|in\b|is\b|[<>=!]=|[<>]")
_OPERATOR = re.compile(r"\*\*|//|<<|>>|[-+*/%&|]")
_WORD = re.compile(r"\b(?:and|or)\b")
_COMMENT = re.compile(r"#[^\r\n]*")
_SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


def _between(source: SourceFile, left: ast.expr, right: ast.expr, pattern: re.Pattern[str]) -> tuple[int, int, str]:
    """Return where the operator between two operands stands, and the operator with single spaces."""
    start = source.end(left)
    gap = _COMMENT.sub(lambda match: " " * len(match.group()), source.text[start : source.start(right)])
    found = pattern.search(gap)
    if found is None:
        return start, start, ""
    return start + found.start(), start + found.end(), " ".join(found.group().split())


def _comparisons(node: ast.AST, source: SourceFile) -> Iterator[tuple[int, int, str]]:
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        for left, right in pairwise(operands):
            yield _between(source, left, right, _COMPARISON)


def boundary(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `a < b` into `a <= b`."""
    for start, end, operator in _comparisons(node, source):
        if operator in _BOUNDARY:
            yield Span(start, end, _BOUNDARY[operator])


def opposite(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `a == b` into `a != b`, `a < b` into `a > b`."""
    for start, end, operator in _comparisons(node, source):
        for other in _OPPOSITE.get(operator, ()):
            yield Span(start, end, other)


def boolean(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `a and b` into `a or b`."""
    if isinstance(node, ast.BoolOp):
        other = "or" if isinstance(node.op, ast.And) else "and"
        for left, right in pairwise(node.values):
            start, end, operator = _between(source, left, right, _WORD)
            if operator:
                yield Span(start, end, other)


def operand_dropped(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `a and b` into `a`, and into `b`."""
    if isinstance(node, ast.BoolOp):
        first, last = node.values[0], node.values[-1]
        yield Span(source.end(node.values[-2]), source.end(last), "")
        yield Span(source.start(first), source.start(node.values[1]), "")


def not_dropped(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `not a` into `a`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield source.replace(node, source.segment(node)[len("not") :].lstrip())


def _is_condition(node: ast.expr, parent: ast.AST | None) -> bool:
    if isinstance(parent, (ast.If, ast.While, ast.IfExp)):
        return parent.test is node
    if isinstance(parent, ast.comprehension):
        return node in parent.ifs
    if isinstance(parent, ast.Return):
        return isinstance(node, (ast.Compare, ast.BoolOp, ast.Call))
    return isinstance(parent, ast.BoolOp)


def negated(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `if a:` into `if not a:`."""
    if isinstance(node, ast.expr) and _is_condition(node, source.parents.get(node)):
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        if isinstance(node, _SIMPLE):
            yield source.replace(node, f"not {source.segment(node)}")
        elif not negative:
            yield source.replace(node, f"not ({source.segment(node)})")


def arithmetic(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `a + b` into `a - b`, also within `a += b`."""
    pair = None
    if isinstance(node, ast.BinOp):
        pair = (node.left, node.right)
    elif isinstance(node, ast.AugAssign):
        pair = (node.target, node.value)
    if pair is not None and not isinstance(pair[0], ast.JoinedStr):
        start, end, operator = _between(source, *pair, _OPERATOR)
        for other in _ARITHMETIC.get(operator, ()):
            yield Span(start, end, other)


def operands_swapped(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `a - b` into `b - a`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)):
        left, right = node.left, node.right
        if isinstance(left, _SIMPLE) and isinstance(right, _SIMPLE) and not isinstance(left, ast.JoinedStr):
            middle = source.text[source.end(left) : source.start(right)]
            text = source.segment(right) + middle + source.segment(left)
            yield Span(source.start(left), source.end(right), text)


def one_more_or_less(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Take one from a whole number, or add one."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        parent = source.parents.get(node)
        if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub):
            yield source.replace(parent, str(1 - node.value))
            yield source.replace(parent, str(-1 - node.value))
        else:
            yield source.replace(node, str(node.value - 1))
            yield source.replace(node, str(node.value + 1))


def truth_flipped(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `True` into `False`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield source.replace(node, str(not node.value))


def other_number(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Take another number, or a named number, of the module."""
    if isinstance(node, ast.Constant) and type(node.value) in {int, float}:
        found = [
            item
            for item in ast.walk(source.tree)
            if isinstance(item, ast.Constant) and type(item.value) in {int, float} and item.value != node.value
        ]
        yield from (source.replace(node, text) for text in dict.fromkeys(source.segment(item) for item in found))
        yield from (source.replace(node, name) for name in source.module_names if name.isupper())


def offset_by_one(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Take one from an index, a bound, a result or a compared value, or add one."""
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))
    if isinstance(node, (ast.Name, ast.Call, ast.Attribute)) or (is_sum and isinstance(node, ast.BinOp)):
        parent = source.parents.get(node)
        if (
            isinstance(parent, (ast.Slice, ast.Compare, ast.Return))
            or (isinstance(parent, ast.Subscript) and parent.slice is node)
            or (isinstance(parent, ast.Call) and parent.func is not node and source.segment(parent.func) == "range")
        ):
            yield source.replace(node, f"{source.segment(node)} - 1")
            yield source.replace(node, f"{source.segment(node)} + 1")


def offset_dropped(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `a - 1` into `a`."""
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, (ast.Add, ast.Sub))
        and isinstance(node.right, ast.Constant)
        and type(node.right.value) is int
    ):
        yield source.replace(node, source.segment(node.left))
