"""Finds product code that behaves otherwise under test: only what is new since the baseline counts."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeAlias

from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.folding import folded
from pytest_fireloop.observe.integrity.patches import (
    full_name,
    imported_names,
    patched_libraries,
    process_exits,
    reports_patched,
)
from pytest_fireloop.observe.integrity.syntax import last_name, parse, text

RUNNER_VARIABLE = re.compile(r"^(?:_?PYTEST_|FIRELOOP)|^_?pytest_current_test$", re.IGNORECASE)
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
DIGEST = re.compile(r"^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56,128})$")
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
COMPARING = {"__eq__": True, "__ne__": False}
#: Whole numbers that stand in any program, so that they tell nothing by themselves.
COMMON = range(-100, 101)
#: How much of a data file is looked into.
DATA_LIMIT = 200_000
#: Shorter words are found in any program.
WORD = 3
Suspicion: TypeAlias = tuple[str, int, str]


def compare_product(
    path: str,
    old: bytes | None,
    new: bytes | None,
    literals: Collection[str] = (),
    oracles: Collection[str] = (),
) -> Iterator[Finding]:
    """Compare one source file; `literals` are those of the tests, as source, `oracles` the modules that they import."""
    before, after = parse(old), parse(new)
    if after is None or new is None:
        return
    known = Counter((kind, detail) for kind, _, detail in _suspicions(before)) if before is not None else Counter()
    for kind, line, detail in _suspicions(after):
        if known[kind, detail] > 0:
            known[kind, detail] -= 1
        else:
            yield Finding.of(kind, path, line, f"nothing -> {detail}")
    patched = Counter(detail for _, _, detail in _patches(before)) if before is not None else Counter[str]()
    for line, module, detail in _patches(after):
        patched[detail] -= 1
        if patched[detail] < 0:
            kind = "library_patched" if module in oracles or module in FOUNDATION else "library_set"
            yield Finding.of(kind, path, line, f"nothing -> {detail}")
    was = {literal for literal, *_ in _special_cases(before, literals)} if before is not None else set()
    for literal, line, condition in _special_cases(after, literals):
        if literal not in was:
            yield Finding.of("special_case", path, line, f"nothing -> {condition}, a value that the tests use")


def compare_data(path: str, new: bytes, literals: Collection[str]) -> Iterator[Finding]:
    """Look into a new data file of the product for the values that the tests use."""
    words = set(re.findall(r"[\w.-]+", new[:DATA_LIMIT].decode("latin-1")))
    values = {ast.literal_eval(literal) for literal in literals}
    telling = {str(each) for each in values if isinstance(each, str) or each not in COMMON}
    found = sorted(words & telling)
    if len(found) >= WORD:
        yield Finding.of("special_case", path, 0, f"no such file -> data with values that the tests use: {found[:5]}")


def _patches(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Yield line, root module and source of assignments to parts of imported modules that are no settings of theirs."""
    names = imported_names(tree)
    for line, module, detail in patched_libraries(tree, names):
        yield line, module.partition(".")[0], detail


def oracles_of(source: bytes | None) -> frozenset[str]:
    """Return the modules that a test file imports; what they answer decides what is expected."""
    tree = parse(source)
    if tree is None:
        return frozenset()
    return frozenset(name.partition(".")[0] for name in imported_names(tree).values()) - {""}


def literals_of(source: bytes | None) -> frozenset[str]:
    """Return the constants of a test file, as source."""
    tree = parse(source)
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant)) if tree is not None else ()
    return frozenset(text(node) for node in constants if _is_number(node) or _is_word(node))


def _suspicions(tree: ast.Module) -> Iterator[Suspicion]:
    names = imported_names(tree)
    for rule in RULES:
        yield from rule(tree, names)
    yield from (("reports_patched", line, detail) for line, detail in reports_patched(tree))
    yield from (("process_exit", line, detail) for line, detail in process_exits(tree))


