"""Makes every source file of the tree run from its source, never from byte code that may be older or planted.

A `.pyc` is taken for valid when the source's size and second of change agree, so that an edit of the same size within
one second would run the old code.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from typing import Any, Callable

from .environment import value

#: Names the tree; set by the runner for the tested process and, through the environment, for xdist's workers.
VARIABLE = "FIRELOOP_FRESH"
FOREIGN = ("site-packages", "dist-packages")


def may_be_stale(source: str, cached: str) -> bool:
    """Whether byte code was written in the very second of the source's last change, so that it may be of an older text."""
    try:
        return os.stat(cached).st_mtime < int(os.stat(source).st_mtime) + 1
    except OSError:
        return False


class CarefulLoader(importlib.machinery.SourceFileLoader):
    """Uses cached byte code only where it cannot be older than its source."""

    def path_stats(self, path: str) -> Any:
        """Refuse where byte code may be stale, by which the import system compiles the source."""
        if may_be_stale(path, importlib.util.cache_from_source(path)):
            raise OSError(path)
        return super().path_stats(path)


class FreshLoader(importlib.machinery.SourceFileLoader):
    """Compiles its source at each import and writes no byte code."""

    def path_stats(self, path: str) -> Any:
        """Refuse, by which the import system looks for no cached byte code."""
        raise OSError(path)


def path_hook(tree: str, loader: Any) -> Callable[[str], Any]:
    """Return a path hook for the folders of a tree; other folders go to the next hook."""
    details = (
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (loader, importlib.machinery.SOURCE_SUFFIXES),
        # byte code without a source is all there is of some modules; the runner's own trees run from sources alone
        *(
            ((importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),)
            if loader is CarefulLoader
            else ()
        ),
    )
    inside = importlib.machinery.FileFinder.path_hook(*details)

    def fresh_hook(path: str) -> Any:
        try:
            real = os.path.realpath(path or os.getcwd())
        except OSError as error:  # the working folder is gone
            raise ImportError(path) from error
        if not (real + os.sep).startswith(tree + os.sep) or any(name in real for name in FOREIGN):
            raise ImportError(path)
        return inside(path)

    return fresh_hook


def install(careful_tree: str | None = None) -> None:
    """Put the hook before the others: for the tree that the runner names, else for one that is only handled with care."""
    named = value(VARIABLE)
    tree = named or careful_tree
    if not tree or any(getattr(hook, "__name__", "") == "fresh_hook" for hook in sys.path_hooks):
        return
    sys.path_hooks.insert(0, path_hook(os.path.realpath(tree), FreshLoader if named else CarefulLoader))
    sys.path_importer_cache.clear()
    try:
        from _pytest.assertion import rewrite

        _forget_rewritten(rewrite, os.path.realpath(tree), always=bool(named))
    except (ImportError, AttributeError):
        return


def _forget_rewritten(rewrite: Any, tree: str, *, always: bool) -> None:
    """Let pytest rewrite the tree's test modules anew, while plugins from elsewhere keep their cached byte code."""
    read = rewrite._read_pyc  # noqa: SLF001 - pytest offers no setting for it

    def read_pyc(source: Any, cached: Any, *args: Any, **kwargs: Any) -> Any:
        real = os.path.realpath(source)
        ours = real.startswith(tree + os.sep) and not any(name in real for name in FOREIGN)
        refused = ours and (always or may_be_stale(real, os.fspath(cached)))
        return None if refused else read(source, cached, *args, **kwargs)

    rewrite._read_pyc = read_pyc  # noqa: SLF001 - as above
