"""One line of an agent's machine-readable stream, read without trusting a type in it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

Event = Mapping[str, Any]
NOTHING: Event = {}
#: Beyond this a count is nonsense.
LARGEST = 10**12
#: What is kept of one text.
TEXT_LIMIT = 200_000


def decode(line: str) -> Event | None:
    """Return the object of a line, or None for whatever else it is."""
    text = line.strip()
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def mapping(value: Any) -> Event:
    """Return an object, empty for anything else."""
    return value if isinstance(value, dict) else NOTHING


def rows(value: Any) -> list[Event]:
    """Return the objects of a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def word(value: Any) -> str:
    """Return a text that can be written anywhere: capped, without lone surrogates; empty for anything else."""
    return value[:TEXT_LIMIT].encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    """Return a finite number that is not negative, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return float(value) if 0 <= value <= LARGEST * 1000 else None


def whole(value: Any) -> int | None:
    """Return a count, else None."""
    found = number(value)
    return int(found) if found is not None and found <= LARGEST else None


def total(source: Event, *names: str) -> int | None:
    """Add up the counts that an object has under some names; None where it has none of them."""
    found = [count for name in names if (count := whole(source.get(name))) is not None]
    return sum(found) if found else None
