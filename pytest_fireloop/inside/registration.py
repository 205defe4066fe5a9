"""Decides which of our plugin objects a run needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from . import environment, fresh, scope
from .failure_notes import FailureNotes
from .recorder import Recorder

if TYPE_CHECKING:
    import pytest


def redirect_cache(config: pytest.Config) -> None:
    """Move pytest's cache out of the tree; the option for it is refused where the cache plugin is off."""
    folder = environment.value("FIRELOOP_CACHE")
    cache = getattr(config, "cache", None)
    if folder and cache is not None and hasattr(cache, "_cachedir"):
        cache._cachedir = Path(folder)  # noqa: SLF001 - pytest offers no setting that holds with `-p no:cacheprovider`


def register(config: pytest.Config) -> None:
    """Register the recorder, the failure notes and, with `--fire-loop`, the referee; a run that runs no test gets none."""
    if scope.is_no_run(config):
        return
    if config.option.fire_loop:
        fresh.install(str(config.rootpath))
    redirect_cache(config)
    environment.hide_pytest()
    if not hasattr(config, "workerinput") and getattr(config.option, "dist", "no") != "no":
        environment.give_back()
    config.pluginmanager.register(FailureNotes(config), "fireloop-failure-notes")
    if hasattr(config, "workerinput"):
        return
    recorder = Recorder(config, config.option.fire_loop_record)
    config.pluginmanager.register(recorder, "fireloop-recorder")
    if config.option.fire_loop:
        from ..act.referee_plugin import RefereePlugin

        config.pluginmanager.register(RefereePlugin(config, recorder), "fireloop-referee")
