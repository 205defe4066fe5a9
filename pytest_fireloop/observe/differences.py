"""What differs between failures of one cause, as people would look for it: in the message, the place, the files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from pytest_fireloop.observe.record import Failure

#: Words, numbers with their point and sign, and all else character by character.
TOKEN = re.compile(r"-?\d+(?:\.\d+)?|\w+|\s+|.")
#: Characters of a message that are compared, and failures of a group: more would not be shown.
MESSAGE, FAILURES = 400, 1_000
#: Places of a message that may differ before they are shown as one.
GAPS = 3
GAP = "{}"


class Difference(NamedTuple):
    """One thing that is not the same in a group: what it is, its values, most frequent first, and where they stand."""

    what: str
    values: tuple[str, ...]
    shape: str = ""


def differences(failures: Sequence[Failure], runs: Sequence[str] = ()) -> tuple[Difference, ...]:
    """Return what differs within a group, the message first, whose shape has a gap for each value."""
    failures = failures[:FAILURES]
    files = [node.partition("::")[0] for failure in failures for node in failure.nodeids]
    found = [
        _message([_first_line(failure.message) for failure in failures]),
        Difference("exception", _by_frequency([failure.exception for failure in failures])),
        Difference("place", _by_frequency([failure.location for failure in failures])),
        Difference("file", _by_frequency(files)),
        Difference("run", tuple(runs)),
    ]
    return tuple(each for each in found if len(each.values) > 1)


def _message(messages: Sequence[str]) -> Difference:
    """Return the values in which messages differ: word by word where they have as many, else one stretch."""
    split = [TOKEN.findall(message) for message in messages]
    rows = list(zip(*split, strict=True)) if len({len(each) for each in split}) == 1 else []
    gaps = [index for index, row in enumerate(rows) if len(set(row)) > 1]
    if 0 < len(gaps) <= GAPS:
        shape = "".join(GAP if index in gaps else row[0] for index, row in enumerate(rows))
        return Difference(
            "message", _by_frequency([" / ".join(each[index] for index in gaps) for each in split]), shape
        )
    start, end = _common(split)
    shape = "".join([*split[0][:start], GAP, *split[0][len(split[0]) - end :]]) if start + end else ""
    return Difference("message", _by_frequency(["".join(each[start : len(each) - end]) for each in split]), shape)


def _common(split: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Return how many tokens all begin with, and end with."""
    shortest = min(map(len, split))
    start = next((index for index in range(shortest) if len({each[index] for each in split}) > 1), shortest)
    left = shortest - start
    end = next((index for index in range(left) if len({each[-1 - index] for each in split}) > 1), left)
    return start, end


def _first_line(message: str) -> str:
    return message.strip().partition("\n")[0][:MESSAGE]


def _by_frequency(values: Sequence[str]) -> tuple[str, ...]:
    counted: dict[str, int] = {}
    for value in values:
        counted[value] = counted.get(value, 0) + 1
    return tuple(sorted(counted, key=lambda value: (-counted[value], value)))
