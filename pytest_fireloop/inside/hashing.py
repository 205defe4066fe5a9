"""The hash of ids and signatures, by a way that no module of the project can stand in."""

from __future__ import annotations

try:
    # the extension itself: `hashlib` may be a project's own file by the time it is imported
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - an interpreter built without it
    from hashlib import blake2b

__all__ = ["blake2b", "digest"]


def digest(text: str, size: int) -> str:
    """Return the hash of a text, lone surrogates included, as hexadecimal digits, two for each byte of `size`."""
    return str(blake2b(text.encode("utf-8", "backslashreplace"), digest_size=size).hexdigest())
