"""Which Python runs the project's tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PYTHON_FLOOR = (3, 9)
PYTEST_FLOOR = (7, 4)
PROBE = """
import json, sys
try:
    import pytest
    version = pytest.__version__
except Exception:
    version = None
print(json.dumps([list(sys.version_info[:3]), version]))
"""


class InterpreterError(Exception):
    """No interpreter was found that can run the tests; the message is one line for people."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python with a pytest; `origin` says where it was found."""

    path: Path
    origin: str
    python: str
    pytest: str


def find_interpreter(
    tree: Path, wanted: str | None, environment: Mapping[str, str], *, own: bool = False
) -> Interpreter:
    """Find the project's interpreter: the one asked for, $VIRTUAL_ENV, .venv, PATH, our own; raises InterpreterError.

    With `own` the one that runs this package is taken at once, unless another is asked for.
    """
    if wanted is not None:
        path = Path(shutil.which(wanted, path=environment.get("PATH")) or wanted)
        if not path.is_file():
            raise InterpreterError(f"--python: there is no interpreter at {wanted!r}")
        return _checked(path.absolute(), "--python")
    for path, origin in () if own else _candidates(tree, environment):
        facts = _probe(path)
        if facts is not None and facts[1] is not None:
            return _checked(path, origin)
    return _checked(Path(sys.executable), "fireloop's own environment")


def _candidates(tree: Path, environment: Mapping[str, str]) -> list[tuple[Path, str]]:
    binary = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    found = []
    if environment.get("VIRTUAL_ENV"):
        found.append((Path(environment["VIRTUAL_ENV"]) / binary, "$VIRTUAL_ENV"))
    found.append((tree / ".venv" / binary, ".venv"))
    for name in ("python", "python3"):
        on_path = shutil.which(name, path=environment.get("PATH"))
        if on_path:
            found.append((Path(on_path).absolute(), "PATH"))
    return [(path, origin) for path, origin in found if path.is_file()]


def _probe(path: Path) -> tuple[tuple[int, ...], str | None] | None:
    try:
        done = subprocess.run([str(path), "-c", PROBE], capture_output=True, text=True, timeout=60, check=True, cwd="/")
        version, pytest = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return tuple(version), pytest


def _checked(path: Path, origin: str) -> Interpreter:
    facts = _probe(path)
    if facts is None:
        raise InterpreterError(f"{origin}: {str(path)!r} does not run as a Python interpreter")
    version, pytest = facts
    python = ".".join(map(str, version))
    if version[:2] < PYTHON_FLOOR:
        raise InterpreterError(f"{origin}: {str(path)!r} is Python {python}; the tests need 3.9 or later")
    if pytest is None:
        raise InterpreterError(
            f"{origin}: {str(path)!r} has no pytest; install it there, or name another interpreter with --python"
        )
    if _release(pytest) < PYTEST_FLOOR:
        raise InterpreterError(f"{origin}: {str(path)!r} has pytest {pytest}; the tests need 7.4 or later")
    return Interpreter(path, origin, python, pytest)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
