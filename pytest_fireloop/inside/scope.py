"""What part of the suite a run was asked to show."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import paths
from .hashing import digest

if TYPE_CHECKING:
    import pytest

#: Options that leave tests out, by destination: pytest's own, then those of plugins that shard, pick or select.
NARROWING = (
    *("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise", "maxfail"),
    *("splits", "num_shards", "test-group-count", "circleci_parallelize"),
    *("testmon", "picked", "selectfromfile", "deselectfromfile"),
)
#: Options that end a run before all of its tests have run, by destination, with what says that they are not given.
STOPPING = {"maxfail": 0, "stepwise": False, "stepwise_skip": False, "stepwise_reset": False}
NODE_IDS, PATHS, OVERRIDES = "node ids", "paths", "override_ini"
#: Settings that decide what is collected; overridden on the command line they narrow, whatever they say.
COLLECTING = frozenset(
    {
        "python_files",
        "python_classes",
        "python_functions",
        "testpaths",
        "norecursedirs",
        "collect_imported_tests",
    }
)


def narrowed_by(config: pytest.Config) -> tuple[str, ...]:
    """Name what narrows this run on purpose; what the project's own `addopts` says is its whole suite, no narrowing."""
    option: Any = config.option
    found = [name for name in NARROWING if getattr(option, name, None)]
    if found:
        own = _own_options(config)
        found = [name for name in found if getattr(option, name) != getattr(own, name, None)]
    if _collects_otherwise(config):
        found.append(OVERRIDES)
    if any("::" in str(argument) for argument in config.args):
        found.append(NODE_IDS)
    elif paths.leave_tests_out(config):
        found.append(PATHS)
    return tuple(found)


def _collects_otherwise(config: pytest.Config) -> bool:
    """Whether the command line overrides a setting that decides what is collected."""
    given = [
        word for word in getattr(config.option, "override_ini", None) or () if word.partition("=")[0] in COLLECTING
    ]
    if not given:
        return False
    own = getattr(_own_options(config), "override_ini", None) or ()
    return any(word not in own for word in given)


def _own_options(config: pytest.Config) -> Any:
    """Return the options as the project's `addopts` and the defaults alone would have them."""
    overridden = any(word.startswith("addopts=") for word in getattr(config.option, "override_ini", None) or ())
    words = [] if overridden else [str(word) for word in config.getini("addopts")]
    try:
        return config._parser.parse_known_args(words)  # noqa: SLF001 - pytest has no other way to ask
    except Exception:  # noqa: BLE001 - a private way: without it every option counts
        return None


def fingerprint(config: pytest.Config) -> str:
    """Return a short hash of everything that decides which tests a run holds."""
    option: Any = config.option
    facts = [sorted(str(argument) for argument in config.args)]
    facts += [
        [name, str(getattr(option, name, None))]
        for name in (*NARROWING, "override_ini", "inifilename")
        if getattr(option, name, None)
    ]
    return digest(repr(facts), 6)


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


def run_to_the_end(options: Any) -> None:
    """Take away what ends a run early, wherever it was said: a test that never ran tells nothing of a fix."""
    for name, absent in STOPPING.items():
        if getattr(options, name, absent):
            setattr(options, name, absent)


def settle_record_path(options: Any) -> None:
    """Give each run a file of its own where a folder is named for the record, as for several environments at once."""
    path = options.fire_loop_record
    if path and path.endswith(("/", os.sep)):
        name = "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in environment_name())
        options.fire_loop_record = os.path.join(path, f"{name}.{os.getpid()}.json")


def environment_name() -> str:
    """Name the environment: tox's own name, else interpreter and platform."""
    import platform
    import sys

    name = os.environ.get("TOX_ENV_NAME")
    return name or f"py{sys.version_info[0]}{sys.version_info[1]}-{platform.system().lower()}"
