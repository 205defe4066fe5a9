"""Two hashes of a failure: `signature` for the same failure seen again, `cause` for what one fix would cure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from .hashing import digest
from .normal_text import normal_text
from .signature_version import version
from .subjects import named_in_statement
from .wording import one_name

if TYPE_CHECKING:
    from .noise import Known, Masks

NUMBER = re.compile(r"\d+")
QUOTED = re.compile(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"")
#: A statement that raises an exception with a text of its own.
SAID = re.compile(r"raise\b(?:[^'\"]{1,200}['\"]|[^'\"]{1,200}\($)")
VAGUE = frozenset({"IndexError", "KeyError", "ZeroDivisionError", "StopIteration"})
#: The id of a test in a text, as of one that crashed a worker.
NODE = re.compile(r"[\w./-]{1,200}::[^\s'\"]{1,200}")
#: Characters of a statement that count.
STATEMENT = 400
#: Frames that Python 3.12 no longer makes.
INLINED = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>"})


class FailureFacts(NamedTuple):
    """What is known of one failure; frames are (path relative to the root, function), outermost first.

    `statement` is of the last of these frames, for a library's source is its release's. `chain` holds causes and
    contexts as (exception, message) or (place, statement), then what an exception group holds. `in_test` says that the
    test's own function is the only frame, and `subjects` which functions of the project that one names.
    """

    phase: str
    exception: str
    message: str
    statement: str = ""
    frames: tuple[tuple[str, str], ...] = ()
    chain: tuple[tuple[str, str], ...] = ()
    known: Known = ()
    masks: Masks = ()
    in_test: bool = False
    subjects: tuple[str, ...] = ()


def signature(facts: FailureFacts) -> str:
    """Hash what an engineer would compare: exception, message less noise, own frames, statement, causes."""
    facts = _stable(facts)
    return _hash(
        version(facts.masks),
        facts.phase,
        facts.exception,
        _text(facts, facts.message, facts.exception, facts.statement),
        facts.statement,
        repr(facts.frames),
        repr([(one_name(name), _text(facts, message, name)) for name, message in facts.chain]),
    )


def cause(facts: FailureFacts) -> str:
    """Hash the coarser view: exception, where it was raised, and the message without its values.

    Where no code of the project but the test itself is seen, the message names what is wrong (a missing module, a wrong
    argument), and a failed comparison is the matter of the functions that the test calls.
    """
    facts = _stable(facts)
    place = facts.frames[-1:] or ((facts.phase, ""),)
    first_line = _text(facts, facts.message, facts.exception, facts.statement).partition("\n")[0]
    shape = NUMBER.sub("#", QUOTED.sub("''", first_line))
    where = repr((place, facts.statement))
    if facts.exception.endswith("AssertionError") or (facts.in_test and _is_vague(facts.exception, first_line)):
        # the values of a comparison are the test's
        shape = ""
        alone = facts.in_test and len(facts.frames) == 1
        subjects = facts.subjects or (named_in_statement(facts.statement) if alone else ())
        where = repr(subjects) if subjects and facts.in_test else where
    elif SAID.match(facts.statement):
        shape = ""  # the statement says it, and the rest are the values of a case
    elif facts.in_test or not facts.frames:
        shape, where = NODE.sub("<test>", first_line), ""
    root = facts.chain[-1:] or (("", ""),)
    return _hash(version(facts.masks), facts.exception, where, shape, one_name(root[0][0]))


def _is_vague(exception: str, text: str) -> bool:
    """Whether an exception says nothing of the project: which value was missing depends on what made it."""
    return exception in VAGUE or "'NoneType' object" in text


def _stable(facts: FailureFacts) -> FailureFacts:
    """Leave out what the release of Python or the depth of the stack decides."""
    frames = tuple(frame for frame in facts.frames if frame[1] not in INLINED)
    statement = " ".join(facts.statement[:STATEMENT].split())
    if facts.exception == "RecursionError":
        # where in its circle it met the limit depends on the frames below the test
        frames, statement = tuple(sorted(set(frames))), ""
    return facts._replace(exception=one_name(facts.exception), frames=frames, statement=statement)


def _text(facts: FailureFacts, message: str, exception: str, statement: str = "") -> str:
    return normal_text(message, exception, statement, facts.known, facts.masks)


def _hash(*parts: str) -> str:
    return digest("\0".join(parts), 8)
