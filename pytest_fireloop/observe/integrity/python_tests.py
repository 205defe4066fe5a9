"""Compares test files as syntax trees: what each test still asks for."""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from pytest_fireloop.observe.integrity.checks import Check, always_true, asks_less, checks_of, only_value_differs
from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.syntax import Function, last_name, meaning, names_in, text
from pytest_fireloop.observe.integrity.units import RERUNS, XFAILS, Unit, units

PATCHES = frozenset(
    {"Mock", "MagicMock", "AsyncMock", "patch", "patch.object", "monkeypatch", "mocker", "create_autospec"}
)
SWALLOWED = frozenset({"AssertionError", "Exception", "BaseException", "Failed", ""})
#: How alike two checks must be to be taken for one that was rewritten.
ALIKE = 0.4


def compare_tests(
    old: Mapping[str, bytes], new: Mapping[str, bytes], passed: Collection[str] = ()
) -> Iterator[Finding]:
    """Compare all test files before with all after; a test that moved or was renamed is the same test.

    `passed` are the node ids that passed after: a skip that did not apply to a test that passed is a warning at most.
    """
    ran = {part for node in passed for part in _prefixes(node)}
    before, after = _collect(old), _collect(new)
    for path, found in after.items():
        if found is None and before.get(path, ()) is not None:
            yield Finding.of("test_unreadable", path, 0, "the file cannot be parsed any more")
    was = {(unit.path, unit.name): unit for found in before.values() for unit in found or ()}
    now = {(unit.path, unit.name): unit for found in after.values() for unit in found or ()}
    pairs, gone, come = _pair(was, now)
    fresh = sum(_weight(unit) for unit in come)
    for unit in gone:
        if after.get(unit.path, ()) is None:
            continue
        fresh -= _weight(unit)
        yield Finding.of(
            "test_replaced" if fresh >= 0 else "test_removed", unit.path, unit.line, f"{unit.name} is gone"
        )
    for earlier, later in pairs:
        yield from _left_out(earlier, later, ran=(later.path, later.name) in ran)
        if later.is_test and isinstance(earlier.node, Function) and isinstance(later.node, Function):
            yield from _weaker(earlier, later)


def _collect(files: Mapping[str, bytes]) -> dict[str, tuple[Unit, ...] | None]:
    return {path: units(path, source) for path, source in files.items()}


def _pair(
    was: Mapping[tuple[str, str], Unit], now: Mapping[tuple[str, str], Unit]
) -> tuple[list[tuple[Unit, Unit]], list[Unit], list[Unit]]:
    """Match by path and name, then by name alone, then by what it does."""
    pairs = [(was[key], now[key]) for key in was if key in now and (now[key].is_test or not was[key].is_test)]
    matched = {id(unit) for pair in pairs for unit in pair}
    left = [unit for unit in was.values() if id(unit) not in matched and unit.is_test]
    come = [unit for unit in now.values() if id(unit) not in matched and unit.is_test]
    gone = []
    for unit in left:
        same = next((each for each in come if each.name == unit.name), None)
        same = same or next((each for each in come if _body(each) == _body(unit) and _has_rows_of(each, unit)), None)
        if same is None:
            gone.append(unit)
        else:
            come.remove(same)
            pairs.append((unit, same))
    return pairs, gone, come


def _has_rows_of(new: Unit, old: Unit) -> bool:
    """Whether a test that bears another name holds all parameter sets; else it may be one of several heirs."""
    later = new.parameters()
    return all(rows is None or set(rows) <= set(later.get(name) or ()) for name, rows in old.parameters().items())


def _prefixes(nodeid: str) -> Iterator[tuple[str, str]]:
    """Yield path and name of a test, of its classes and of its module."""
    path, *names = nodeid.partition("[")[0].split("::")
    yield from ((path, "::".join(names[:end])) for end in range(len(names) + 1))


def _body(unit: Unit) -> str:
    return "\n".join(meaning(each) for each in getattr(unit.node, "body", ()))


def _weight(unit: Unit) -> int:
    """Count a test by its parameter sets; one that checks nothing counts for nothing."""
    assert isinstance(unit.node, Function)
    if not any(not always_true(check.node) for check in checks_of(unit.node)) or unit.skips():
        return 0
    rows = 1
    for values in unit.parameters().values():
        rows *= len(values) if values is not None else 1
    return max(1, rows)


def _left_out(old: Unit, new: Unit, *, ran: bool) -> Iterator[Finding]:
    name = new.name or "the module"
    had = {skip.text for skip in old.skips()}
    for skip in new.skips():
        if skip.text not in had and not (ran and skip.elsewhere):
            kind = "conditional_skip" if ran and skip.conditional else "test_skipped"
            yield Finding.of(kind, new.path, skip.line or new.line, f"{name}: no skip -> {skip.text}")
    for kind, wanted in (("test_xfailed", XFAILS), ("test_retried", RERUNS)):
        gained = new.marks(wanted) - old.marks(wanted)
        if gained:
            yield Finding.of(kind, new.path, new.line, f"{name}: no mark -> {', '.join(sorted(gained))}")
    for arguments, rows in old.parameters().items():
        yield from _rows(new, arguments, rows, new.parameters())


