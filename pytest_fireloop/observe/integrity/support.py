"""Compares what surrounds the tests: helpers, conftest files, configuration, modules that shadow others."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.python_tests import names_in

#: Hooks by which a conftest can change what is collected, reported or returned.
FORGING_HOOKS = frozenset(
    {
        "pytest_cmdline_main",
        "pytest_cmdline_preparse",
        "pytest_load_initial_conftests",
        "pytest_collection_modifyitems",
        "pytest_collection",
        "pytest_collect_file",
        "pytest_pycollect_makeitem",
        "pytest_ignore_collect",
        "pytest_itemcollected",
        "pytest_make_collect_report",
        "pytest_generate_tests",
        "pytest_runtestloop",
        "pytest_runtest_protocol",
        "pytest_runtest_call",
        "pytest_runtest_setup",
        "pytest_pyfunc_call",
        "pytest_runtest_makereport",
        "pytest_runtest_logreport",
        "pytest_report_teststatus",
        "pytest_assertrepr_compare",
        "pytest_sessionfinish",
        "pytest_terminal_summary",
        "pytest_unconfigure",
        "pytest_exception_interact",
        "collect_ignore",
        "collect_ignore_glob",
    }
)
PATCHING = frozenset({"setattr", "setitem", "patch", "object"})
#: Settings that decide what is collected, and words of `addopts` that leave tests out.
COLLECTING = (
    "testpaths",
    "python_files",
    "python_classes",
    "python_functions",
    "norecursedirs",
    "collect_imported_tests",
)
NARROWING = re.compile(
    r"(?:^|\s)(?:-k|-m|--deselect|--ignore|--co|--collect-only|--lf|--sw|-p|--maxfail|-x|--noconftest)(?:[\s=]|$)"
)
SHADOWING = re.compile(
    r"(?:^|/)(?:pytest|_pytest|pluggy|iniconfig|sitecustomize|usercustomize|unittest)(?:\.py|/__init__\.py)$|\.pth$"
)
CONFIGURATION_FILES = frozenset({"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"})


def compare_support(path: str, old: bytes | None, new: bytes | None) -> Iterator[Finding]:
    """Compare one helper or conftest: functions that were emptied, hooks that were added, fixtures that patch."""
    before, after = _functions(old), _functions(new)
    if after is None:
        if new is not None and before is not None:
            yield Finding.of("test_unreadable", path, 0, "the file cannot be parsed any more")
        return
    before = before or {}
    for name, node in sorted(after.items()):
        earlier = before.get(name)
        if earlier is not None and ast.dump(earlier) == ast.dump(node):
            continue
        if name in FORGING_HOOKS:
            yield Finding.of("conftest_hook", path, node.lineno, f"{name} was {'changed' if earlier else 'added'}")
        elif _is_fixture(node) and _patches(node) and not (earlier is not None and _patches(earlier)):
            yield Finding.of("fixture_patches", path, node.lineno, f"fixture {name} replaces parts of the product")
        if earlier is not None and _asserts(earlier) and not _weight(node):
            yield Finding.of("helper_emptied", path, node.lineno, f"{name} does nothing any more")


def compare_configuration(path: str, old: bytes | None, new: bytes | None) -> Iterator[Finding]:
    """Compare what pytest reads from a configuration file."""
    before, after = settings_of(path, old), settings_of(path, new)
    if before == after and not (path.rpartition("/")[2] in CONFIGURATION_FILES and (old is None) != (new is None)):
        return
    if old is None:
        yield Finding.of("configuration_narrowed", path, 0, "a new file that outranks the project's own configuration")
        return
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        narrowing = name in COLLECTING or (
            name == "addopts" and len(NARROWING.findall(_words(now))) > len(NARROWING.findall(_words(was)))
        )
        kind = "configuration_narrowed" if narrowing else "configuration_changed"
        yield Finding.of(kind, path, 0, f"{name}: {was!r} -> {now!r}")


def settings_of(path: str, content: bytes | None) -> dict[str, Any]:
    """Return pytest's settings in a file, empty when there are none or it cannot be read."""
    if content is None:
        return {}
    text = content.decode("utf-8", "replace")
    try:
        if path.endswith(".toml"):
            data = tomllib.loads(text)
            tool = (
                data.get("tool", {}).get("pytest", {}) if path.endswith("pyproject.toml") else data.get("pytest", data)
            )
            return {**{k: v for k, v in tool.items() if k != "ini_options"}, **tool.get("ini_options", {})}
        parser = configparser.RawConfigParser(strict=False)
        parser.read_string(text)
        section = "tool:pytest" if path.endswith("setup.cfg") else "pytest"
        return dict(parser[section]) if parser.has_section(section) else {}
    except (tomllib.TOMLDecodeError, configparser.Error, AttributeError):
        return {"unreadable": text[:80]}


def is_shadowing(path: str) -> bool:
    """Whether a module would be imported in place of pytest or at the start of every interpreter."""
    return SHADOWING.search(path) is not None


def _functions(source: bytes | None) -> dict[str, Any] | None:
    if source is None:
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
    return found


def _is_fixture(node: Any) -> bool:
    return any("fixture" in names_in(decorator) for decorator in getattr(node, "decorator_list", ()))


def _patches(node: ast.AST) -> bool:
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(PATCHING & set(names_in(call.func)) for call in calls)


def _asserts(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Assert) for each in ast.walk(node))


def _weight(node: ast.AST) -> int:
    kinds = (ast.Assert, ast.Call, ast.Raise, ast.Yield, ast.BinOp, ast.Compare)
    return sum(isinstance(each, kinds) for statement in getattr(node, "body", ()) for each in ast.walk(statement))


def _words(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value or "")
