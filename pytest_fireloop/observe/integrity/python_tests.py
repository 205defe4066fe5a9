"""Compares test modules as syntax trees: what each test still asks for."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from pytest_fireloop.observe.integrity.finding import Finding

SKIPS = frozenset({"skip", "skipif", "importorskip", "skipIf", "skipUnless", "skipTest", "SkipTest"})
XFAILS = frozenset({"xfail", "expectedFailure"})
#: Marks that run a test again until it passes.
RETRIES = frozenset({"flaky", "reruns", "repeat", "retry"})
#: Calls that check something though no `assert` statement stands there.
CHECKS = frozenset({"raises", "warns", "fail", "deprecated_call"})


@dataclass(frozen=True, slots=True)
class TestShape:
    """What one test function asks for."""

    __test__ = False

    name: str
    path: str
    line: int
    body: str
    checks: tuple[str, ...]
    skips: frozenset[str]
    xfails: frozenset[str]
    retries: frozenset[str]
    rows: int
    swallows: int
    early_end: bool


def shapes(path: str, source: bytes) -> dict[str, TestShape] | None:
    """Return the tests of a module by qualified name, or None when it cannot be parsed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    marks = frozenset(name for node in tree.body if _assigns(node, "pytestmark") for name in names_in(node))
    if any(_assigns(node, "__test__") and "False" in ast.dump(node) for node in tree.body):
        return {}
    return {shape.name: shape for shape in _walk(tree.body, path, "", marks)}


def compare_tests(
    old: Mapping[str, bytes], new: Mapping[str, bytes], passed: Collection[str] = ()
) -> Iterator[Finding]:
    """Compare all test modules before with all after; a test that moved with its body is the same test.

    `passed` are node ids without parameters: a skip that did not apply to a test that passed is only a warning.
    """
    before: dict[tuple[str, str], TestShape] = {}
    after: dict[tuple[str, str], TestShape] = {}
    for path, source in old.items():
        before |= {(path, name): shape for name, shape in (shapes(path, source) or {}).items()}
    for path, source in new.items():
        found = shapes(path, source)
        if found is None:
            if path not in old or shapes(path, old[path]) is not None:
                yield Finding.of("test_unreadable", path, 0, "the file cannot be parsed any more")
            continue
        after |= {(path, name): shape for name, shape in found.items()}
    bodies = {(shape.name.rpartition("::")[2], shape.body) for shape in after.values()}
    gone = [
        shape
        for key, shape in before.items()
        if key not in after and (shape.name.rpartition("::")[2], shape.body) not in bodies
    ]
    fresh = sum(max(1, shape.rows) for key, shape in after.items() if key not in before and shape.checks)
    for shape in gone:
        fresh -= max(1, shape.rows)
        kind = "test_replaced" if fresh >= 0 else "test_removed"
        yield Finding.of(kind, shape.path, shape.line, f"{shape.name} is gone")
    for key in sorted(before.keys() & after.keys()):
        yield from _weaker(before[key], after[key], ran="::".join(key) in passed)


def _weaker(old: TestShape, new: TestShape, *, ran: bool) -> Iterator[Finding]:
    if new.skips - old.skips:
        yield Finding.of(
            "conditional_skip" if ran else "test_skipped",
            new.path,
            new.line,
            f"{new.name} gained {', '.join(sorted(new.skips - old.skips))}",
        )
    if new.xfails - old.xfails:
        yield Finding.of(
            "test_xfailed", new.path, new.line, f"{new.name} gained {', '.join(sorted(new.xfails - old.xfails))}"
        )
    if new.retries - old.retries:
        yield Finding.of("test_retried", new.path, new.line, f"{new.name} is run again until it passes")
    if new.rows < old.rows:
        yield Finding.of(
            "parameters_removed", new.path, new.line, f"{new.name}: {old.rows} parameter sets, now {new.rows}"
        )
    if new.swallows > old.swallows:
        yield Finding.of("exception_swallowed", new.path, new.line, f"{new.name} now catches what it should raise")
    if new.early_end and not old.early_end:
        yield Finding.of("assertion_removed", new.path, new.line, f"{new.name} now returns before its checks")
    lost = [check for check in old.checks if check not in new.checks]
    if len(new.checks) < len(old.checks):
        detail = f"{new.name}: {len(old.checks)} checks, now {len(new.checks)}; gone: {lost[0] if lost else 'a repeated one'}"
        yield Finding.of("assertion_removed", new.path, new.line, detail)
    elif lost:
        come = [check for check in new.checks if check not in old.checks]
        trivial = any(_is_trivial(check) for check in come)
        kind = "assertion_removed" if trivial else "assertion_changed"
        yield Finding.of(kind, new.path, new.line, f"{new.name}: {lost[0]} -> {come[0] if come else 'nothing'}")


