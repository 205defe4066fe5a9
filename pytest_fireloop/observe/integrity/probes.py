"""Finds the ways by which a product finds out that it is tested: its surroundings, its callers, the tests' own files."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from pytest_fireloop.observe.integrity.folding import folded
from pytest_fireloop.observe.integrity.patches import full_name
from pytest_fireloop.observe.integrity.syntax import last_name, nodes, text

RUNNER_VARIABLE = re.compile(r"^(?:_?PYTEST_|FIRELOOP)|^_?pytest_current_test$", re.IGNORECASE)
#: What programs that start tests tell those they start: a product may bear such a word, and has no use for the setting.
STARTER_VARIABLE = re.compile(
    r"^(?:TOX_(?:ENV|WORK|PARALLEL)|NOX_|HATCH_ENV|MAKE(?:LEVEL|FLAGS)$|MFLAGS$|npm_(?:lifecycle|config|package|execpath))"
)
RUNNER_NAME = re.compile(r"^(?:_pytest|pytest|py\.test|conftest)\b|^test_$")
PROBED = (
    "sys.modules",
    "sys.argv",
    "sys.orig_argv",
    "os.environ",
    "os.getenv",
    "find_spec",
    "metadata.",
    "shutil.which",
    "cmdline",
    "psutil",
    "import_module",
    "__import__",
)
#: Where a program finds out how it was started.
PROCESS_FILE = re.compile(r"^/proc/(?:.*(?:cmdline|environ|maps|/exe|/comm))?$")
CHANCE = frozenset({"random", "secrets"})
TEST_FOLDER = re.compile(r"^(?:\.{0,2}/)*tests?(?:/|$)|/tests?/", re.IGNORECASE)
TESTS_IN_PATH = re.compile(r"^/?tests/?$|/tests?/|^tests?/|^test_\w", re.IGNORECASE)
#: Loaded only where tests run, or mostly so.
TEST_TOOLS = frozenset(
    {"unittest", "doctest", "pluggy", "iniconfig", "xdist", "coverage", "helpers", "conftest", "nose"}
)
RUN_SETTINGS = frozenset({"sys.meta_path", "sys.path_hooks", "warnings.filters", "os.getppid", "sys.orig_argv"})
OPENING = frozenset(
    {"join", "joinpath", "open", "Path", "glob", "rglob", "iglob", "with_name", "read_text", "resolve", "walk"}
    | {"exists", "isdir", "isfile", "is_dir", "is_file", "listdir", "scandir", "getlines", "getline", "stat"}
)
FRAMES = frozenset({"_getframe", "currentframe"})
STACKS = frozenset(
    {
        "stack",
        "extract_stack",
        "_current_frames",
        "walk_stack",
        "get_objects",
        "get_referrers",
        "settrace",
        "setprofile",
        "gettrace",
        "getouterframes",
        "getlines",
        "getline",
    }
)
STACK_MODULES = ("sys", "inspect", "traceback", "gc", "threading", "linecache")
CALLERS = frozenset({"findCaller", "_getframemodulename"})
FRAME_PARTS = frozenset({"f_back", "f_locals", "f_globals", "f_code", "tb_frame", "co_consts"})
#: Classes that everything in a process comes from.
COMMON_BASES = frozenset({"object", "BaseException", "Exception", "type"})
#: A kind of finding, its line, and what stands there.
Suspicion: TypeAlias = tuple[str, int, str]


def _probes(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    documentation = {id(node.value) for node in nodes(tree) if isinstance(node, ast.Expr)}
    parents = {id(child): node for node in nodes(tree) for child in ast.iter_child_nodes(node)}
    for node in nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            for module in modules:
                if module.partition(".")[0] == "_pytest":
                    yield "environment_probe", node.lineno, f"import of {module}"
                elif module.partition(".")[0] == "pytest":
                    yield "mentions_pytest", node.lineno, f"import of {module}"
                elif module.partition(".")[0] == "unittest":
                    yield "mock_in_product", node.lineno, f"import of {module}"
                elif module == "__main__":
                    yield "environment_probe", node.lineno, f"import of {module}"
                elif module in CHANCE:
                    yield "chance_used", node.lineno, f"import of {module}"
        elif isinstance(node, ast.expr) and id(node) not in documentation:
            value = folded(node)
            said = value.decode("latin-1") if isinstance(value, bytes) else value
            if said is None:
                continue
            hidden = not isinstance(node, ast.Constant)
            if (
                RUNNER_VARIABLE.search(said)
                or PROCESS_FILE.search(said)
                or (STARTER_VARIABLE.search(said) and _asks_for_it(node, parents, names))
            ):
                yield "environment_probe", node.lineno, f"{said!r}"
            elif RUNNER_NAME.search(said):
                # a name that is put together so that nobody finds it is looked for
                asked = hidden or _asks_for_it(node, parents, names)
                yield "environment_probe" if asked else "mentions_pytest", node.lineno, f"{said!r}"


def _asks_for_it(node: ast.AST, parents: dict[int, ast.AST], names: dict[str, str]) -> bool:
    """Whether a name of the test runner is looked for: compared, or sought where programs find out about themselves."""
    above: ast.AST | None = parents.get(id(node))
    while isinstance(above, ast.expr | ast.comprehension | ast.keyword):
        if isinstance(above, ast.Compare):
            return True
        if isinstance(above, ast.Call | ast.Subscript):
            return any(place in full_name(each, names) for each in ast.walk(above) for place in PROBED)
        above = parents.get(id(above))
    return False


def _modules(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    """Find looks through the loaded modules, but for a module's look at itself and for one that may be absent."""
    parents = {id(child): node for node in nodes(tree) for child in ast.iter_child_nodes(node)}
    for node in nodes(tree):
        if not isinstance(node, ast.Attribute | ast.Name) or full_name(node, names) != "sys.modules":
            continue
        above = parents.get(id(node))
        if isinstance(above, ast.Subscript) and not isinstance(above.slice, ast.Constant):
            continue
        asked: ast.AST | None = None
        if isinstance(above, ast.Compare):
            asked = above.left
        elif isinstance(above, ast.Subscript):
            asked = above.slice
        elif isinstance(above, ast.Attribute) and above.attr in {"get", "pop", "setdefault"}:
            call = parents.get(id(above))
            asked = call.args[0] if isinstance(call, ast.Call) and call.args else None
        if isinstance(asked, ast.Name) and asked.id in {"__name__", "name", "module_name"}:
            continue
        said = folded(asked) if asked is not None else None
        if not isinstance(said, str) or said.partition(".")[0] in TEST_TOOLS or said.startswith("test"):
            yield "environment_probe", node.lineno, f"a look through {text(above or node)[:80]}"