def _rows(
    unit: Unit, arguments: str, rows: tuple[str, ...] | None, now: Mapping[str, tuple[str, ...] | None]
) -> Iterator[Finding]:
    later = now.get(arguments, ())
    if rows is None or later is None:
        if rows != later:
            detail = f"{unit.name}: {arguments} comes from elsewhere now"
            yield Finding.of("parameters_changed", unit.path, unit.line, detail)
        return
    lost = list((Counter(rows) - Counter(later)).elements())
    if not lost:
        return
    come = list((Counter(later) - Counter(rows)).elements())
    if len(later) < len(rows):
        detail = f"{unit.name}: {len(rows)} parameter sets -> {len(later)}; gone: {lost[0]}"
        yield Finding.of("parameters_removed", unit.path, unit.line, detail)
    else:
        yield Finding.of("parameters_changed", unit.path, unit.line, f"{unit.name}: {lost[0]} -> {come[0]}")


def _weaker(old: Unit, new: Unit) -> Iterator[Finding]:
    assert isinstance(old.node, Function)
    assert isinstance(new.node, Function)
    if _body(old) == _body(new):
        return
    yield from compare_checks(old, new)
    patched = (names_in(new.node) - names_in(old.node)) & PATCHES
    if patched:
        yield Finding.of(
            "unit_mocked", new.path, new.line, f"{new.name}: nothing replaced -> {', '.join(sorted(patched))}"
        )
    elif _apart_from_checks(old.node) != _apart_from_checks(new.node):
        yield Finding.of("test_changed", new.path, new.line, f"{new.name} prepares or calls something else")


def compare_checks(old: Unit, new: Unit) -> Iterator[Finding]:
    """Compare the checks of one function, test or helper, before and after."""
    assert isinstance(old.node, Function)
    assert isinstance(new.node, Function)
    swallowed = _swallows(new.node)
    if len(swallowed) > len(_swallows(old.node)):
        yield Finding.of("exception_swallowed", new.path, swallowed[0], f"{new.name} catches what its checks raise")
    before, after = checks_of(old.node), checks_of(new.node)
    lost, come = _difference(before, after), _difference(after, before)
    guarded = {check.text: check for check in after}
    for check in before:
        later = guarded.get(check.text)
        if later is not None and later not in come and len(later.guards) > len(check.guards):
            condition = next((each for each in later.guards if each not in check.guards), later.guards[-1])
            detail = f"{new.name}: {check.text} -> only if {condition}"
            yield Finding.of("assertion_weakened", new.path, later.line, detail)
    returns = _returns_early(new.node) and not _returns_early(old.node)
    for check in lost:
        other = _closest(check, come)
        if other is None:
            kind = "early_return" if returns else "assertion_removed"
            yield Finding.of(kind, new.path, new.line, f"{new.name}: {check.text} -> nothing")
            continue
        come.remove(other)
        change = _kind_of_change(check, other)
        if change is not None:
            yield Finding.of(change, new.path, other.line, f"{new.name}: {check.text} -> {other.text}")


def _kind_of_change(old: Check, new: Check) -> str | None:
    if asks_less(old.node, new.node):
        return "assertion_weakened"
    if asks_less(new.node, old.node):
        return None
    return "expected_value_changed" if only_value_differs(old.node, new.node) else "assertion_changed"


def _difference(first: tuple[Check, ...], second: tuple[Check, ...]) -> list[Check]:
    left = Counter(check.text for check in second)
    found = []
    for check in first:
        if left[check.text]:
            left[check.text] -= 1
        else:
            found.append(check)
    return found


def _closest(check: Check, come: list[Check]) -> Check | None:
    """Return the check that most likely took another's place; a trivial one may take any place."""
    rated = [(difflib.SequenceMatcher(None, check.text, each.text).ratio(), each) for each in come]
    rated = [(ratio, each) for ratio, each in rated if ratio >= ALIKE or asks_less(check.node, each.node)]
    return max(rated, key=lambda pair: pair[0])[1] if rated else None


def _swallows(function: Function) -> list[int]:
    """Return the lines where failing checks are caught and not raised again."""
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                caught = {last_name(each) for each in getattr(handler.type, "elts", [handler.type]) if each is not None}
                again = any(isinstance(each, ast.Raise | ast.Assert) for each in ast.walk(handler))
                again |= any(
                    last_name(each) in {"fail", "exit"} for each in ast.walk(handler) if isinstance(each, ast.Call)
                )
                if (not caught or caught & SWALLOWED) and not again:
                    found.append(handler.lineno)
        elif (
            isinstance(node, ast.Call) and last_name(node) == "suppress" and SWALLOWED & set(map(last_name, node.args))
        ):
            found.append(node.lineno)
    return sorted(found)


def _returns_early(function: Function) -> bool:
    return any(isinstance(each, ast.Return) for statement in function.body[:-1] for each in ast.walk(statement))


def _apart_from_checks(function: Function) -> str:
    rest = [node for node in function.body if not isinstance(node, ast.Assert | ast.Expr)]
    called = [text(node) for node in function.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    checked = {check.text for check in checks_of(function)}
    lines = [
        *(meaning(node) for node in rest if not _holds_checks(node)),
        *(each for each in called if each not in checked),
    ]
    return "\n".join(lines)


def _holds_checks(node: ast.stmt) -> bool:
    return any(isinstance(each, ast.Assert) for each in ast.walk(node)) or isinstance(node, ast.With | ast.AsyncWith)


def defined_tests(path: str, source: bytes | None) -> frozenset[str]:
    """Return the qualified names of the tests in a file, none when it is absent or cannot be read."""
    return frozenset(unit.name for unit in units(path, source) or () if unit.is_test)
