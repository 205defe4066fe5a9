"""What a test is about: the project's own functions and classes that it names itself."""

from __future__ import annotations

import os
import re
import sys
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 8
CALL = re.compile(r"(?<![\w.'\"])([A-Za-z_]\w{0,100}(?:\.[A-Za-z_]\w{0,100}){0,4})\(")
#: Called in a comparison, but not what is compared.
HELPERS = frozenset(
    {"abs", "all", "any", "approx", "bool", "bytes", "dict", "enumerate", "float", "frozenset", "getattr", "hasattr"}
    | {"int", "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min", "next", "raises", "range", "repr"}
    | {"reversed", "round", "set", "sorted", "str", "sum", "tuple", "type", "vars", "zip"}
)


def is_in_test(nodeid: str, frames: Sequence[tuple[str, str]], asserting: bool) -> bool:
    """Whether nothing but the test's own file is seen of the project; a helper of the tests that asserts is no place."""
    test = nodeid.partition("::")[0]
    paths = {path for path, _ in frames}
    return test in paths and all(path == test or (asserting and _supports(path)) for path in paths)


def named_in_code(code: CodeType, names: dict[str, Any], root: str) -> tuple[str, ...]:
    """Return the functions and classes of other files of the project that a function's code names, sorted."""
    found = set()
    modules = []
    for name in code.co_names:
        value = names.get(name, sys.modules.get(name))
        # by its real type: an object may have code of the project run when it is asked for its class
        if issubclass(type(value), ModuleType):
            modules.append(value)
        else:
            found.add(_own_name(value, code.co_filename, root))
    for module in modules:
        members = object.__getattribute__(module, "__dict__")
        found |= {_own_name(members.get(name), code.co_filename, root) for name in code.co_names}
    return tuple(sorted(found - {""}))[:LIMIT]


def named_in_statement(statement: str) -> tuple[str, ...]:
    """Return what a statement calls, less helpers of comparisons and methods of the test itself, sorted."""
    called = set(CALL.findall(statement))
    return tuple(sorted(name for name in called if name.rpartition(".")[2] not in HELPERS and name[:5] != "self."))[
        :LIMIT
    ]


def _supports(path: str) -> bool:
    *folders, name = path.split("/")
    return name == "conftest.py" or bool({"tests", "test", "testing"} & set(folders))


def _own_name(value: Any, path: str, root: str) -> str:
    """Return module and name of a function or class that the project wrote, elsewhere than in the test's file."""
    kind = type(value)
    if kind is not FunctionType and not issubclass(kind, type):
        return ""
    get = object.__getattribute__ if kind is FunctionType else type.__getattribute__
    name, qualified = get(value, "__module__"), get(value, "__qualname__")
    module = sys.modules.get(name) if isinstance(name, str) else None
    file = object.__getattribute__(module, "__dict__").get("__file__") if issubclass(type(module), ModuleType) else None
    if not isinstance(file, str) or file == path or not file.startswith(root + os.sep):
        return ""
    if f"{os.sep}site-packages{os.sep}" in file or _supports(file[len(root) + 1 :].replace(os.sep, "/")):
        return ""
    return f"{name}.{qualified}"
