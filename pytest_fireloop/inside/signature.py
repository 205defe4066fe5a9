"""Two hashes of a failure: `signature` for the same failure seen again, `cause` for what one fix would cure."""

from __future__ import annotations

import re
from typing import NamedTuple

from .hashing import digest
from .normal_text import normal_text
from .wording import one_name

#: Raised whenever the rules change; signatures of two versions are never compared.
VERSION = "2"
NUMBER = re.compile(r"\d+")
QUOTED = re.compile(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"")
#: Frames that Python 3.12 no longer makes.
INLINED = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>"})


class FailureFacts(NamedTuple):
    """What is known of one failure; frames are (path relative to the root, function), outermost first.

    `statement` is of the last of these frames, for a library's source is its release's. `chain` holds causes and
    contexts as (exception, message) or (place, statement), then what an exception group holds.
    """

    phase: str
    exception: str
    message: str
    statement: str = ""
    frames: tuple[tuple[str, str], ...] = ()
    chain: tuple[tuple[str, str], ...] = ()
    known: tuple[tuple[str, str], ...] = ()


def signature(facts: FailureFacts) -> str:
    """Hash what an engineer would compare: exception, message less noise, own frames, statement, causes."""
    facts = _stable(facts)
    return _hash(
        VERSION,
        facts.phase,
        facts.exception,
        _text(facts),
        facts.statement,
        repr(facts.frames),
        repr([(one_name(name), normal_text(message, name, "", facts.known)) for name, message in facts.chain]),
    )


def cause(facts: FailureFacts) -> str:
    """Hash the coarser view: exception, crashing place, and the message without its values."""
    facts = _stable(facts)
    place = facts.frames[-1:] or ((facts.phase, ""),)
    first_line = _text(facts).partition("\n")[0]
    shape = NUMBER.sub("#", QUOTED.sub("''", first_line))
    if facts.exception == "AssertionError":
        shape = ""  # the values of a comparison are the test's, the place is what tests of one bug share
    root = facts.chain[-1:] or (("", ""),)
    return _hash(VERSION, facts.exception, repr(place), shape, facts.statement, one_name(root[0][0]))


def _stable(facts: FailureFacts) -> FailureFacts:
    """Leave out what the release of Python or the depth of the stack decides."""
    frames = tuple(frame for frame in facts.frames if frame[1] not in INLINED)
    statement = " ".join(facts.statement.split())
    if facts.exception == "RecursionError":
        # where in its circle it met the limit depends on the frames below the test
        frames, statement = tuple(sorted(set(frames))), ""
    return facts._replace(exception=one_name(facts.exception), frames=frames, statement=statement)


def _text(facts: FailureFacts) -> str:
    return normal_text(facts.message, facts.exception, facts.statement, facts.known)


def _hash(*parts: str) -> str:
    return digest("\0".join(parts), 8)