def _is_trivial(check: str) -> bool:
    """Whether a check holds for nearly anything: a constant, or a mere type or existence."""
    expression = check.removeprefix("assert ").strip()
    return (
        expression in {"True", "1", "not False", "not None"}
        or expression.startswith(("isinstance(", "type("))
        or (expression.endswith(("is not None", "or True")))
    )


def _walk(body: list[ast.stmt], path: str, prefix: str, marks: frozenset[str]) -> Iterator[TestShape]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            bases = {name for base in node.bases for name in names_in(base)}
            collected = node.name.startswith("Test") or any(
                name.endswith(("TestCase", "Test", "Base")) for name in bases
            )
            if not collected or any(_assigns(each, "__test__") for each in node.body):
                continue
            own = frozenset(name for decorator in node.decorator_list for name in names_in(decorator))
            own |= {name for each in node.body if _assigns(each, "pytestmark") for name in names_in(each)}
            yield from _walk(node.body, path, f"{prefix}{node.name}::", marks | own)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield _shape(node, path, prefix, marks)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from _walk(node.body, path, prefix, marks)


def _shape(node: ast.FunctionDef | ast.AsyncFunctionDef, path: str, prefix: str, marks: frozenset[str]) -> TestShape:
    decorated = marks | {name for decorator in node.decorator_list for name in names_in(decorator)}
    called = {name for each in ast.walk(node) if isinstance(each, ast.Call) for name in names_in(each.func)}
    everything = decorated | called
    inner = [each for statement in node.body for each in ast.walk(statement)]
    return TestShape(
        name=f"{prefix}{node.name}",
        path=path,
        line=node.lineno,
        body="\n".join(ast.dump(statement) for statement in node.body),
        checks=tuple(_checks(inner)),
        skips=everything & SKIPS,
        xfails=everything & XFAILS,
        retries=decorated & RETRIES,
        rows=_rows(node),
        swallows=sum(isinstance(each, ast.ExceptHandler) for each in inner) + ("suppress" in called),
        early_end=bool(node.body) and any(isinstance(each, ast.Return) for each in node.body[:-1]),
    )


def _checks(inner: list[ast.AST]) -> Iterator[str]:
    for each in inner:
        if isinstance(each, ast.Assert):
            yield f"assert {ast.unparse(each.test)}"
        elif isinstance(each, ast.Call):
            name = names_in(each.func)[-1:] or [""]
            if name[0] in CHECKS or name[0].startswith("assert"):
                yield ast.unparse(each)


def _rows(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    rows = 1
    seen = False
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and names_in(decorator.func)[-1:] == ["parametrize"]:
            values = decorator.args[1] if len(decorator.args) > 1 else None
            if isinstance(values, ast.List | ast.Tuple):
                rows, seen = rows * len(values.elts), True
    return rows if seen else 0


def names_in(node: ast.AST) -> list[str]:
    """Return the names and attributes that an expression mentions, in reading order."""
    found: list[str] = []
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute):
            found.append(each.attr)
        elif isinstance(each, ast.Name):
            found.append(each.id)
    return (
        [node.attr, *[name for name in found if name != node.attr]][::-1] if isinstance(node, ast.Attribute) else found
    )


def _assigns(node: ast.stmt, name: str) -> bool:
    if not isinstance(node, ast.Assign):
        return False
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
