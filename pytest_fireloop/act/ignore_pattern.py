"""Patterns of `.gitignore` files, with git's meaning of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
#: Answers that are kept at most: a tree is walked again and again.
REMEMBERED = 200_000
#: Ends the path of a folder while it is matched; no name holds it.
_FOLDER = "\0"
_ANY = f"[^/{_FOLDER}]"
_NEVER = "(?!)"
_SIGNS = frozenset("*?[\\")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file that stands in the folder `base` ("" or with a slash at its end)."""

    base: str
    regex: str
    negated: bool
    by_name: bool


@dataclass(frozen=True, slots=True)
class _Group:
    """Neighbouring patterns that are looked up alike, as one regular expression."""

    base: str
    negated: bool
    by_name: bool
    match: re.Pattern[str]


class IgnorePatterns:
    """Decides for one path at a time; the caller does not descend into a folder that is ignored."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        grouped = groupby(patterns, key=lambda each: (each.base, each.negated, each.by_name))
        groups = [
            _Group(*key, re.compile("|".join(f"(?:{each.regex})" for each in members), re.DOTALL))
            for key, members in grouped
        ]
        self._groups = groups[::-1]
        self._known: dict[tuple[str, bool], bool] = {}

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Whether the last pattern that matches this path says so; what was asked before is remembered."""
        known = self._known.get((path, folder))
        if known is None:
            if len(self._known) > REMEMBERED:
                self._known.clear()
            known = self._known[path, folder] = self._decide(path, folder=folder)
        return known

    def _decide(self, path: str, *, folder: bool) -> bool:
        end = _FOLDER if folder else ""
        name = path.rpartition("/")[2] + end
        for group in self._groups:
            if path.startswith(group.base):
                subject = name if group.by_name else path[len(group.base) :] + end
                if group.match.fullmatch(subject):
                    return not group.negated
        return False


def parse(line: str, base: str = "") -> Pattern | None:
    """Read one line; None for a comment, a blank line, or nothing but signs."""
    line = _trim(line.removesuffix("\n").removesuffix("\r"))
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    body = line[1:] if negated else line
    folder_only = body.endswith("/")
    body = body.removesuffix("/")
    if not body:
        return None
    by_name = "/" not in body
    regex = "".join(_translate(body.removeprefix("/"), by_name=by_name)) + _FOLDER + ("" if folder_only else "?")
    return Pattern(base, regex, negated, by_name)


def _trim(line: str) -> str:
    """Cut blanks at the end, up to one that a backslash keeps."""
    kept = line.rstrip(" ")
    escaped = (len(kept) - len(kept.rstrip("\\"))) % 2
    return kept + " " if escaped and kept != line else kept


def _translate(pattern: str, *, by_name: bool) -> Iterator[str]:
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if char == "*":
            end = position
            while pattern[end : end + 1] == "*":
                end += 1
            # git compares what stands before the first sign apart, so stars right after it are as good as at the start
            starts = pattern[:position].endswith("/") or not _SIGNS.intersection(pattern[:position])
            spans = end - position > 1 and not by_name and starts
            if spans and pattern[end : end + 1] == "/":
                yield "(?:.*/)?"
                end += 1
            else:
                yield f"[^{_FOLDER}]*" if spans and end == len(pattern) else f"{_ANY}*"
            position = end
        elif char == "[":
            regex, position = _bracket(pattern, position + 1)
            yield regex
        elif char == "\\":
            if position + 1 == len(pattern):
                yield _NEVER
            yield re.escape(pattern[position + 1 : position + 2])
            position += 2
        else:
            yield _ANY if char == "?" else re.escape(char)
            position += 1


def _bracket(pattern: str, position: int) -> tuple[str, int]:
    """Return the set that begins after a bracket, and where the pattern goes on; an open set matches nothing."""
    negated = pattern[position : position + 1] in {"!", "^"}
    position += negated
    parts: list[str] = []
    first = position
    while position < len(pattern):
        char = pattern[position]
        if char == "]" and position > first:
            inside = "".join(parts)
            if not inside:
                return _ANY if negated else _NEVER, position + 1
            return f"(?={_ANY})[{'^' if negated else ''}{inside}]", position + 1
        if pattern.startswith("[:", position) and (end := pattern.find(":]", position)) > 0:
            known = _CLASSES.get(pattern[position + 2 : end])
            if known is None:
                return _NEVER, len(pattern)
            parts.append(known)
            position = end + 2
            continue
        low, position = _member(pattern, position)
        if pattern.startswith("-", position) and pattern[position + 1 : position + 2] not in {"", "]"}:
            high, position = _member(pattern, position + 1)
            if low <= high:
                parts.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            parts.append(re.escape(low))
    return _NEVER, len(pattern)


def _member(pattern: str, position: int) -> tuple[str, int]:
    if pattern[position] == "\\" and position + 1 < len(pattern):
        position += 1
    return pattern[position], position + 1
