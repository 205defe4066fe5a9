"""Values of the machine and the run that may stand in a failure's text; read before any tested code runs."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def known_facts(config: pytest.Config) -> tuple[tuple[str, str], ...]:
    """Return pairs of a value and the name that stands for it, longest first."""
    root, base = str(config.rootpath), getattr(config.option, "basetemp", None)
    pairs = {
        root: "<root>",
        os.path.realpath(root): "<root>",
        os.path.expanduser("~"): "<home>",
        tempfile.gettempdir() + os.sep + "pytest-of-": os.sep + "pytest-of-",
    }
    if base:
        given = os.path.join(str(config.invocation_params.dir), str(base))
        pairs |= {os.path.abspath(given): "<tmp>", os.path.realpath(given): "<tmp>"}
    return tuple(sorted(((value, name) for value, name in pairs.items() if len(value) > 3), key=lambda p: -len(p[0])))
