"""Reads Python as syntax trees, whatever the bytes hold."""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

#: Trees that are held at a time: some megabytes each.
SHARED = 16
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def parse(source: bytes | None) -> ast.Module | None:
    """Return a file's tree, an empty one for an absent file, None when it cannot be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.parse(source or b"")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache(SHARED)
def shared(source: bytes | None) -> ast.Module | None:
    """Return a file's tree as `parse` does, the same one to all who only read it."""
    return parse(source)


@lru_cache(SHARED)
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return all nodes of a tree that nobody changes; many rules go through the same one."""
    return tuple(ast.walk(tree))


def text(node: ast.AST) -> str:
    """Return an expression as source on one line, the same for every way of writing it down."""
    return " ".join(ast.unparse(node).split())


def dotted(node: ast.AST) -> str:
    """Return `a.b.c` for a chain of attributes; of a call, the chain of what is called; else an empty string."""
    if isinstance(node, ast.Call):
        return dotted(node.func)
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ".".join(reversed(parts))
    return ".".join([node.id, *reversed(parts)])


def last_name(node: ast.AST) -> str:
    """Return the last part of a chain of attributes, of a call that of what is called."""
    return dotted(node).rpartition(".")[2]


def names_in(node: ast.AST) -> frozenset[str]:
    """Return every name and attribute that an expression mentions."""
    found = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    return frozenset(found | {each.id for each in ast.walk(node) if isinstance(each, ast.Name)})


def assigned(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """Return name and value of a plain assignment to one name."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return node.target.id, node.value
    return None


def flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module or class, those under `if`, `try` and `with` included."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from flat(node.body)
            for name in ("orelse", "finalbody"):
                yield from flat(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                yield from flat(handler.body)


def meaning(node: ast.AST) -> str:
    """Return what a function or statement does, without documentation and the words of its messages."""
    left = _Meaning().visit(copy.deepcopy(node))
    return ast.dump(left) if left is not None else ""


class _Meaning(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.msg = None
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if isinstance(node.exc, ast.Call):
            node.exc.args = []
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)
