"""Finds product code that behaves otherwise under test: only what is new since the baseline counts."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache

from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.folding import folded
from pytest_fireloop.observe.integrity.patches import (
    full_name,
    imported_names,
    patched_libraries,
    process_exits,
    reports_patched,
)
from pytest_fireloop.observe.integrity.probes import PROBES, Suspicion
from pytest_fireloop.observe.integrity.searches import searches
from pytest_fireloop.observe.integrity.special_cases import special_cases
from pytest_fireloop.observe.integrity.surroundings import variables_set
from pytest_fireloop.observe.integrity.syntax import dotted, last_name, nodes, shared, text

CODE_PARTS = frozenset({"__code__"})
DECODERS = frozenset({"b64decode", "decompress", "fromhex", "loads", "decode", "b85decode", "a85decode", "unhexlify"})
#: Modules by which files are read and values compared, whether or not a test imports them.
FOUNDATION = frozenset(
    {
        "io",
        "os",
        "posixpath",
        "pathlib",
        "operator",
        "difflib",
        "functools",
        "importlib",
        "codecs",
        "math",
        "statistics",
    }
)
IMPORT_SYSTEM = frozenset({"sys.meta_path", "sys.path_hooks", "sys.modules"})
#: Sources whose marks are kept: a file is compared with how it was at the start in every iteration.
REMEMBERED = 512
NAMING = frozenset({"getattr", "setattr", "delattr", "hasattr", "attrgetter"})
COMPARING = {"__eq__": True, "__ne__": False}


def compare_product(
    path: str,
    old: bytes | None,
    new: bytes | None,
    literals: Collection[str] = (),
    oracles: Collection[str] = (),
    *,
    test_files: Collection[str] = (),
    variables: Collection[str] = (),
) -> Iterator[Finding]:
    """Compare one source file; `literals` are those of the tests, as source, `oracles` the modules that they import.

    `test_files` are the paths of the tests and their data, which no product looks for; `variables` are those of the
    environment that the tests read.
    """
    before, after = shared(old), shared(new)
    coding = _own_coding(new)
    if coding is not None and _own_coding(old) is None:
        yield Finding.of("hidden_code", path, 1, f"nothing -> a coding of its own: {coding}")
    if after is None or new is None:
        return
    sides = [_all_suspicions(source, test_files) for source in (old, new)]
    known = Counter((kind, detail) for kind, _, detail in sides[0])
    for kind, line, detail in sides[1]:
        if known[kind, detail] > 0:
            known[kind, detail] -= 1
        else:
            yield Finding.of(kind, path, line, f"nothing -> {detail}")
    patched = Counter(detail for _, _, detail in _patches_of(old)) if before is not None else Counter[str]()
    for line, module, detail in _patches_of(new):
        patched[detail] -= 1
        if patched[detail] < 0:
            kind = "library_patched" if module in oracles or module in FOUNDATION else "library_set"
            yield Finding.of(kind, path, line, f"nothing -> {detail}")
    set_before = {name for name, *_ in variables_set(old)}
    for name, line, at_import in variables_set(new):
        if name in variables and name not in set_before:
            kind = "environment_set" if at_import else "environment_written"
            yield Finding.of(kind, path, line, f"nothing -> sets the variable {name}, which the tests read")
    was = {literal for literal, *_ in special_cases(before, literals)} if before is not None else set()
    for literal, line, condition in special_cases(after, literals):
        if literal not in was:
            yield Finding.of("special_case", path, line, f"nothing -> {condition}, a value that the tests use")


@lru_cache(REMEMBERED)
def _suspicions_of(source: bytes | None) -> tuple[Suspicion, ...]:
    tree = shared(source)
    return tuple(_suspicions(tree)) if tree is not None else ()


@lru_cache(REMEMBERED)
def _patches_of(source: bytes | None) -> tuple[tuple[int, str, str], ...]:
    tree = shared(source)
    return tuple(_patches(tree)) if tree is not None else ()


def _own_coding(source: bytes | None) -> str | None:
    """Return what a source says of its coding where Python knows none by that name: a program may make one."""
    try:
        tokenize.detect_encoding(io.BytesIO(source or b"").readline)
    except SyntaxError as error:
        return str(error) if "unknown encoding" in str(error) else None
    return None


def _all_suspicions(source: bytes | None, test_files: Collection[str]) -> list[Suspicion]:
    """Return what is suspicious; a line that speaks of tests is not told a second time for the folder that it looks at."""
    tree = shared(source)
    if tree is None:
        return []
    found = list(_suspicions_of(source))
    told = {line for _, line, _ in found}
    searched = searches(tree, imported_names(tree), test_files)
    return [*found, *(each for each in searched if each[1] not in told)]


def _patches(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Yield line, root module and source of assignments to parts of imported modules that are no settings of theirs."""
    names = imported_names(tree)
    for line, module, detail in patched_libraries(tree, names):
        yield line, module.partition(".")[0], detail


