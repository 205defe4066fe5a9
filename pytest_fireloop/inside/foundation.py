"""What the modules hold that tests stand on, and the tests' own: a run that ends with another function in one says so."""

from __future__ import annotations

import gc
import os
import signal
import sys
import types
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Packages whose modules are looked at beside the standard library.
WATCHED = frozenset({"pytest", "_pytest", "pluggy", "builtins"})
PLAIN = (int, str, bytes, bool, float, type(None))
LIMIT = 5_000
#: What this package itself replaces lies in another folder in each run.
OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
#: Marks a function that the interpreter calls by itself.
HOOK = "hook "


def foundation(tree: str) -> dict[str, str]:
    """Return, by the name of a module or class, its file and a check sum for each function in it.

    A function that comes from the tree, and is not at home where it was found, is named by itself with its place.
    """
    standard = getattr(sys, "stdlib_module_names", frozenset({"unittest", "statistics", "pathlib", "os", "io"}))
    found: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        if type(module) is not types.ModuleType or len(found) > LIMIT:
            continue
        file = os.path.realpath(getattr(module, "__file__", None) or "")
        if top in standard or top in WATCHED:
            _look(name, vars(module), name, tree, found)
        elif file.startswith(tree):
            _look_in_tree(name, vars(module), file, tree, found)
    for name, hook in _hooks():
        place, said = _described(hook)
        if place.startswith(tree):
            found[f"{HOOK}{name}"] = f"{place[len(tree) :]}{said}"
    return found


def _look(name: str, held: Any, module: str, tree: str, found: dict[str, str]) -> None:
    own = []
    for key, value in list(held.items()):
        if type(value) is type and (value.__module__, value.__qualname__) == (module, key):
            _look(f"{module}.{key}", vars(value), module, tree, found)
        place, said = _described(value)
        if place.startswith(OWN):
            continue
        if place.startswith(tree):
            found[f"{name}.{key}"] = f"{place[len(tree) :]}{said}"
        elif said:
            own.append(_summed(key, f"{place}{said}"))
    found[name] = f"|{' '.join(own)}"


def _look_in_tree(name: str, held: Any, file: str, tree: str, found: dict[str, str]) -> None:
    """Sum up the functions that are written in a file of the tree, and name those that come from another one."""
    own = []
    for key, value in list(held.items()):
        place, said = _described(value)
        if place == file:
            own.append(_summed(key, said))
        elif place.startswith(tree):
            found[f"{name}.{key}"] = f"{place[len(tree) :]}{said}"
    found[name] = f"{file[len(tree) :]}|{' '.join(own)}"


def _summed(key: str, said: str) -> str:
    return f"{key}={crc32(said.encode('utf-8', 'replace')):x}"


def _hooks() -> Iterator[tuple[str, Any]]:
    """Yield what the interpreter calls by itself: on imports, lines, signals, collections of garbage."""
    yield from (("sys.meta_path", _finding(each)) for each in sys.meta_path)
    yield from (("sys.path_hooks", each) for each in sys.path_hooks)
    yield from (("sys.settrace", each) for each in (sys.gettrace(), sys.getprofile()))
    yield from (("gc.callbacks", each) for each in gc.callbacks)
    for number in range(1, getattr(signal, "NSIG", 1)):
        try:
            yield "signal", signal.getsignal(number)
        except ValueError:
            continue


def _finding(finder: Any) -> Any:
    return getattr(finder, "find_spec", None) or getattr(finder, "find_module", None)


def _described(value: Any) -> tuple[str, str]:
    """Return where a function is written, and what else tells it from others; nothing for what is no function."""
    if isinstance(value, property):
        value = value.fget
    value = getattr(value, "__func__", value)
    code = getattr(value, "__code__", None)
    if isinstance(code, types.CodeType):
        defaults = [
            repr(each) if isinstance(each, PLAIN) else "" for each in getattr(value, "__defaults__", None) or ()
        ]
        return code.co_filename, f":{code.co_firstlineno}{defaults or ''}"
    if isinstance(value, (types.BuiltinFunctionType, type)):
        return "", f"{value.__module__}.{value.__qualname__}"
    return "", f"{type(value).__module__}.{type(value).__qualname__}" if callable(value) else ""
