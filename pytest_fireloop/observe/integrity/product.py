"""Finds product code that behaves otherwise under test: only what is new since the baseline counts."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from pytest_fireloop.observe.integrity.finding import Finding

PROBE = re.compile(r"PYTEST_|pytest|_pytest|unittest", re.IGNORECASE)
TEST_DATA = re.compile(r"(?:^|/)tests?(?:/|$)|golden|expected|snapshot", re.IGNORECASE)
FRAMES = frozenset({"_getframe", "stack", "currentframe", "_current_frames"})


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
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            if PROBE.match(node.value):
                yield "environment_probe", node.lineno, f"mentions {node.value!r}"
            elif node.value.strip("/") in {"tests", "test"} or node.value.startswith(("tests/", "test/")):
                yield "reads_test_data", node.lineno, f"mentions {node.value!r}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            if any(module.partition(".")[0] in {"pytest", "_pytest"} for module in modules):
                yield "environment_probe", node.lineno, f"imports {modules[0]}"
        elif isinstance(node, ast.Attribute) and node.attr in FRAMES:
            yield "frame_inspection", node.lineno, f"uses {ast.unparse(node)}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"os._exit", "atexit.register"}:
            yield "process_exit", node.lineno, f"calls {ast.unparse(node)[:80]}"
        elif isinstance(node, ast.FunctionDef) and node.name in {"__eq__", "__ne__"} and _constant_result(node):
            yield "always_equal", node.lineno, f"{node.name} always returns the same"


def _constant_result(node: ast.FunctionDef) -> bool:
    returns = [each for each in ast.walk(node) if isinstance(each, ast.Return)]
    return (
        bool(returns)
        and all(isinstance(each.value, ast.Constant) and isinstance(each.value.value, bool) for each in returns)
        and len({each.value.value for each in returns if isinstance(each.value, ast.Constant)}) == 1
    )
