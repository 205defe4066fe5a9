"""Words with braces, as most shells read them: `{a,b}.md` stands for two files."""

from __future__ import annotations

from collections.abc import Iterator

#: Words that one may stand for; a longer list is of no use to anybody.
LIMIT = 1000


def expanded(word: str) -> list[str]:
    """Return the words that a word with braces stands for, itself where it holds no list."""
    done: list[str] = []
    pending = [word]
    while pending and len(done) + len(pending) <= LIMIT:
        first, *pending = pending
        found = _first_list(first)
        if found is None:
            done.append(first)
        else:
            start, end, parts = found
            pending = [f"{first[:start]}{part}{first[end:]}" for part in parts] + pending
    return [*done, *pending]


def _first_list(word: str) -> tuple[int, int, list[str]] | None:
    """Return where the first list with a comma stands in a word, and its members."""
    for start in (place for place, sign in enumerate(word) if sign == "{" and word[max(place - 1, 0) : place] != "$"):
        members = list(_members(word, start + 1))
        if members and members[-1][1] < len(word) and len(members) > 1:
            return start, members[-1][1] + 1, [word[begin:end] for begin, end in members]
    return None


def _members(word: str, begin: int) -> Iterator[tuple[int, int]]:
    """Yield where the members of a list begin and end; the last one ends at the brace that closes it."""
    depth = 0
    for place in range(begin, len(word)):
        sign = word[place]
        if sign == "{":
            depth += 1
        elif sign == "}" and depth:
            depth -= 1
        elif sign == "}" or (sign == "," and not depth):
            yield begin, place
            if sign == "}":
                return
            begin = place + 1
    yield begin, len(word)
