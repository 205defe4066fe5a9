"""Compares what surrounds the tests in their own files: helpers, fixtures, hooks, constants."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from pytest_fireloop.observe.integrity.checks import checks_of
from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.patches import (
    imported_names,
    patched_at_import,
    patched_in,
    process_exits,
    reports_patched,
)
from pytest_fireloop.observe.integrity.python_tests import compare_checks
from pytest_fireloop.observe.integrity.syntax import (
    Function,
    assigned,
    dotted,
    last_name,
    meaning,
    names_in,
    parse,
    text,
)
from pytest_fireloop.observe.integrity.units import Unit, units

#: Hooks that only exist to take the place of pytest's own work.
REPLACING_HOOKS = frozenset(
    {
        "pytest_cmdline_main",
        "pytest_collection",
        "pytest_runtestloop",
        "pytest_runtest_protocol",
        "pytest_pyfunc_call",
        "pytest_report_teststatus",
        "pytest_make_collect_report",
    }
)
LEAVING_OUT = frozenset({"pytest_ignore_collect", "collect_ignore", "collect_ignore_glob"})
#: What a hook assigns to when it forges a result.
RESULTS = frozenset(
    {
        "outcome",
        "longrepr",
        "exitstatus",
        "testsfailed",
        "testscollected",
        "wasxfail",
        "excinfo",
        "result",
        "obj",
        "_obj",
        "runtest",
    }
)
FORGING_CALLS = frozenset({"force_result", "_exit", "exit", "clear", "remove", "pop"})
SKIPPING_MARKS = frozenset({"skip", "skipif", "xfail"})


def compare_support(path: str, old: bytes | None, new: bytes | None) -> Iterator[Finding]:
    """Compare everything in one test file but the tests."""
    before, after = units(path, old), units(path, new)
    tree_before, tree_after = parse(old), parse(new)
    if before is None or after is None or tree_before is None or tree_after is None or new is None:
        return
    earlier = {unit.name: unit for unit in before}
    names = imported_names(tree_after)
    for unit in after:
        if isinstance(unit.node, Function) and not unit.is_test:
            yield from _function(earlier.get(unit.name), unit, names)
    yield from _constants(path, tree_before, tree_after)
    for kind, find in (
        ("module_patched", patched_at_import),
        ("reports_patched", reports_patched),
        ("process_exit", process_exits),
    ):
        known = Counter(detail for _, detail in find(tree_before))
        for line, detail in find(tree_after):
            if known[detail] <= 0:
                yield Finding.of(kind, path, line, f"nothing -> {detail}")
            known[detail] -= 1


def emptied_helpers(path: str, old: bytes | None, new: bytes | None) -> Iterator[Finding]:
    """Find the functions of one file, of whatever kind, that could fail and cannot any more."""
    earlier = {unit.name: unit for unit in units(path, old) or ()}
    for unit in units(path, new) or ():
        was = earlier.get(unit.name)
        if was is None or unit.is_test or not (isinstance(unit.node, Function) and isinstance(was.node, Function)):
            continue
        if _is_emptied(was.node, unit.node) and meaning(was.node) != meaning(unit.node):
            yield _emptied(unit)


def _is_emptied(old: Function, new: Function) -> bool:
    return (bool(checks_of(old)) and not _can_fail(new)) or (_can_fail(old) and _does_nothing(new))


def _emptied(unit: Unit) -> Finding:
    return Finding.of("helper_emptied", unit.path, unit.line, f"{unit.name} could fail -> it cannot any more")


def _function(old: Unit | None, new: Unit, names: dict[str, str]) -> Iterator[Finding]:
    assert isinstance(new.node, Function)
    if old is not None and meaning(old.node) == meaning(new.node):
        return
    name = new.function_name
    if name.startswith("pytest_"):
        yield from _hook(old, new)
    elif is_autouse(new.node) and patches(new.node, names):
        yield Finding.of("fixture_patches", new.path, new.line, f"{name} replaces parts of the product in every test")
    if old is None or not isinstance(old.node, Function):
        return
    if _is_emptied(old.node, new.node):
        yield _emptied(new)
    else:
        yield from compare_checks(old, new)
    if not name.startswith("pytest_"):
        yield Finding.of("helper_changed", new.path, new.line, f"{new.name} does something else")


def _hook(old: Unit | None, new: Unit) -> Iterator[Finding]:
    name = new.function_name
    change = "added" if old is None else "changed"
    if name in LEAVING_OUT:
        yield Finding.of("collection_narrowed", new.path, new.line, f"{name} was {change}")
    elif name in REPLACING_HOOKS or forges(new.node):
        yield Finding.of("conftest_hook", new.path, new.line, f"{name} was {change}")
    else:
        yield Finding.of("conftest_hook_changed", new.path, new.line, f"{name} was {change}")


def forges(node: ast.AST) -> bool:
    """Whether a hook writes results, ends the process or takes tests out."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) and each.attr in RESULTS:
            return True
        if isinstance(each, ast.Call):
            name = last_name(each)
            marks = frozenset[str]().union(*(names_in(argument) for argument in each.args))
            if name in FORGING_CALLS or (name == "add_marker" and marks & SKIPPING_MARKS):
                return True
            if name == "setattr" and len(each.args) > 1 and getattr(each.args[1], "value", None) in RESULTS:
                return True
        if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store | ast.Del) and dotted(each.value):
            return True
    return False


