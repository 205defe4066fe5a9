"""Finds what replaces parts of a running program: patched modules, patched reports, forged ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from pytest_fireloop.observe.integrity.syntax import SHARED, dotted, nodes, text

#: Packages that decide what a test run reports.
REPORTING = frozenset({"pytest", "_pytest", "pluggy", "unittest", "xdist", "builtins", "doctest"})
EXITS = frozenset({"os._exit", "os.abort", "pytest.exit", "posix._exit"})
LEAVING = frozenset({"sys.exit", "exit", "quit"})
KILLS = frozenset({"os.kill", "os.killpg", "signal.raise_signal"})


@lru_cache(SHARED)
def imported_names(tree: ast.AST) -> dict[str, str]:
    """Return the full name that each imported name stands for."""
    found = {}
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                found[alias.asname or alias.name] = f"{module}.{alias.name}"
    return found


def full_name(node: ast.AST, names: dict[str, str]) -> str:
    """Return the dotted name of an expression with its imported root spelled out."""
    root, dot, rest = dotted(node).partition(".")
    return names.get(root, root) + dot + rest


def patched_at_import(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and source of assignments to attributes of imported things, outside functions and classes."""
    names = imported_names(tree)
    for statement in tree.body:
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from patched_in(statement, names)


def patched_in(node: ast.AST, names: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Yield line and source of assignments below a node to attributes of imported things."""
    for each, target in _stores(node):
        root = dotted(target).partition(".")[0]
        if root in names and not _is_own_plumbing(full_name(target, names)):
            yield each.lineno, text(each)[:120]


def reports_patched(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and source of what replaces parts of pytest, unittest or the builtins, or a loaded module."""
    names = imported_names(tree)
    for node, target in _stores(tree):
        full = full_name(target, names)
        if full.partition(".")[0] in REPORTING or full in {"sys.modules", "__builtins__", "sys.meta_path"}:
            yield node.lineno, text(node)[:120]


def patched_libraries(tree: ast.Module, names: dict[str, str]) -> Iterator[tuple[int, str, str]]:
    """Yield line, module and source of functions or classes put into imported modules and classes."""
    own = {each.name for each in nodes(tree) if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    for node, target in _stores(tree):
        full = full_name(target, names)
        root = dotted(target).partition(".")[0]
        if root not in names or full.startswith(".") or full.partition(".")[0] in REPORTING or _is_own_plumbing(full):
            continue
        value = node.args[-1] if isinstance(node, ast.Call) else getattr(node, "value", None)
        if isinstance(value, ast.Lambda) or (value is not None and dotted(value).partition(".")[0] in own):
            yield node.lineno, full, text(node)[:120]


def process_exits(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and source of what ends the process past pytest, or while a module is imported."""
    names = imported_names(tree)
    for node in nodes(tree):
        if isinstance(node, ast.Call):
            name = full_name(node, names)
            if name in EXITS or (name in KILLS and "getpid" in text(node)) or name == "signal.raise_signal":
                yield node.lineno, text(node)[:120]
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or _is_main_guard(statement):
            continue
        for node in ast.walk(statement):
            if (isinstance(node, ast.Call) and full_name(node, names) in LEAVING) or (
                isinstance(node, ast.Raise) and node.exc is not None and dotted(node.exc) == "SystemExit"
            ):
                yield node.lineno, text(node)[:120]


def _stores(tree: ast.AST) -> Iterator[tuple[ast.stmt | ast.Call, ast.expr]]:
    """Yield assignments and `setattr` calls with the thing whose part is replaced."""
    for node in nodes(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.Delete):
            targets = node.targets if isinstance(node, ast.Delete) else [node.target]
        elif isinstance(node, ast.Call) and dotted(node) in {"setattr", "delattr"} and node.args:
            yield node, node.args[0]
        for target in targets:
            if isinstance(target, ast.Attribute | ast.Subscript):
                yield node, _held(target.value)  # type: ignore[misc]


def _held(node: ast.expr) -> ast.expr:
    """Return the mapping that a thing is taken from: what is put into a loaded module is put into `sys.modules`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _is_own_plumbing(name: str) -> bool:
    return name.startswith(("os.environ", "sys.path", "logging", "warnings")) or name in {"sys", "socket"}


def _is_main_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__main__" in text(statement.test)
