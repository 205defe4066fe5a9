"""What is noise in the failures of one run: the values of the machine, and the masks of the project."""

from __future__ import annotations

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
    if hook is None or not hook.get_hookimpls():
        return ()
    try:
        pairs = [pair for given in hook(config=config) for pair in given or ()]
        masks = tuple((re.compile(pattern), str(replacement)) for pattern, replacement in pairs)
        for pattern, replacement in masks:
            # a group in the replacement that the pattern lacks would else be noticed at the first failure
            pattern.sub(replacement, "")
    except Exception as error:  # noqa: BLE001 - the project's code, which must not end its run
        if not hasattr(config, "workerinput"):
            text = f"fire-loop: the masks of pytest_fireloop_masks are left out ({type(error).__name__}: {error})\n"
            sys.stderr.write(text.encode("ascii", "backslashreplace").decode("ascii"))
        return ()
    return masks
