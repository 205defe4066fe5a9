"""A failure's message as an engineer compares it: the same text for the same failure of another run."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from .assertion_text import assertion, comparison, operands
from .colour import without_colour
from .known_values import replace_known
from .literals import one_order
from .masks import mask
from .wording import one_name, one_wording

if TYPE_CHECKING:
    from .noise import Known, Masks

#: Characters that are looked at from a message's start and its end.
HEAD, TAIL = 3_000, 600
#: Characters of one line that are kept of a long text, and of the text that is searched for lines.
LINE, SEARCHED = 1_200, 20_000
#: An assertion of unittest, a mock or an array library: its values are what the test is about.
COMPARES = re.compile(
    r" [!=]= | (?:not )?(?:less|greater) than | != |not found in|unexpectedly|\bdiffer|\bis not (?:true|false)\b|"
    r"\bnot equal\b|\bare (?:not equal|different)\b|\bmismatch\b|\bexpected\b[^\n]{0,200}|\b[Rr]egex\b|didn't match|but not the (?:first|second)",
    re.IGNORECASE,
)
#: Two identifiers compared with each other are data, whichever way they were made.
IDENTIFIERS = re.compile(r"(?:assert )?(?:UUID\()?['\"]?[0-9a-fA-F-]{32,36}['\"]?\)? (?:==|!=) ")
ASSERTION = re.compile(r"(?:^|\n|: )assert ")
NAME = re.compile(r"([A-Za-z_][\w.]{0,200})(?:: ?|$)")
FRAME = re.compile(r"(?:INTERNALERROR>)? {0,8}File \"([^\"\n]{1,400})")
MARKS = re.compile(
    r"(?:INTERNALERROR>)? {0,200}[~^]{1,400} {0,8}$| {0,8}\[Previous line repeated \d{1,9} more times?\]$"
)
UUID_LIKE = re.compile(r"\b([0-9a-fA-F]{8})-([0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})\b")


#: One failure is asked for twice, for its signature and for its cause.
@lru_cache(maxsize=8)
def normal_text(text: str, exception: str, statement: str, known: Known, masks: Masks = ()) -> str:
    """Return the message less the noise; lines of an assertion are kept apart, other text becomes one line."""
    if "\x1b" in text:
        text = without_colour(text[:SEARCHED])
    text = _capped(text).replace("\r\n", "\n")
    for pattern, replacement in masks:
        text = pattern.sub(replacement, text)
    text = _without_name(text, exception)
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.startswith("assert ")), None)
    if first is not None:
        said = _free("\n".join(lines[:first]), exception, known)
        strict = _strict("\n".join(lines[first:]), exception, known)
        return "\n".join([said, *assertion(strict.split("\n"), statement)])
    if exception.endswith("AssertionError") and COMPARES.search(text):
        made = comparison(_strict(text, exception, known).split("\n"))
        return "\n".join(line.strip() if line[:1] not in {"-", "+"} else line.rstrip() for line in made)
    return _free(text, exception, known)


def _capped(text: str) -> str:
    """Shorten a long text by its long lines first: the values of an assertion hide what is said of them below."""
    if len(text) <= HEAD + TAIL:
        return text
    lines = []
    for line in text[:SEARCHED].split("\n", LINE):
        if len(line) <= LINE:
            lines.append(line)
        elif ASSERTION.search(line, 0, LINE):
            start = line.index("assert ")
            left, operator, right = operands(line[start:])
            lines.append(f"{line[:start]}assert {_both_ends(left)} {operator} {_both_ends(right)}")
        else:
            lines.append(_both_ends(line))
    made = "\n".join(lines)
    if len(made) <= HEAD + TAIL and len(text) <= SEARCHED:
        return made
    # what ends the explanation of an assertion repeats what begins it
    return made[:HEAD] if ASSERTION.search(made, 0, HEAD) else f"{made[:HEAD]}\n{text[-TAIL:]}"


def _both_ends(text: str) -> str:
    return text if len(text) <= LINE else text[: LINE // 2] + text[-LINE // 4 :]


def _without_name(text: str, exception: str) -> str:
    """Take off the exception's name, which some places put before the message and others do not."""
    found = NAME.match(text)
    if found is None or not exception:
        return text
    names = {one_name(found[1]), found[1].rpartition(".")[2]}
    return text[found.end() :] if names & {exception, exception.rpartition(".")[2]} else text


def _free(text: str, exception: str, known: Known) -> str:
    masked = mask(replace_known(text, known))
    made = one_order(one_wording(_without_library_frames(masked) if 'File "' in masked else masked, exception))
    return " ".join(made.split())


def _without_library_frames(text: str) -> str:
    """Drop of a traceback inside a message the frames of libraries and the marks below the source."""
    kept: list[str] = []
    dropping = False
    for line in text.split("\n"):
        found = FRAME.match(line)
        if found is not None:
            dropping = found[1].startswith(("<site>", "<stdlib>", "<frozen", "<string>"))
        elif not line.startswith(("    ", "INTERNALERROR>     ")):
            dropping = False
        if not dropping and not MARKS.match(line):
            kept.append(line)
    return "\n".join(kept)


def _strict(text: str, exception: str, known: Known) -> str:
    hidden = IDENTIFIERS.match(text) is not None
    if hidden:
        text = UUID_LIKE.sub(r"\1~\2", text)
    return one_wording(mask(replace_known(text, known, loose=False), loose=False), exception)
