"""Finds product that sets what the tests read of their surroundings: then it decides what they ask for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pytest_fireloop.observe.integrity.folding import folded
from pytest_fireloop.observe.integrity.patches import full_name, imported_names
from pytest_fireloop.observe.integrity.syntax import nodes, shared

ENVIRONMENT = "os.environ"
SETTING = frozenset({"os.putenv", "os.environ.__setitem__"})
READING = frozenset({"os.getenv", "os.environ.get", "os.environ.pop", "os.environ.__getitem__"})


def variables_read(source: bytes | None) -> frozenset[str]:
    """Return the environment variables that a test file reads by their names."""
    tree = shared(source)
    if tree is None:
        return frozenset()
    names = imported_names(tree)
    found: set[object] = set()
    for node in nodes(tree):
        if isinstance(node, ast.Subscript) and full_name(node.value, names) == ENVIRONMENT:
            found.add(folded(node.slice) if isinstance(node.ctx, ast.Load) else None)
        elif isinstance(node, ast.Call) and node.args and full_name(node, names) in READING:
            found.add(folded(node.args[0]))
    return frozenset(name for name in found if isinstance(name, str))


def variables_set(source: bytes | None) -> Iterator[tuple[str, int, bool]]:
    """Yield the environment variables that a module sets, with the line, and whether its import alone does it."""
    tree = shared(source)
    if tree is None:
        return
    names = imported_names(tree)
    inside = {
        id(each)
        for node in nodes(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for each in ast.walk(node)
    }
    for node in nodes(tree):
        for name in _set_by(node, names):
            if isinstance(name, str):
                yield name, getattr(node, "lineno", 0), id(node) not in inside


def _set_by(node: ast.AST, names: dict[str, str]) -> Iterator[object]:
    if isinstance(node, ast.Subscript) and full_name(node.value, names) == ENVIRONMENT:
        if not isinstance(node.ctx, ast.Load):
            yield folded(node.slice)
    elif isinstance(node, ast.Call):
        called = full_name(node, names)
        if called in SETTING and node.args:
            yield folded(node.args[0])
        elif called == f"{ENVIRONMENT}.update":
            yield from (each.arg for each in node.keywords)
            for argument in node.args:
                yield from (folded(key) for key in getattr(argument, "keys", ()) if key is not None)
