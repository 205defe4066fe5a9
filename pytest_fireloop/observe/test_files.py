"""Which files belong to the tests, and which decide how they are run."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from fnmatch import translate

#: Folders whose files, of whatever kind, are the tests' own: fixtures, data, snapshots.
TEST_FOLDERS = frozenset(
    {
        "tests",
        "test",
        "__tests__",
        "testdata",
        "test_data",
        "__snapshots__",
        "__image_snapshots__",
        "cassettes",
    }
)
TEST_NAMES = ("test_*.py", "*_test.py", "tests.py", "conftest.py", "*.snap", "*.ambr", "*.approved.*")
#: What can decide which tests are collected and how, or what an interpreter does before them.
CONFIGURATION_NAMES = (
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
)
#: As one pattern each, for every file of a tree is asked for.
_TEST_NAME, _CONFIGURATION_NAME = (
    re.compile("|".join(map(translate, names))) for names in (TEST_NAMES, CONFIGURATION_NAMES)
)


def is_test_file(path: str, collected: Collection[str] = (), *, doctests: Collection[str] = ()) -> bool:
    """Whether a path, relative to the tree, belongs to the tests: by its name, its folder, or as pytest collected it.

    A path in `doctests`, a module collected only for its doctests, is product unless its name or folder says otherwise.
    """
    *folders, name = path.split("/")
    if _TEST_NAME.match(name) or any(folder.lower() in TEST_FOLDERS for folder in folders):
        return True
    return path in collected and path not in doctests


def is_configuration(path: str) -> bool:
    """Whether a path, at any depth, can decide how tests are collected and run."""
    return _CONFIGURATION_NAME.match(path.rpartition("/")[2]) is not None


def doctest_modules(nodeids: Iterable[str]) -> frozenset[str]:
    """Return the Python files, but those named as tests, whose node ids are all doctests: `pkg/a.py::pkg.a.function`."""
    found: set[str] = set()
    others: set[str] = set()
    for nodeid in nodeids:
        path, _, item = nodeid.partition("::")
        is_module = path.endswith(".py") and not is_test_file(path)
        (found if is_module and _is_doctest(path, item) else others).add(path)
    return frozenset(found - others)


def predicate_of(nodeids: Collection[str], uncollected: Iterable[str] = ()) -> Callable[[str], bool]:
    """Return `is_test_file` for a project with these node ids, and these files that could not be collected.

    A name like `ab_test.py` outside the test folders counts only where pytest took it for a test.
    """
    collected = {nodeid.partition("::")[0] for nodeid in nodeids} | set(uncollected)
    doctests = doctest_modules(nodeids)

    def predicate(path: str) -> bool:
        *folders, name = path.split("/")
        ambiguous = name.endswith("_test.py") and not any(folder.lower() in TEST_FOLDERS for folder in folders)
        if ambiguous and collected and path not in collected:
            return False
        return is_test_file(path, collected, doctests=doctests)

    return predicate


def with_data(is_test: Callable[[str], bool], nodeids: Iterable[str], files: Collection[str]) -> Callable[[str], bool]:
    """Return the predicate widened by data that lies beside collected tests: in folders without product.

    `files` are the tree's paths; a folder holds product when a Python file in it or below is neither test nor
    `__init__.py`. For counting only: which files decide green is a question of names, that no agent can shift.
    """
    own = {nodeid.partition("::")[0] for nodeid in nodeids}
    folders = {path.rpartition("/")[0] for path in own} - {""}
    within = tuple(f"{folder}/" for folder in folders)
    product = [
        path
        for path in files
        if path.startswith(within)
        and path.endswith(".py")
        and not path.endswith("/__init__.py")
        and path not in own
        and not is_test(path)
    ]
    roots = tuple(f"{folder}/" for folder in folders if not any(path.startswith(f"{folder}/") for path in product))
    return lambda path: is_test(path) or path.startswith(roots)


def _is_doctest(path: str, item: str) -> bool:
    """Whether an item bears the module's dotted name, which starts at the folder that was on the import path."""
    parts = path.removesuffix(".py").removesuffix("/__init__").replace(".", "_").split("/")
    modules = (".".join(parts[start:]) for start in range(len(parts)))
    return any(item == module or item.startswith(f"{module}.") for module in modules)
