"""Makes untrusted text fit to show: no control characters, no surrogates, not too long."""

from __future__ import annotations

import re

CONTROL = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
FENCE = re.compile(r"`{3,}")


def clean(text: str, limit: int = 4_000) -> str:
    """Drop control sequences and bidirectional overrides, replace surrogates, cut what is over the limit."""
    text = text[: limit * 4].replace("\r\n", "\n").replace("\r", "\n")
    text = CONTROL.sub("", text).encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) > limit:
        text = f"{text[:limit]}... [{len(text) - limit} more characters]"
    return text


def one_line(text: str, limit: int = 200) -> str:
    """Return the cleaned text on one line."""
    return clean(" ".join(text.split()), limit)


def reason_of(error: Exception) -> str:
    """Return what an error says beside the file, which the message names already."""
    return str(error.strerror or error) if isinstance(error, OSError) else str(error)


def plural(number: int, noun: str) -> str:
    """Return a number with its noun, as in `1 file` and `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def fenced(text: str) -> str:
    """Put text between code fences that nothing inside can close."""
    longest = max((len(run) for run in FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"
