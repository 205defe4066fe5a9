"""Whether the paths on the command line leave out tests that the project has."""

from __future__ import annotations

import os
from fnmatch import fnmatch
from glob import glob
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

#: Files that are looked at before the question is given up, and the run is taken for a part.
LIMIT = 20_000


def leave_tests_out(config: pytest.Config) -> bool:
    """Whether some test file of the project lies under none of the given paths."""
    given = _given(config)
    if given is None:
        return False
    root = os.path.realpath(config.rootpath)
    wholes = [path for each in config.getini("testpaths") for path in glob(os.path.join(root, each), recursive=True)]
    names, avoided = list(config.getini("python_files")), config.getini("norecursedirs")
    if getattr(config.option, "doctestmodules", False):
        names.append("*.py")
    left = LIMIT
    for whole in wholes or [root]:
        for folder, folders, files in os.walk(whole):
            if _below(folder, given):
                folders.clear()
                continue
            folders[:] = [name for name in folders if not _avoided(os.path.join(folder, name), name, avoided)]
            left -= len(files) + len(folders)
            if left < 0:
                return True
            for name in files:
                if any(fnmatch(name, pattern) for pattern in names) and os.path.join(folder, name) not in given:
                    return True
    return False


def _given(config: pytest.Config) -> frozenset[str] | None:
    """Return the real paths that the run was given, those it got by where it was started included; None for the whole.

    Names of packages are no paths: what they leave out is not known, so they leave all out.
    """
    source = getattr(getattr(config, "args_source", None), "name", "")
    base = str(config.invocation_params.dir)
    if source not in {"ARGS", "INVOCATION_DIR"}:
        return None
    if getattr(config.option, "pyargs", False):
        return frozenset()
    return frozenset(os.path.realpath(os.path.join(base, str(argument))) for argument in config.args)


def _below(folder: str, given: frozenset[str]) -> bool:
    return any(folder == path or folder.startswith(path + os.sep) for path in given)


def _avoided(path: str, name: str, patterns: list[str]) -> bool:
    """Whether pytest would not look into the folder by itself; an environment is known by its marker file."""
    return any(fnmatch(name, pattern) for pattern in patterns) or os.path.exists(os.path.join(path, "pyvenv.cfg"))
