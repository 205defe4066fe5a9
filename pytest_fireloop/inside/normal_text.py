"""A failure's message as an engineer compares it: the same text for the same failure of another run."""

from __future__ import annotations

import re

from .assertion_text import assertion, comparison
from .known_values import replace_known
from .literals import one_order
from .masks import mask
from .wording import one_name, one_wording

#: Characters that are looked at from a message's start and its end.
HEAD, TAIL = 6_000, 1_500
#: An assertion of unittest, a mock or an array library: its values are what the test is about.
COMPARES = re.compile(
    r" [!=]= | (?:not )?(?:less|greater) than | != |not found in|unexpectedly|\bdiffer|\bis not (?:true|false)\b|"
    r"\bnot equal\b|\bare (?:not equal|different)\b|\bmismatch\b|\bexpected\b[^\n]{0,200}|\b[Rr]egex\b|didn't match|but not the (?:first|second)",
    re.IGNORECASE,
)
#: Two identifiers compared with each other are data, whichever way they were made.
IDENTIFIERS = re.compile(r"(?:assert )?(?:UUID\()?['\"]?[0-9a-fA-F-]{32,36}['\"]?\)? (?:==|!=) ")
NAME = re.compile(r"([A-Za-z_][\w.]{0,200})(?:: ?|$)")
UUID_LIKE = re.compile(r"\b([0-9a-fA-F]{8})-([0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})\b")


def normal_text(text: str, exception: str, statement: str, known: tuple[tuple[str, str], ...]) -> str:
    """Return the message less the noise; lines of an assertion are kept apart, other text becomes one line."""
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    text = text.replace("\r\n", "\n")
    if "\x1b" in text:
        text = re.sub(r"\x1b\[[0-9;]{0,20}[A-Za-z]", "", text)
    text = _without_name(text, exception)
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.startswith("assert ")), None)
    if first is not None:
        said = _free("\n".join(lines[:first]), known)
        strict = _strict("\n".join(lines[first:]), known)
        return "\n".join([said, *assertion(strict.split("\n"), statement)])
    if exception.endswith("AssertionError") and COMPARES.search(text):
        made = comparison(_strict(text, known).split("\n"))
        return "\n".join(line.strip() if line[:1] not in {"-", "+"} else line.rstrip() for line in made)
    return _free(text, known)


def _without_name(text: str, exception: str) -> str:
    """Take off the exception's name, which some places put before the message and others do not."""
    found = NAME.match(text)
    if found is None or not exception:
        return text
    names = {one_name(found[1]), found[1].rpartition(".")[2]}
    return text[found.end() :] if names & {exception, exception.rpartition(".")[2]} else text


def _free(text: str, known: tuple[tuple[str, str], ...]) -> str:
    made = one_order(one_wording(mask(replace_known(text, known))))
    return " ".join(made.split())


def _strict(text: str, known: tuple[tuple[str, str], ...]) -> str:
    hidden = IDENTIFIERS.match(text) is not None
    if hidden:
        text = UUID_LIKE.sub(r"\1~\2", text)
    return one_wording(mask(replace_known(text, known, loose=False), loose=False))
