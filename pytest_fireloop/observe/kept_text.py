"""A text of which, however long it is, little is kept."""

from __future__ import annotations

#: Characters that are kept of one text, half of them from its end, where a traceback says what went wrong.
TEXT = 80_000


class KeptText:
    """The beginning and the end of a text."""

    def __init__(self) -> None:
        """Begin empty."""
        self.head, self.tail = "", ""

    def add(self, data: str) -> None:
        """Take in what follows."""
        room = TEXT // 2 - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        if data:
            self.tail = (self.tail + data)[-TEXT // 2 :]

    def whole(self) -> str:
        """Return what is kept."""
        return self.head + self.tail
