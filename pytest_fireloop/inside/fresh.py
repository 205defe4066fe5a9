"""Makes every source file of the tree run from its source, never from byte code that may be older or planted.

A `.pyc` is taken for valid when the source's size and second of change agree, so that an edit of the same size within
one second would run the old code.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
from typing import Any, Callable

from .environment import value

#: Names the tree; set by the runner for the tested process and, through the environment, for xdist's workers.
VARIABLE = "FIRELOOP_FRESH"
FOREIGN = ("site-packages", "dist-packages")


class FreshLoader(importlib.machinery.SourceFileLoader):
    """Compiles its source at each import and writes no byte code."""

    def path_stats(self, path: str) -> Any:
        """Refuse, by which the import system looks for no cached byte code."""
        raise OSError(path)


def path_hook(tree: str) -> Callable[[str], Any]:
    """Return a path hook for the folders of a tree; other folders go to the next hook."""
    details = (
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (FreshLoader, importlib.machinery.SOURCE_SUFFIXES),
    )
    inside = importlib.machinery.FileFinder.path_hook(*details)

    def fresh_hook(path: str) -> Any:
        real = os.path.realpath(path or os.getcwd())
        if not (real + os.sep).startswith(tree + os.sep) or any(name in real for name in FOREIGN):
            raise ImportError(path)
        return inside(path)

    return fresh_hook


def install() -> None:
    """Put the hook before the others when the runner asked for it."""
    tree = value(VARIABLE)
    if not tree or any(getattr(hook, "__name__", "") == "fresh_hook" for hook in sys.path_hooks):
        return
    sys.path_hooks.insert(0, path_hook(os.path.realpath(tree)))
    sys.path_importer_cache.clear()
    try:
        from _pytest.assertion import rewrite

        _forget_rewritten(rewrite, os.path.realpath(tree))
    except (ImportError, AttributeError):
        return


def _forget_rewritten(rewrite: Any, tree: str) -> None:
    """Let pytest rewrite the tree's test modules anew, while plugins from elsewhere keep their cached byte code."""
    read = rewrite._read_pyc  # noqa: SLF001 - pytest offers no setting for it

    def read_pyc(source: Any, *args: Any, **kwargs: Any) -> Any:
        real = os.path.realpath(source)
        ours = real.startswith(tree + os.sep) and not any(name in real for name in FOREIGN)
        return None if ours else read(source, *args, **kwargs)

    rewrite._read_pyc = read_pyc  # noqa: SLF001 - as above
