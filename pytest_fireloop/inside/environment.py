"""The runner's variables, taken out of the tested code's sight as soon as the plugin is loaded."""

from __future__ import annotations

import os

#: FRESH names the tree whose sources run fresh, CACHE the folder for pytest's cache, OUTSIDE the tree that a room
#: stands for, HIDE asks that pytest's own variables be hidden too, DISGUISE names the file that says how tests are run
#: as if nobody tested.
NAMES = ("FIRELOOP_FRESH", "FIRELOOP_CACHE", "FIRELOOP_OUTSIDE", "FIRELOOP_HIDE", "FIRELOOP_DISGUISE")
_TAKEN: dict[str, str] = {}


def take() -> None:
    """Move the variables from the environment into this module."""
    for name in NAMES:
        value = os.environ.pop(name, None)
        if value is not None:
            _TAKEN[name] = value


def give_back() -> None:
    """Put them back for xdist's workers, which take them in turn; their controller runs no test."""
    os.environ.update(_TAKEN)


def value(name: str) -> str | None:
    """Return one of the variables."""
    return _TAKEN.get(name)


def hide_pytest() -> None:
    """Hide what pytest tells its tests through the environment."""
    if "FIRELOOP_HIDE" in _TAKEN:
        from _pytest import runner

        os.environ.pop("PYTEST_VERSION", None)
        if hasattr(runner, "_update_current_test_var"):
            runner._update_current_test_var = lambda *_args, **_kwargs: None  # noqa: SLF001 - no setting hides it
