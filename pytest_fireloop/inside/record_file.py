"""The record on disk: one JSON object that can be read at any moment, however the process ends."""

from __future__ import annotations

import json
import os
from typing import Any

SCHEMA = "fireloop.run/1"


class RecordFile:
    """Grows in place with one write a test, each of which leaves whole JSON; the end replaces the file."""

    def __init__(self, path: str, header: dict[str, Any]) -> None:
        self.path = os.path.abspath(path)
        self._header = header
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        temporary = f"{self.path}.{os.getpid()}.tmp"
        start = json.dumps({**header, "tests": []})[:-2]
        self._descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
        self._end = len(start)
        self._length = 0
        self._first = True
        os.write(self._descriptor, start.encode("ascii"))
        self.grow([], None, 0)
        os.replace(temporary, self.path)

    def grow(self, tests: list[dict[str, Any]], in_flight: str | None, collected: int) -> None:
        """Add finished tests and name the one in flight, in one write."""
        body = "".join(("" if self._first and not i else ",") + json.dumps(test) for i, test in enumerate(tests))
        self._first = self._first and not tests
        tail = json.dumps(
            {
                "exit_code": None,
                "complete": False,
                "incomplete_reason": "the run did not end by itself",
                "collected": collected,
                "counts": {},
                "in_flight": in_flight,
                "not_run": [],
                "collection_errors": [],
                "failures": [],
            }
        )
        text = f"{body}],{tail[1:]}"
        text += " " * max(0, self._length - self._end - len(text))
        os.pwrite(self._descriptor, text.encode("ascii"), self._end)
        self._length = self._end + len(text)
        self._end += len(body)

    def finish(self, record: dict[str, Any]) -> None:
        """Replace the growing file by the finished record."""
        os.close(self._descriptor)
        write_atomically(self.path, record)


def write_atomically(path: str, record: dict[str, Any]) -> None:
    """Write one JSON object, utf-8, so that a reader sees the old file or the new one."""
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="ascii") as file:
        json.dump(record, file)
        file.write("\n")
    os.replace(temporary, path)
