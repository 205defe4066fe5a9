"""Tests that must fail: a run that does not show them as failed shows nothing."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_fireloop.observe.record import RED, RunRecord

SOURCE = """import unittest


class Test{name}(unittest.TestCase):
    def test_{name}_compares(self):
        self.assertEqual([1, 2], [2, 1])

    def test_{name}_asserts(self):
        value = 1
        assert value == 2

    def test_{name}_raises(self):
        raise ValueError("{name}")
"""
STATUSES = (1, 2)


@dataclass(frozen=True, slots=True)
class Canary:
    """A test file of a name that nobody can know beforehand."""

    path: Path

    def fault(self, record: RunRecord) -> str | None:
        """Say what is wrong with a run that held this file."""
        ours = {node: said for node, said in record.outcomes.items() if self.path.name in node}
        hidden = [node for node, said in ours.items() if said not in RED]
        if hidden or not ours:
            return f"a test that must fail is reported as {ours[hidden[0]] if hidden else 'absent'}"
        if record.exit_code not in STATUSES:
            return f"with tests that must fail, the exit code is {record.exit_code}"
        return None


@contextmanager
def canary(folder: Path) -> Iterator[Canary]:
    """Put the file into a folder for the time of a run."""
    name = f"x{secrets.token_hex(6)}"
    path = folder / f"test_{name}.py"
    path.write_text(SOURCE.format(name=name), encoding="utf-8")
    try:
        yield Canary(path)
    finally:
        path.unlink(missing_ok=True)
