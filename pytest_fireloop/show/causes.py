"""The failures of runs in the words of `fireloop signature`: causes, the loudest first, and what differs in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fireloop.observe.causes import CauseGroup
from pytest_fireloop.observe.text import one_line

NODES, VALUES, VALUE, SHAPE = 3, 4, 40, 120


def cause_lines(groups: Sequence[CauseGroup]) -> Iterator[str]:
    """Return a line that counts, then for each cause its representative, what differs, and some of its tests."""
    failures = sum(len(group.nodeids) for group in groups)
    yield f"{_count(failures, 'failure')}, {_count(len(groups), 'cause')}"
    for group in groups:
        failure = group.representative
        yield ""
        exception = failure.exception or "Failure"
        yield f"{len(group.nodeids):>5}  {one_line(exception, 60)} at {one_line(failure.location, 80)}  [{group.cause}]"
        if failure.message:
            yield f"       {one_line(_without(exception, failure.message), SHAPE)}"
        for what, values, shape in group.differs:
            shown = ", ".join(one_line(value, VALUE) or "nothing" for value in values[:VALUES])
            more = f" and {len(values) - VALUES} more" if len(values) > VALUES else ""
            where = f"{one_line(_without(exception, shape), SHAPE)}  with  " if shape else ""
            yield f"       differs in {what}: {where}{shown}{more}"
        for node in group.nodeids[:NODES]:
            yield f"         {one_line(node)}"
        if len(group.nodeids) > NODES:
            yield f"         and {len(group.nodeids) - NODES} more"


def _without(exception: str, message: str) -> str:
    return message[len(exception) + 1 :].lstrip() if message.startswith(f"{exception}:") else message


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
