"""Pytest's door: options, registration and hooks, nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the `fire-loop` group; without one of them nothing but the hooks' specification is imported."""
    if "FIRELOOP_FRESH" in os.environ:
        from .inside.environment import take
        from .inside.fresh import install

        take()
        install()
    group = parser.getgroup("fire-loop", "referee for loops of a coding agent")
    group.addoption(
        "--fire-loop",
        action="store_true",
        help="record this run as one iteration of the loop in this tree, score it and watch the circuit",
    )
    group.addoption(
        "--fire-loop-record", metavar="FILE", help="write the run record to FILE, or to a file of its own in FOLDER/"
    )
    group.addoption("--fire-loop-dir", metavar="DIR", help="keep the loop's state in DIR")
    group.addoption(
        "--fire-loop-profile",
        choices=("balanced", "strict", "aggressive"),
        default="balanced",
        help="thresholds of the circuit (default: balanced)",
    )
    group.addoption(
        "--fire-loop-test-edits",
        choices=("warn", "forbid"),
        default="warn",
        help="what a weakened test means for a green run (default: warn)",
    )
    group.addoption("--fire-loop-force", action="store_true", help="run although the circuit is open")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the hooks by which a project extends this plugin, whether it is used or not."""
    from .inside import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, None, None]:
    """Replace the record of an earlier run, and refuse a conftest that ends the process with 0."""
    options = early_config.known_args_namespace
    if not (options.fire_loop or options.fire_loop_record) or os.environ.get("FIRELOOP") == "0":
        return (yield)
    from .inside.early import Beginning

    beginning = Beginning(options, str(early_config.rootpath))
    beginning.begin()
    try:
        return (yield)
    except SystemExit as error:
        code = beginning.ended(error.code)
        if code is None:
            raise
        raise SystemExit(code) from None
    except Exception as error:
        beginning.broken(error)
        raise


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, Any, Any]:
    """Believe no 0 of a run that was not judged, whoever says it."""
    if not config.option.fire_loop or hasattr(config, "workerinput") or os.environ.get("FIRELOOP") == "0":
        return (yield)
    from .inside.early import Watch

    return (yield from Watch(config).main())


def pytest_configure(config: pytest.Config) -> None:
    """Register the recorder, and the referee with `--fire-loop`."""
    option = config.option
    if not (option.fire_loop or option.fire_loop_record) or os.environ.get("FIRELOOP") == "0":
        return
    from .inside.registration import register

    register(config)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say which of our options on the command line had no effect; settings of the project may wait for their use."""
    if config.option.fire_loop or not any(
        str(word).startswith("--fire-loop-") for word in config.invocation_params.args
    ):
        return
    from .inside.own_options import tell_unused

    tell_unused(terminalreporter, config)
