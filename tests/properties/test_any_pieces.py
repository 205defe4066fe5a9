"""How an agent's output comes in pieces changes nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fireloop.act.output import Lines


def cut(*pieces: bytes) -> list[bytes]:
    found: list[bytes] = []
    lines = Lines(found.append)
    for piece in pieces:
        lines.feed(piece)
    lines.close()
    return found


@given(st.lists(st.text("a\r\n", max_size=6)))
def test_how_the_bytes_come_changes_nothing(pieces: list[str]) -> None:
    content = "".join(pieces).encode()
    assert cut(*(piece.encode() for piece in pieces)) == cut(content)
