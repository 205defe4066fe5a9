"""Decides which of our plugin objects a run needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import scope
from .failure_notes import FailureNotes
from .recorder import Recorder

if TYPE_CHECKING:
    import pytest


def register(config: pytest.Config) -> None:
    """Register the recorder, the failure notes and, with `--fire-loop`, the referee; a run that runs no test gets none."""
    if scope.is_no_run(config):
        return
    config.pluginmanager.register(FailureNotes(config), "fireloop-failure-notes")
    if hasattr(config, "workerinput"):
        return
    recorder = Recorder(config, config.option.fire_loop_record)
    config.pluginmanager.register(recorder, "fireloop-recorder")
    if config.option.fire_loop:
        from ..act.referee_plugin import RefereePlugin

        config.pluginmanager.register(RefereePlugin(config, recorder), "fireloop-referee")
