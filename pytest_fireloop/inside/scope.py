"""What part of the suite a run was asked to show."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

#: Options that leave tests out: destination, and the spellings under which a project's own `addopts` may hold them.
NARROWING = (
    ("keyword", ("-k",)),
    ("markexpr", ("-m",)),
    ("deselect", ("--deselect",)),
    ("ignore", ("--ignore",)),
    ("ignore_glob", ("--ignore-glob",)),
    ("lf", ("--lf", "--last-failed")),
    ("stepwise", ("--sw", "--stepwise")),
    ("maxfail", ("-x", "--exitfirst", "--maxfail")),
    ("splits", ("--splits",)),
    ("num_shards", ("--num-shards",)),
    ("testmon", ("--testmon",)),
)


def narrowed_by(config: pytest.Config) -> tuple[str, ...]:
    """Name what narrows this run on purpose; a project's own `addopts` is its whole suite, not a narrowing."""
    own = [str(word) for word in config.getini("addopts")]
    found = [
        name
        for name, spellings in NARROWING
        if getattr(config.option, name, None) and not any(word.startswith(spellings) for word in own)
    ]
    if any("::" in argument for argument in config.args):
        found.append("node ids")
    return tuple(found)


def fingerprint(config: pytest.Config) -> str:
    """Return a short hash of everything that decides which tests a run holds."""
    option: Any = config.option
    facts = [sorted(str(argument) for argument in config.args)]
    facts += [[name, str(getattr(option, name, None))] for name, _ in NARROWING if getattr(option, name, None)]
    return hashlib.blake2b(repr(facts).encode("utf-8", "backslashreplace"), digest_size=6).hexdigest()


def is_no_run(options: Any) -> bool:
    """Whether pytest's options ask to show something rather than to run tests."""
    return any(
        getattr(options, name, False)
        for name in (
            "collectonly",
            "setuponly",
            "setupplan",
            "showfixtures",
            "show_fixtures_per_test",
            "markers",
            "help",
            "version",
            "cacheshow",
        )
    )


def environment_name() -> str:
    """Name the environment: tox's own name, else interpreter and platform."""
    import platform
    import sys

    name = os.environ.get("TOX_ENV_NAME")
    return name or f"py{sys.version_info[0]}{sys.version_info[1]}-{platform.system().lower()}"
