"""The functions of a test file, and what stands around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_fireloop.observe.integrity.syntax import Function, assigned, dotted, flat, last_name, names_in, parse, text

#: Names of calls and marks that leave a test out, and whether they do so under a condition alone.
SKIPS = {
    "skip": False,
    "skipTest": False,
    "SkipTest": False,
    "skipif": True,
    "skipIf": True,
    "skipUnless": True,
    "importorskip": True,
}
XFAILS = frozenset({"xfail", "expectedFailure"})
RERUNS = frozenset({"flaky", "rerun", "reruns", "repeat", "retry"})
PLATFORM = frozenset({"sys.platform", "os.name", "platform.system"})
#: How the names of base classes end that hand on tests.
TEST_BASES = ("TestCase", "Test", "Tests", "Base", "Mixin")


@dataclass(frozen=True, slots=True)
class Skip:
    """One way in which a test is left out; `text` is its source without the reason.

    `elsewhere`: the condition names a platform, so that it says where the test runs.
    """

    text: str
    conditional: bool
    elsewhere: bool
    line: int


@dataclass(frozen=True, slots=True)
class Unit:
    """One function of a test file, or a class or the module itself as what holds functions; `name` is qualified."""

    name: str
    path: str
    line: int
    node: Function | ast.ClassDef | ast.Module
    is_test: bool

    @property
    def function_name(self) -> str:
        """The name without its classes."""
        return self.name.rpartition("::")[2]

    def skips(self) -> tuple[Skip, ...]:
        """Return the marks and calls that leave this out."""
        found = [skip for node in _decorations(self.node) for skip in _skips_in(node)]
        for call, guarded in _calls(self.node):
            if last_name(call) in SKIPS:
                found.append(Skip(_bare(call), guarded or SKIPS[last_name(call)], elsewhere=False, line=call.lineno))
        return tuple({skip.text: skip for skip in found}.values())

    def marks(self, wanted: frozenset[str]) -> frozenset[str]:
        """Return those of the wanted names that the marks and calls here mention."""
        return frozenset(
            {name for node in _decorations(self.node) for name in names_in(node) & wanted}
            | {last_name(call) for call, _ in _calls(self.node)} & wanted
        )

    def parameters(self) -> dict[str, tuple[str, ...] | None]:
        """Return the parameter sets by argument names; None where they are no literal list."""
        found: dict[str, tuple[str, ...] | None] = {}
        for node in _decorations(self.node):
            if isinstance(node, ast.Call) and last_name(node) == "parametrize" and node.args:
                values = node.args[1] if len(node.args) > 1 else None
                values = next((each.value for each in node.keywords if each.arg == "argvalues"), values)
                rows = tuple(text(each) for each in values.elts) if isinstance(values, ast.List | ast.Tuple) else None
                found[text(node.args[0])] = rows
        return found


def units(path: str, source: bytes | None) -> tuple[Unit, ...] | None:
    """Return module, classes and functions of a file, or None when it cannot be read."""
    tree = parse(source)
    if tree is None:
        return None
    return (Unit("", path, 0, tree, is_test=False), *_walk(tree.body, path, "", testing=not _opted_out(tree.body)))


def _walk(body: list[ast.stmt], path: str, prefix: str, *, testing: bool) -> Iterator[Unit]:
    for node in flat(body):
        if isinstance(node, ast.ClassDef):
            yield Unit(f"{prefix}{node.name}", path, node.lineno, node, is_test=False)
            bases = [last_name(base) for base in node.bases]
            collected = node.name.startswith("Test") or any(base.endswith(TEST_BASES) for base in bases)
            collected = collected and testing and not _opted_out(node.body)
            yield from _walk(node.body, path, f"{prefix}{node.name}::", testing=collected)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            is_test = testing and node.name.startswith("test") and not _is_fixture(node)
            yield Unit(f"{prefix}{node.name}", path, node.lineno, node, is_test)


def _opted_out(body: list[ast.stmt]) -> bool:
    pairs = [assigned(node) for node in body]
    return any(pair is not None and pair[0] == "__test__" and text(pair[1]) in {"False", "0"} for pair in pairs)


def _is_fixture(node: Function) -> bool:
    return any(last_name(each) == "fixture" for each in node.decorator_list)


def _decorations(node: ast.AST) -> Iterator[ast.expr]:
    yield from getattr(node, "decorator_list", ())
    if isinstance(node, ast.ClassDef | ast.Module):
        for statement in node.body:
            pair = assigned(statement)
            if pair is not None and pair[0] == "pytestmark":
                yield from pair[1].elts if isinstance(pair[1], ast.List | ast.Tuple) else [pair[1]]


def _calls(node: ast.AST) -> Iterator[tuple[ast.Call, bool]]:
    """Yield the calls of a function, or of a module outside its functions, with whether they stand under a condition."""
    if isinstance(node, ast.ClassDef):
        return
    for statement in getattr(node, "body", ()):
        if isinstance(node, ast.Module) and isinstance(
            statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ):
            continue
        guarded = isinstance(statement, ast.If | ast.Try | ast.For | ast.While)
        yield from ((each, guarded) for each in ast.walk(statement) if isinstance(each, ast.Call))


def _skips_in(node: ast.AST) -> Iterator[Skip]:
    """Find the marks that leave a test out, those inside a parameter set included."""
    name = last_name(node) if isinstance(node, ast.Call | ast.Attribute | ast.Name) else ""
    if name not in SKIPS:
        for child in ast.iter_child_nodes(node):
            yield from _skips_in(child)
    else:
        call = node if isinstance(node, ast.Call) else None
        always = call is not None and _constant_condition(call)
        elsewhere = call is not None and SKIPS[name] and _elsewhere(call)
        yield Skip(_bare(node), SKIPS[name] and not always, elsewhere, getattr(node, "lineno", 0))


def _elsewhere(call: ast.Call) -> bool:
    """Whether the condition names another platform by its literal name, so that it is about where the test runs."""
    if not call.args or not isinstance(call.args[0], ast.Compare | ast.Call):
        return False
    condition = call.args[0]
    if isinstance(condition, ast.Call):
        return dotted(condition) == "sys.platform.startswith"
    literal = all(isinstance(each, ast.Constant | ast.Tuple) for each in condition.comparators)
    return literal and dotted(condition.left) in PLATFORM and isinstance(condition.ops[0], ast.Eq | ast.In)


def _constant_condition(call: ast.Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Constant) and not isinstance(call.args[0].value, str)


def _bare(node: ast.AST) -> str:
    """Return source without the reason, which may be reworded."""
    if not isinstance(node, ast.Call):
        return text(node)
    arguments = [text(each) for each in node.args] if SKIPS[last_name(node)] else []
    return f"{dotted(node)}({', '.join(arguments)})"
