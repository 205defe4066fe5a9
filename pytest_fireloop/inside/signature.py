"""Two hashes of a failure: `signature` for the same failure seen again, `cause` for what one fix would cure."""

from __future__ import annotations

import re
from typing import NamedTuple

from .hashing import digest
from .masks import mask

#: Raised whenever the rules change; signatures of two versions are never compared.
VERSION = "1"
LIMIT = 20_000
NUMBER = re.compile(r"\d+")
QUOTED = re.compile(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"")


class FailureFacts(NamedTuple):
    """What is known of one failure; frames are (path relative to the root, function), outermost first."""

    phase: str
    exception: str
    message: str
    statement: str = ""
    frames: tuple[tuple[str, str], ...] = ()
    chain: tuple[tuple[str, str], ...] = ()
    known: tuple[tuple[str, str], ...] = ()


def signature(facts: FailureFacts) -> str:
    """Hash what an engineer would compare: exception, message less noise, own frames, statement, causes."""
    return _hash(
        VERSION,
        facts.phase,
        facts.exception,
        _text(facts.message, facts.known),
        facts.statement.strip(),
        repr(facts.frames),
        repr([(name, _text(message, facts.known)) for name, message in facts.chain]),
    )


def cause(facts: FailureFacts) -> str:
    """Hash the coarser view: exception, crashing place, and the message without its values."""
    place = facts.frames[-1:] or ((facts.phase, ""),)
    first_line = _text(facts.message, facts.known).partition("\n")[0]
    shape = NUMBER.sub("#", QUOTED.sub("''", first_line))
    if facts.exception == "AssertionError":
        shape = ""  # the values of a comparison are the test's, the place is what tests of one bug share
    root = facts.chain[-1:] or (("", ""),)
    return _hash(VERSION, facts.exception, repr(place), shape, facts.statement.strip(), root[0][0])


def _text(message: str, known: tuple[tuple[str, str], ...]) -> str:
    return " ".join(mask(message[:LIMIT], known).split())


def _hash(*parts: str) -> str:
    return digest("\0".join(parts), 8)
