"""Which rules made a signature; those of two versions are never equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .hashing import digest

if TYPE_CHECKING:
    from .noise import Masks

#: Raised whenever the rules change.
VERSION = "4"


def version(masks: Masks) -> str:
    """Return the version, with the hash of the project's own masks where it has some."""
    if not masks:
        return VERSION
    return f"{VERSION}+{digest(repr([(mask.pattern, mask.flags, replacement) for mask, replacement in masks]), 4)}"
