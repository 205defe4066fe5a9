"""Finds modules that Python would import in place of another, or at the start of every interpreter."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable

#: What pytest itself is made of, beside the standard library.
PYTEST_MODULES = frozenset(
    {"pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli"}
)
START_MODULES = frozenset({"sitecustomize", "usercustomize"})
#: Folders whose modules stand at the head of the import path, apart from those that hold tests.
HEADS = frozenset({"", "src", "lib"})


def own_modules(paths: Iterable[str]) -> frozenset[str]:
    """Return the names by which a project's own top modules and packages are imported."""
    heads = (path.removeprefix("src/").removeprefix("lib/").partition("/")[0] for path in paths)
    return frozenset(head.removesuffix(".py") for head in heads)


def shadows(path: str, *, in_tests: bool, installed: Collection[str] = ()) -> str | None:
    """Return the name of the module that a file takes the place of, or None; the folder decides what can be imported."""
    folder, _, name = path.rpartition("/")
    if name.endswith(".pth"):
        return "every interpreter's start"
    module = name.partition(".")[0]
    if name.startswith("__init__."):
        folder, _, module = folder.rpartition("/")
    elif not name.endswith((".py", ".so", ".pyd", ".pyc")):
        return None
    if module in START_MODULES:
        return module
    head = folder in HEADS or in_tests
    known = module in PYTEST_MODULES or module in sys.stdlib_module_names or (module in installed and folder in HEADS)
    return module if head and known else None
