"""Compares a project before and after: tests, what surrounds them, and the product."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType

from pytest_fireloop.observe.integrity.configuration import compare_configuration
from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.product import compare_product, oracles_of
from pytest_fireloop.observe.integrity.python_tests import compare_tests
from pytest_fireloop.observe.integrity.shadowing import shadows
from pytest_fireloop.observe.integrity.special_cases import compare_data, literals_of
from pytest_fireloop.observe.integrity.support import compare_support, emptied_helpers
from pytest_fireloop.observe.integrity.surroundings import variables_read

BINARY = (".pyc", ".pyo", ".so", ".pyd", ".dll", ".dylib")
PROSE = (".md", ".rst", ".adoc")
#: Files that start the tests elsewhere: by hand, before a commit, on a server.
TEST_COMMAND = re.compile(
    r"^(?:.*/)?(?:GNUmakefile|[Mm]akefile|[Jj]ustfile|noxfile\.py|Taskfile\.ya?ml|\.travis\.yml|\.gitlab-ci\.yml"
    r"|azure-pipelines\.yml|\.pre-commit-config\.yaml|\.envrc|\.env)$|^\.(?:github/workflows|circleci)/"
)
NOTHING: Mapping[str, bytes] = MappingProxyType({})


def compare(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    *,
    is_test: Callable[[str], bool],
    is_configuration: Callable[[str], bool],
    passed: Collection[str] = (),
    tests: Mapping[str, bytes] = NOTHING,
    installed: Collection[str] = (),
    held: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Compare files by path with their contents; one that is absent on one side came or went.

    Both sides must hold all test files that changed, so that a test which moved is found again. `passed` are the node
    ids that passed after, where the tests were run; `tests` may hold the
    unchanged ones, so that a special case in the product for exactly their values is seen; `installed` names the
    modules of the environment that no new file may take the place of, `held` the paths of all files of the start.
    """
    python_before, python_after = _python_tests(before, is_test), _python_tests(after, is_test)
    found = [*compare_tests(python_before, python_after, passed)]
    literals = frozenset[str]().union(*map(literals_of, (*tests.values(), *python_before.values())))
    variables = frozenset[str]().union(*map(variables_read, (*tests.values(), *python_before.values())))
    oracles = frozenset[str]().union(*map(oracles_of, (*tests.values(), *python_before.values())))
    # the product itself is imported by its tests too, and may patch its own parts
    oracles -= {part.removesuffix(".py") for path in (*before, *after) if not is_test(path) for part in path.split("/")}
    test_files = [path for path in held if is_test(path)]
    sources = {path for path in (*after, *held) if path.endswith(".py")}
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        module = shadows(path, in_tests=is_test(path), installed=installed) if old is None else None
        if module is not None:
            found.append(Finding.of("shadowing_module", path, 0, f"no such file -> it takes the place of {module}"))
        if is_configuration(path) and not path.endswith((".py", ".pth")):
            found += compare_configuration(path, old, new)
        elif is_test(path):
            found += compare_support(path, old, new) if path.endswith(".py") else _data(path, old, new)
        elif path.endswith(BINARY) and new is not None:
            found.append(_binary(path, old, sources))
        elif TEST_COMMAND.search(path):
            found.append(Finding.of("test_command_changed", path, 0, "it says how tests are started -> changed"))
        elif path.endswith((".py", ".pyi")):
            found += compare_product(path, old, new, literals, oracles, test_files=test_files, variables=variables)
            # a helper of the tests may lie anywhere; one that could fail and cannot any more is no product
            found += emptied_helpers(path, old, new)
        elif old is None and new is not None and not path.endswith(PROSE):
            found += compare_data(path, new, literals)
    return tuple(sorted(set(found), key=lambda finding: (finding.severity, finding.path, finding.line, finding.kind)))


def _binary(path: str, old: bytes | None, sources: Collection[str]) -> Finding:
    """Weigh code that nobody can read: beside a source of the same name it is what Python loads."""
    module = f"{path[: len(path) - len(path.rpartition('/')[2])]}{path.rpartition('/')[2].partition('.')[0]}"
    if path.endswith((".pyc", ".pyo")):
        kind = "byte_code_added"
    elif old is None and {f"{module}.py", f"{module}/__init__.py"} & set(sources):
        kind = "binary_shadows_source"
    else:
        kind = "binary_added"
    return Finding.of(kind, path, 0, "code that nobody can read was added or changed")


def _python_tests(files: Mapping[str, bytes], is_test: Callable[[str], bool]) -> dict[str, bytes]:
    return {path: source for path, source in files.items() if path.endswith(".py") and is_test(path)}


def _data(path: str, old: bytes | None, new: bytes | None) -> Iterator[Finding]:
    if old is not None:
        yield Finding.of("expected_data_changed", path, *_first_difference(old, new))


def _first_difference(old: bytes, new: bytes | None) -> tuple[int, str]:
    if new is None:
        return 0, "a file of the tests -> no such file"
    before, after = (content.decode("utf-8", "replace").splitlines() for content in (old, new))
    for number, (was, now) in enumerate(zip(before, after, strict=False), 1):
        if was != now:
            return number, f"{was!r} -> {now!r}"
    return min(len(before), len(after)), f"{len(before)} lines -> {len(after)}"