def oracles_of(source: bytes | None) -> frozenset[str]:
    """Return the modules that a test file imports; what they answer decides what is expected."""
    tree = shared(source)
    if tree is None:
        return frozenset()
    return frozenset(name.partition(".")[0] for name in imported_names(tree).values()) - {""}


def _suspicions(tree: ast.Module) -> Iterator[Suspicion]:
    names = imported_names(tree)
    for rule in RULES:
        yield from rule(tree, names)
    yield from (("reports_patched", line, detail) for line, detail in reports_patched(tree))
    yield from (("process_exit", line, detail) for line, detail in process_exits(tree))


def _equality(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef) and node.name in COMPARING:
            returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
            if _ignores_its_object(node.args, [each for each in returned if each is not None], COMPARING[node.name]):
                yield "always_equal", node.lineno, f"{node.name} that does not look at its object"
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for name in {target.id for target in node.targets if isinstance(target, ast.Name)} & COMPARING.keys():
                if _ignores_its_object(node.value.args, [node.value.body], COMPARING[name]):
                    yield "always_equal", node.lineno, f"{name} that does not look at its object"
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in COMPARING and isinstance(value, ast.Lambda):
                    yield "always_equal", node.lineno, f"a type made with {key.value}"
        elif isinstance(node, ast.ImportFrom | ast.Attribute):
            imported = [f"{node.module}.{each.name}" for each in node.names] if isinstance(node, ast.ImportFrom) else []
            if "unittest.mock.ANY" in imported or full_name(node, names) in {"unittest.mock.ANY", "mock.ANY"}:
                yield "always_equal", node.lineno, "ANY, which is equal to everything"


def _ignores_its_object(arguments: ast.arguments, results: list[ast.expr], equal: bool) -> bool:
    """Whether a comparison can say that things are equal without a look at its own object."""
    own = arguments.args[0].arg if arguments.args else ""
    plain = [each.value for each in results if isinstance(each, ast.Constant)]
    if not results or (len(plain) == len(results) and equal not in plain):
        return False
    return not any(isinstance(each, ast.Name) and each.id == own for value in results for each in ast.walk(value))


def _handlers(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    for node in nodes(tree):
        if full_name(node, names) == "atexit.register" and isinstance(node, ast.Call | ast.Attribute):
            yield "exit_hook", node.lineno, "atexit.register"
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("pytest_"):
            yield "conftest_hook", node.lineno, f"a hook named {node.name}"


def _hidden_code(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in CODE_PARTS:
            yield "hidden_code", node.lineno, text(node)[:80]
        if not isinstance(node, ast.Call):
            continue
        called = full_name(node, names)
        if called.startswith("marshal.load") or called.rpartition(".")[2] in {"CodeType", "FunctionType"}:
            yield "hidden_code", node.lineno, text(node)[:80]
        elif called in {"exec", "eval", "builtins.exec", "builtins.eval"} and node.args:
            inner = {full_name(each, names).rpartition(".")[2] for each in ast.walk(node.args[0]) if each is not node}
            kind = "hidden_code" if inner & DECODERS else "code_from_text"
            yield kind, node.lineno, text(node)[:80]


def _hidden_names(tree: ast.Module, _names: dict[str, str]) -> Iterator[Suspicion]:
    """Find parts that are asked for by a name which is put together from constants, so that nobody finds it."""
    for node in nodes(tree):
        asked: ast.expr | None = None
        if isinstance(node, ast.Call) and last_name(node) in NAMING and len(node.args) > 1:
            asked = node.args[1]
        elif isinstance(node, ast.Call) and last_name(node) in {"__import__", "import_module", "__getattribute__"}:
            asked = node.args[0] if node.args else None
        elif isinstance(node, ast.Subscript) and dotted(node.value).rpartition(".")[2] in {"vars", "__dict__"}:
            asked = node.slice
        if asked is not None and not isinstance(asked, ast.Constant) and isinstance(folded(asked), str):
            yield "hidden_code", asked.lineno, f"{text(node)[:80]}, which is {folded(asked)!r}"


def _import_system(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    """Find what changes how modules are found, and what is patched with the tools of tests."""
    for node in nodes(tree):
        if not isinstance(node, ast.Call):
            continue
        called = full_name(node, names)
        place, _, verb = called.rpartition(".")
        if place in IMPORT_SYSTEM and verb in {"insert", "append", "extend", "update", "setdefault", "pop", "remove"}:
            yield "reports_patched", node.lineno, text(node)[:120]
        elif called.startswith(("unittest.mock.patch", "mock.patch")):
            yield "library_patched", node.lineno, text(node)[:120]


#: Each finds one way of telling a test run from real use.
RULES: tuple[Callable[[ast.Module, dict[str, str]], Iterator[Suspicion]], ...] = (
    *PROBES,
    _equality,
    _handlers,
    _hidden_code,
    _hidden_names,
    _import_system,
)
