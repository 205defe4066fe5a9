"""Finds product code that behaves otherwise under test: only what is new since the baseline counts."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from pytest_fireloop.observe.integrity.finding import Finding

PROBE = re.compile(r"pytest|_pytest|unittest|fireloop", re.IGNORECASE)
FRAMES = frozenset({"_getframe", "currentframe", "_current_frames", "extract_stack", "walk_stack", "co_consts"})
EXITS = {"os._exit": "process_exit", "atexit.register": "exit_hook"}
PATH_CALLS = frozenset({"Path", "PurePath", "join", "joinpath", "open", "glob", "iglob", "rglob", "listdir", "scandir"})


def compare_product(path: str, old: bytes | None, new: bytes | None) -> Iterator[Finding]:
    """Compare one source file; unparsable files say nothing."""
    before = Counter((kind, detail) for kind, _, detail in _suspicions(old))
    for kind, line, detail in _suspicions(new):
        if before[kind, detail]:
            before[kind, detail] -= 1
            continue
        yield Finding.of(kind, path, line, detail)


def _suspicions(source: bytes | None) -> Iterator[tuple[str, int, str]]:
    try:
        tree = ast.parse(source or b"")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    paths = {id(part) for node in ast.walk(tree) for part in _path_parts(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            if PROBE.match(node.value):
                yield "environment_probe", node.lineno, f"mentions {node.value!r}"
            elif node.value.startswith(("tests/", "test/")) or (
                id(node) in paths and node.value.strip("/") in {"tests", "test"}
            ):
                yield "reads_test_data", node.lineno, f"mentions {node.value!r}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imports(node)
        elif isinstance(node, ast.Attribute) and node.attr in FRAMES:
            yield "frame_inspection", node.lineno, f"uses {ast.unparse(node)}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in EXITS:
            yield EXITS[ast.unparse(node.func)], node.lineno, f"calls {ast.unparse(node)[:80]}"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("pytest_"):
                yield "conftest_hook", node.lineno, f"defines {node.name}"
            if node.name == "__eq__" and _ignores_self(node.args, [r.value for r in _returns(node)]):
                yield "always_equal", node.lineno, "__eq__ is true whatever the object holds"
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            if "__eq__" in names and _ignores_self(node.value.args, [node.value.body]):
                yield "always_equal", node.lineno, "__eq__ is true whatever the object holds"


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, int, str]]:
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    names = {alias.name for alias in node.names}
    if any(module.partition(".")[0] in {"pytest", "_pytest"} for module in modules):
        yield "environment_probe", node.lineno, f"imports {modules[0]}"
    elif "unittest.mock" in modules and "ANY" in names:
        yield "always_equal", node.lineno, "imports ANY, which is equal to everything"
    elif any(module.partition(".")[0] == "unittest" for module in modules):
        yield "mock_in_product", node.lineno, f"imports {modules[0]}"


def _path_parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands where a path is built: beside a slash, or as an argument of a path's function."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield from (node.left, node.right)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in PATH_CALLS:
        yield from node.args


def _returns(node: ast.AST) -> list[ast.Return]:
    return [each for each in ast.walk(node) if isinstance(each, ast.Return)]


def _ignores_self(arguments: ast.arguments, results: list[ast.expr | None]) -> bool:
    """Whether a comparison gives a result that is not plainly False and does not depend on its own object."""
    own = arguments.args[0].arg if arguments.args else ""
    values = [value for value in results if value is not None]
    plain = [value.value for value in values if isinstance(value, ast.Constant)]
    if not values or (len(plain) == len(values) and True not in plain):
        return False
    return not any(isinstance(each, ast.Name) and each.id == own for value in values for each in ast.walk(value))