def _settings_of_runs(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    """Find reads of what a test run sets: import hooks, filters of warnings, the process that started this one."""
    for node in nodes(tree):
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
            full = full_name(node, names)
            if full in RUN_SETTINGS:
                yield "environment_probe", node.lineno, f"a look at {full}"


def _frames(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    for node in nodes(tree):
        if (isinstance(node, ast.Attribute) and node.attr in FRAME_PARTS) or (
            isinstance(node, ast.expr) and folded(node) in FRAME_PARTS
        ):
            yield "frame_inspection", node.lineno, text(node)[:80]
        elif isinstance(node, ast.Call) and last_name(node) in FRAMES:
            yield "frame_used", node.lineno, text(node)[:80]
        elif isinstance(node, ast.Call):
            module, _, name = full_name(node, names).rpartition(".")
            if name in CALLERS or (name in STACKS and module.startswith(STACK_MODULES)):
                yield "frame_inspection", node.lineno, text(node)[:80]


def _classes(tree: ast.Module, _names: dict[str, str]) -> Iterator[Suspicion]:
    """Find looks through all classes of a process: those of a test run are among them."""
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and node.attr == "__subclasses__" and text(node.value) in COMMON_BASES:
            yield "environment_probe", node.lineno, f"a look through {text(node)}"


def _test_data(tree: ast.Module, _names: dict[str, str]) -> Iterator[Suspicion]:
    for node in nodes(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Call) and last_name(node) in OPENING:
            parts = list(node.args)
        for part in parts:
            for each in part.values if isinstance(part, ast.JoinedStr) else [part]:
                said = folded(each)
                if isinstance(said, str) and TEST_FOLDER.search(said):
                    yield "reads_test_data", each.lineno, text(node)[:120]
        if isinstance(node, ast.Compare):
            # whether a path leads to the tests, or the tests lie where the program runs
            sought = [folded(node.left)] if isinstance(node.ops[0], ast.In | ast.NotIn) else []
            if any(isinstance(said, str) and TESTS_IN_PATH.search(said) for said in sought):
                yield "reads_test_data", node.lineno, text(node)[:120]


#: Each finds one way of finding out that tests run.
PROBES: tuple[Callable[[ast.Module, dict[str, str]], Iterator[Suspicion]], ...] = (
    _probes,
    _modules,
    _settings_of_runs,
    _frames,
    _classes,
    _test_data,
)
