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


def is_in_test(nodeid: str, frames: Sequence[tuple[str, str]]) -> bool:
    """Whether the test's own function, or the module that holds it, is all that is seen of the project."""
    return len(frames) == 1 and frames[0][0] == nodeid.partition("::")[0]


def named_in_code(code: CodeType, names: dict[str, Any], root: str) -> tuple[str, ...]:
    """Return the functions and classes of other files of the project that a function's code names, sorted."""
    found = set()
    modules = []
    for name in code.co_names:
        value = names.get(name, sys.modules.get(name))
        if isinstance(value, ModuleType):
            modules.append(value)
        else:
            found.add(_own_name(value, code.co_filename, root))
    for module in modules:
        members = vars(module)
        found |= {_own_name(members.get(name), code.co_filename, root) for name in code.co_names}
    return tuple(sorted(found - {""}))[:LIMIT]


def named_in_statement(statement: str) -> tuple[str, ...]:
    """Return what a statement calls, less helpers of comparisons and methods of the test itself, sorted."""
    called = set(CALL.findall(statement))
    return tuple(sorted(name for name in called if name.rpartition(".")[2] not in HELPERS and name[:5] != "self."))[
        :LIMIT
    ]


def _own_name(value: Any, path: str, root: str) -> str:
    """Return module and name of a function or class that the project wrote, elsewhere than in the test's file."""
    if not isinstance(value, (FunctionType, type)):
        return ""
    module = sys.modules.get(str(value.__module__))
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or file == path or not file.startswith(root + os.sep):
        return ""
    if f"{os.sep}site-packages{os.sep}" in file or os.path.basename(file) == "conftest.py":
        return ""
    return f"{value.__module__}.{value.__qualname__}"
