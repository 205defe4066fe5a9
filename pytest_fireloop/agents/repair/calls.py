"""Edits to calls: their arguments, their methods, and what is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from pytest_fireloop.agents.repair.source import Project, SourceFile, Span, bare_call, root

_COUNTERPARTS = (
    ("min", "max"),
    ("any", "all"),
    ("floor", "ceil"),
    ("startswith", "endswith"),
    ("upper", "lower"),
    ("lstrip", "rstrip"),
    ("lstrip", "strip"),
    ("rstrip", "strip"),
    ("find", "rfind"),
    ("index", "rindex"),
    ("split", "rsplit"),
    ("partition", "rpartition"),
    ("removeprefix", "removesuffix"),
    ("append", "extend"),
    ("add", "discard"),
    ("keys", "values"),
    ("keys", "items"),
    ("values", "items"),
    ("union", "intersection"),
    ("issubset", "issuperset"),
    ("bisect_left", "bisect_right"),
    ("sort", "reverse"),
    ("seconds", "total_seconds"),
    ("int", "round"),
    ("setdefault", "get"),
    ("pop", "popleft"),
)
_MOST_ARGUMENTS = 5


def arguments_swapped(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `f(a, b)` into `f(b, a)`, and `f(x=a, y=b)` into `f(x=b, y=a)`."""
    if not isinstance(node, ast.Call):
        return
    plain = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
    named = [keyword.value for keyword in node.keywords if keyword.arg is not None]
    for group in (plain, named):
        for left, right in combinations(group[:_MOST_ARGUMENTS], 2):
            middle = source.text[source.end(left) : source.start(right)]
            text = source.segment(right) + middle + source.segment(left)
            yield Span(source.start(left), source.end(right), text)


def counterpart(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `min` into `max`, `startswith` into `endswith`."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        word = node.id if isinstance(node, ast.Name) else node.attr
        end = source.end(node)
        for pair in _COUNTERPARTS:
            if word in pair:
                other = pair[1] if word == pair[0] else pair[0]
                yield Span(end - len(word), end, other)


def _takes_method(node: ast.AST, source: SourceFile) -> bool:
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        return False
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        return False
    parent = source.parents.get(node)
    is_receiver = isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and parent.func is node)
    return not is_receiver and source.function(node) is not None


def sibling_method(node: ast.AST, source: SourceFile, project: Project) -> Iterator[Span]:
    """Turn `email` into `email.lower()` where other code calls that on the same name."""
    if _takes_method(node, source):
        assert isinstance(node, ast.expr)
        own = bare_call(node)
        for method in project.methods.get(root(node), ()):
            if own is None or own[0] != method:
                yield source.replace(node, f"{source.segment(node)}.{method}()")


def any_method(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Call a method on a value that the module calls on another one."""
    if _takes_method(node, source):
        assert isinstance(node, ast.expr)
        for method in dict.fromkeys(
            [*(method for found in source.methods.values() for method in found), "lower", "strip", "copy"]
        ):
            yield source.replace(node, f"{source.segment(node)}.{method}()")


def method_dropped(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `a.lower()` into `a`."""
    if isinstance(source.parents.get(node), ast.Expr):
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) < 2:
        yield Span(source.text.rindex(".", 0, source.end(node.func)), source.end(node), "")


def method_called(node: ast.AST, source: SourceFile, project: Project) -> Iterator[Span]:
    """Turn `a.size` into `a.size()` where it is a method."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        parent = source.parents.get(node)
        methods = {method for _, found in project.classes for method in found}
        called = isinstance(parent, ast.Call) and parent.func is node
        if not called and (node.attr in methods or node.attr in {"lower", "upper", "strip", "keys", "values", "items"}):
            yield Span(source.end(node), source.end(node), "()")


def lookup_softened(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `table[key]` into `table.get(key)`."""
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, (ast.Name, ast.Attribute))
        and not isinstance(node.slice, (ast.Slice, ast.Tuple))
    ):
        yield source.replace(node, f"{source.segment(node.value)}.get({source.segment(node.slice)})")


def awaited(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Await a call within a coroutine."""
    parent = source.parents.get(node)
    if isinstance(node, ast.Call) and isinstance(source.function(node), ast.AsyncFunctionDef):
        text = f"await {source.segment(node)}"
        if not isinstance(parent, ast.Await):
            yield source.replace(node, f"({text})" if isinstance(parent, (ast.Attribute, ast.Subscript)) else text)
