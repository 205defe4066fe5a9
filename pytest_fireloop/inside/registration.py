"""Decides which of our plugin objects a run needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from . import environment, scope
from .failure_notes import FailureNotes
from .noise import noise_of
from .recorder import Recorder

if TYPE_CHECKING:
    import pytest

    from .last_word import LastWord

#: On the configuration, for the copy that runs in a foreign environment shares no module with us.
ATTRIBUTE = "_fireloop_last_word"


def redirect_cache(config: pytest.Config) -> None:
    """Move pytest's cache out of the tree; the option for it is refused where the cache plugin is off."""
    folder = environment.value("FIRELOOP_CACHE")
    cache = getattr(config, "cache", None)
    if folder and cache is not None and hasattr(cache, "_cachedir"):
        cache._cachedir = Path(folder)  # noqa: SLF001 - pytest offers no setting that holds with `-p no:cacheprovider`


def last_word_of(config: pytest.Config) -> LastWord:
    """Return the run's last word, made by whoever asks first."""
    from .last_word import LastWord

    found = getattr(config, ATTRIBUTE, None)
    if found is None:
        found = LastWord(config)
        setattr(config, ATTRIBUTE, found)
    return cast("LastWord", found)


def register(config: pytest.Config) -> None:
    """Register the recorder, the failure notes and, with `--fire-loop`, the referee; a run that runs no test gets none."""
    option = config.option
    if scope.is_no_run(option):
        return
    scope.settle_record_path(option)
    if environment.value("FIRELOOP_FRESH"):
        # a run of the runner's own; before the plugins of pytest that look at these options are configured
        scope.run_to_the_end(option)
    if option.fire_loop:
        from . import fresh

        fresh.install(str(config.rootpath))
    redirect_cache(config)
    environment.hide_pytest()
    if not hasattr(config, "workerinput") and getattr(option, "dist", "no") != "no":
        environment.give_back()
    register_plugin = config.pluginmanager.register
    noise = noise_of(config)
    register_plugin(FailureNotes(config, noise), "fireloop-failure-notes")
    if hasattr(config, "workerinput"):
        from .wire import Wire

        register_plugin(Wire(), "fireloop-wire")
        return
    disguise = None
    wanted = environment.value("FIRELOOP_DISGUISE")
    if wanted:
        from .disguise import Disguise

        disguise = Disguise(config, wanted)
        register_plugin(disguise, "fireloop-disguise")
    referee = None
    if option.fire_loop:
        from .referee_plugin import RefereePlugin

        referee = RefereePlugin(config, last_word_of(config))
    recorder = Recorder(config, noise, option.fire_loop_record, referee)
    recorder.said = disguise.said if disguise is not None else None
    register_plugin(recorder, "fireloop-recorder")
    if referee is not None:
        # registered last, so that it may refuse the run before a record of it begins
        register_plugin(referee, "fireloop-referee")
