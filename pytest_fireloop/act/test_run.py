"""One run of the project's tests, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fireloop.observe.record import RunRecord


@dataclass(frozen=True, slots=True)
class TestCommand:
    """How the project's tests are run."""

    __test__ = False

    python: Path
    tree: Path
    args: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 1800.0
    mapped_from: Path | None = None


@dataclass(frozen=True, slots=True)
class TestRun:
    """What came of one run; `problem` says why it could not start or did not end by itself."""

    __test__ = False

    record: RunRecord
    output: Path
    exit_code: int | None
    timed_out: bool = False
    problem: str | None = None


def run_tests(command: TestCommand, *, work: Path, select: Sequence[str] = (), extra: Sequence[str] = ()) -> TestRun:
    """Run pytest in a subprocess; `work` is a fresh folder for the record and the output."""
    raise NotImplementedError
