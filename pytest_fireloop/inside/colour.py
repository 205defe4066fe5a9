"""Terminal colours in a text."""

from __future__ import annotations

import re

COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")


def without_colour(text: str) -> str:
    """Return the text less its colour codes."""
    return COLOUR.sub("", text) if "\x1b" in text else text