def is_autouse(node: Function) -> bool:
    """Whether a fixture runs for every test."""
    calls = (each for each in node.decorator_list if isinstance(each, ast.Call) and last_name(each) == "fixture")
    return any(
        keyword.arg == "autouse" and text(keyword.value) == "True" for call in calls for keyword in call.keywords
    )


def patches(node: ast.AST, names: dict[str, str]) -> bool:
    """Whether a function replaces parts of what is tested."""
    calls = (dotted(each) for each in ast.walk(node) if isinstance(each, ast.Call))
    by_call = any(name.rpartition(".")[2] in {"setattr", "patch"} or "patch.object" in name for name in calls)
    return by_call or any(True for _ in patched_in(node, names | imported_names(node)))


def _can_fail(node: Function) -> bool:
    return bool(checks_of(node)) or any(isinstance(each, ast.Raise) for each in ast.walk(node))


def _does_nothing(node: Function) -> bool:
    return all(isinstance(each, ast.Pass | ast.Return | ast.Expr) and not _calls_in(each) for each in node.body)


def _calls_in(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Call | ast.Yield) for each in ast.walk(node))


def _constants(path: str, old: ast.Module, new: ast.Module) -> Iterator[Finding]:
    before = {pair[0]: pair[1] for pair in map(assigned, old.body) if pair is not None}
    for node in new.body:
        pair = assigned(node)
        if pair is None or pair[0] in {"pytestmark", "__test__"}:
            continue
        name, value = pair
        if name in LEAVING_OUT and (name not in before or text(before[name]) != text(value)):
            yield Finding.of(
                "collection_narrowed", path, node.lineno, f"{name}: {_shown(before.get(name))} -> {text(value)}"
            )
        elif name in before and text(before[name]) != text(value) and not _extends(before[name], value):
            detail = f"{name}: {text(before[name])} -> {text(value)}"
            yield Finding.of("expected_data_changed", path, node.lineno, detail)


def _extends(old: ast.expr, new: ast.expr) -> bool:
    """Whether a literal list or the like only gained items."""
    if isinstance(old, ast.Dict) and isinstance(new, ast.Dict):
        pairs = [
            [(text(k) if k else "", text(v)) for k, v in zip(each.keys, each.values, strict=True)]
            for each in (old, new)
        ]
        return not Counter(pairs[0]) - Counter(pairs[1])
    kinds = (ast.List, ast.Tuple, ast.Set)
    if not isinstance(old, kinds) or not isinstance(new, kinds):
        return False
    return not Counter(map(text, old.elts)) - Counter(map(text, new.elts))


def _shown(node: ast.expr | None) -> str:
    return text(node) if node is not None else "nothing"
