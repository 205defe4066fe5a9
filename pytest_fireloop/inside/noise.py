"""What is noise in the failures of one run: the values of the machine, and the masks of the project."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, NamedTuple

from .known_facts import known_facts

if TYPE_CHECKING:
    import pytest

#: Pairs of a value and the name that stands for it.
Known = tuple[tuple[str, str], ...]
#: Pairs of a pattern and its replacement.
Masks = tuple[tuple["re.Pattern[str]", str], ...]


class Noise(NamedTuple):
    """Known values and own masks, each as pairs with what stands for them."""

    known: Known = ()
    masks: Masks = ()


def noise_of(config: pytest.Config) -> Noise:
    """Gather the noise of a run; masks that cannot be had are left out, with one line that says so."""
    return Noise(known_facts(config), _project_masks(config))


def _project_masks(config: pytest.Config) -> Masks:
    hook = getattr(config.hook, "pytest_fireloop_masks", None)
    implementations = hook.get_hookimpls() if hook is not None else []
    if not implementations:
        return ()
    masks: list[tuple[re.Pattern[str], str]] = []
    plugins = [each.plugin for each in implementations]
    # the one whose masks come first in what pytest would return is the last that was registered
    for plugin in reversed(plugins):
        where = f"{_place(config, plugin)}: "
        try:
            alone = config.pluginmanager.subset_hook_caller(
                "pytest_fireloop_masks", [each for each in plugins if each is not plugin]
            )
            for pair in [pair for given in alone(config=config) for pair in given or ()]:
                pattern, replacement = pair
                where = f"{_place(config, plugin)}: {pair!r}: "
                made = re.compile(pattern), str(replacement)
                # a group in the replacement that the pattern lacks would else be noticed at the first failure
                made[0].sub(made[1], "")
                masks.append(made)
                where = f"{_place(config, plugin)}: "
        except Exception as error:  # noqa: BLE001 - the project's code, which must not end its run
            if not hasattr(config, "workerinput"):
                text = f"the masks of pytest_fireloop_masks are left out: {where}{type(error).__name__}: {error}"
                line = f"fire-loop: {text}\n".encode("ascii", "backslashreplace").decode("ascii")
                sys.stderr.write(line)
            return ()
    return tuple(masks)


def _place(config: pytest.Config, plugin: object) -> str:
    """Name the file of a plugin, as seen from the project where it is one of its own."""
    path = str(getattr(plugin, "__file__", None) or type(plugin).__name__)
    inside = os.path.join(str(config.rootpath), "")
    return path.removeprefix(inside)