def _probes(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
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
            if RUNNER_VARIABLE.search(said) or PROCESS_FILE.search(said):
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
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
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
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
            full = full_name(node, names)
            if full in RUN_SETTINGS:
                yield "environment_probe", node.lineno, f"a look at {full}"


def _frames(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    for node in ast.walk(tree):
        if (isinstance(node, ast.Attribute) and node.attr in FRAME_PARTS) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in FRAME_PARTS
        ):
            yield "frame_inspection", node.lineno, text(node)[:80]
        elif isinstance(node, ast.Call) and last_name(node) in FRAMES:
            yield "frame_used", node.lineno, text(node)[:80]
        elif isinstance(node, ast.Call):
            module, _, name = full_name(node, names).rpartition(".")
            if name in CALLERS or (name in STACKS and module.startswith(STACK_MODULES)):
                yield "frame_inspection", node.lineno, text(node)[:80]


def _test_data(tree: ast.Module, _names: dict[str, str]) -> Iterator[Suspicion]:
    for node in ast.walk(tree):
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


def _equality(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    for node in ast.walk(tree):
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
    for node in ast.walk(tree):
        if full_name(node, names) == "atexit.register" and isinstance(node, ast.Call | ast.Attribute):
            yield "exit_hook", node.lineno, "atexit.register"
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("pytest_"):
            yield "conftest_hook", node.lineno, f"a hook named {node.name}"


def _hidden_code(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    for node in ast.walk(tree):
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


def _import_system(tree: ast.Module, names: dict[str, str]) -> Iterator[Suspicion]:
    """Find what changes how modules are found, and what is patched with the tools of tests."""
    for node in ast.walk(tree):
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
    _probes,
    _modules,
    _settings_of_runs,
    _frames,
    _test_data,
    _equality,
    _handlers,
    _hidden_code,
    _import_system,
)


def _special_cases(tree: ast.Module, literals: Collection[str]) -> Iterator[tuple[str, int, str]]:
    """Yield conditions that compare with a value which the tests use: a word, a large number, several values at once."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict | ast.match_case):
            yield from _table(node, literals)
        if not isinstance(node, ast.Compare):
            continue
        for each in (each for side in (node.left, *node.comparators) for each in ast.walk(side)):
            if isinstance(each, ast.Tuple | ast.List | ast.Set | ast.Dict):
                inner = [part for part in ast.walk(each) if isinstance(part, ast.Constant)]
                telling = len(inner) > 1 and all(text(part) in literals for part in inner)
            else:
                telling = (_is_word(each) or (_is_number(each) and _value(each) not in COMMON)) and text(
                    each
                ) in literals
            said = _value(each)
            if telling or (isinstance(said, str) and DIGEST.match(said)):
                yield text(each), node.lineno, text(node)[:120]
                break


def _table(node: ast.Dict | ast.match_case, literals: Collection[str]) -> Iterator[tuple[str, int, str]]:
    """Yield a table or a case that holds values which the tests use, on the side of the question and of the answer."""
    sides: list[tuple[ast.AST, ast.AST]] = []
    if isinstance(node, ast.Dict):
        sides = [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None]
    else:
        sides = [(node.pattern, ast.Module(node.body, []))]
    for question, answer in sides:
        asked, said = (
            [part for part in ast.walk(each) if _is_number(part) or _is_word(part)] for each in (question, answer)
        )
        telling = any(_is_word(part) or _value(part) not in COMMON for part in asked) or len(asked) > 1
        if asked and said and telling and all(text(part) in literals for part in (*asked, *said)):
            yield text(question), getattr(question, "lineno", 0), f"a table with {text(question)[:60]}"


def _value(node: ast.AST) -> Any:
    return node.value if isinstance(node, ast.Constant) else None


def _is_word(node: ast.AST) -> bool:
    value = _value(node)
    return isinstance(value, str) and len(value) >= WORD


def _is_number(node: ast.AST) -> bool:
    return isinstance(_value(node), int | float) and not isinstance(_value(node), bool)
