"""Compares a project before and after: tests, what surrounds them, and the product."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.product import compare_product
from pytest_fireloop.observe.integrity.python_tests import compare_tests
from pytest_fireloop.observe.integrity.support import compare_configuration, compare_support, is_shadowing


def compare(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    *,
    is_test: Callable[[str], bool],
    is_configuration: Callable[[str], bool],
    passed: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Compare the changed files, given by path with their contents; a file that is absent on one side came or went.

    `passed` are the node ids that passed with the tests as they are after.
    Both sides must hold all test modules that changed, so that a test which moved is found again.
    """
    found = [*compare_tests(_modules(before, is_test), _modules(after, is_test), _without_parameters(passed))]
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old != new:
            found += _one(path, old, new, is_test=is_test, is_configuration=is_configuration)
    return tuple(sorted(set(found), key=lambda finding: (finding.severity, finding.path, finding.line, finding.kind)))


def _one(
    path: str,
    old: bytes | None,
    new: bytes | None,
    *,
    is_test: Callable[[str], bool],
    is_configuration: Callable[[str], bool],
) -> Iterator[Finding]:
    if is_shadowing(path) and new is not None:
        yield Finding.of("shadowing_module", path, 0, "it is imported in place of another module")
    if is_configuration(path) and not path.endswith(".py"):
        yield from compare_configuration(path, old, new)
    elif is_test(path):
        if path.endswith(".py"):
            yield from compare_support(path, old, new)
        elif old is not None:
            yield Finding.of(
                "test_data_changed", path, 0, "deleted" if new is None else f"{len(old)} -> {len(new)} bytes"
            )
    elif path.endswith((".py", ".pyi")) and new is not None:
        yield from compare_product(path, old, new)
        # a helper of the tests may lie anywhere; one that asserted and does nothing any more is no product
        yield from (each for each in compare_support(path, old, new) if each.kind == "helper_emptied")


def _without_parameters(nodeids: Collection[str]) -> set[str]:
    return {nodeid.partition("[")[0] for nodeid in nodeids}


def _modules(files: Mapping[str, bytes], is_test: Callable[[str], bool]) -> dict[str, bytes]:
    """Keep the modules that hold tests; a helper under a test folder is support."""
    return {
        path: source
        for path, source in files.items()
        if path.endswith(".py") and is_test(path) and _is_module_of_tests(path)
    }


def _is_module_of_tests(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py") or name in {"tests.py", "test.py"}
