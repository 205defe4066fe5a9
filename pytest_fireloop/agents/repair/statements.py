"""Edits to whole statements."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from pytest_fireloop.agents.repair.source import FUNCTIONS, Project, SourceFile, Span

_INDENT = re.compile(r"[ \t]*")


def return_added(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Return an expression that stands alone."""
    silent = (ast.Constant, ast.Yield, ast.YieldFrom)
    if isinstance(node, ast.Expr) and not isinstance(node.value, silent) and source.function(node) is not None:
        yield Span(source.start(node), source.start(node), "return ")


def raise_added(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Raise an exception that is only made."""
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id[:1].isupper()
    ):
        yield Span(source.start(node), source.start(node), "raise ")


def jump_swapped(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `break` into `continue`."""
    if isinstance(node, (ast.Break, ast.Continue)):
        yield source.replace(node, "continue" if isinstance(node, ast.Break) else "break")


def accumulated(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `a = b` into `a += b`, and the other way round."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)) and source.function(node) is not None:
            start = source.end(target)
            equals = source.text.index("=", start)
            yield Span(equals, equals, "+")
    elif isinstance(node, ast.AugAssign):
        start = source.end(node.target)
        equals = source.text.index("=", start)
        operator = source.text[start:equals].lstrip()
        yield Span(equals - len(operator), equals, "")


def fallback_dropped(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `a if b else c` into `c if b else a`."""
    if isinstance(node, ast.IfExp):
        middle = source.text[source.end(node.body) : source.start(node.orelse)]
        text = source.segment(node.orelse) + middle + source.segment(node.body)
        yield Span(source.start(node.body), source.end(node.orelse), text)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block


def moved_out(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Move the last statement of a loop or condition behind it."""
    parent = source.parents.get(node)
    if isinstance(node, ast.stmt) and isinstance(parent, (ast.For, ast.While, ast.If, ast.With)):
        for block in _blocks(parent):
            orelse = getattr(parent, "orelse", [])
            behind = orelse and block is not orelse
            if len(block) > 1 and block[-1] is node and not behind and _one_line(node):
                yield _indented(node, source, _indent(parent, source))


def moved_in(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Move the statement behind a loop or condition into it."""
    parent = source.parents.get(node)
    if isinstance(node, ast.stmt) and _one_line(node) and parent is not None:
        for block in _blocks(parent):
            if node in block and block.index(node) > 0:
                before = block[block.index(node) - 1]
                inner = list(_blocks(before)) if isinstance(before, (ast.For, ast.While, ast.If, ast.With)) else []
                if inner and len(block) > 2:
                    yield _indented(node, source, _indent(inner[-1][-1], source))


def _one_line(node: ast.stmt) -> bool:
    return node.lineno == node.end_lineno


def _indent(node: ast.AST, source: SourceFile) -> str:
    assert isinstance(node, ast.stmt)
    found = _INDENT.match(source.line(node.lineno))
    return found.group() if found else ""


def _indented(node: ast.stmt, source: SourceFile, indent: str) -> Span:
    return Span(source.line_start(node.lineno), source.start(node), indent)


def _is_guard(node: ast.stmt) -> bool:
    leaves = (ast.Raise, ast.Return, ast.Continue)
    return isinstance(node, ast.If) and not node.orelse and len(node.body) == 1 and isinstance(node.body[0], leaves)


def guard_added(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Make a check here that another function makes."""
    function = source.function(node)
    if not isinstance(node, ast.stmt) or function is None or node not in function.body:
        return
    if node.lineno == function.body[0].lineno and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    known = {*source.scope(node), *source.module_names, *dir(builtins)}
    for other in ast.walk(source.tree):
        if not isinstance(other, FUNCTIONS) or other is function:
            continue
        for guard in [item for item in other.body if _is_guard(item) or _is_check(item)]:
            names = {item.id for item in ast.walk(guard) if isinstance(item, ast.Name)}
            if names <= known and source.segment(guard) not in source.segment(function):
                yield _inserted(node, guard, source)


def _is_check(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    called = node.value.func
    word = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
    return word.strip("_").startswith(("check", "require", "ensure", "validate", "verify", "assert"))


def _inserted(node: ast.stmt, guard: ast.stmt, source: SourceFile) -> Span:
    """Return the guard's text before the node, at the node's depth and with the file's line ends."""
    assert guard.end_lineno is not None
    old, new = _indent(guard, source), _indent(node, source)
    lines = [source.line(number) for number in range(guard.lineno, guard.end_lineno + 1)]
    end = "\r\n" if "\r\n" in source.text else "\n"
    text = "".join(new + line.removeprefix(old) + end for line in lines)
    start = source.line_start(node.lineno)
    return Span(start, start, text)
