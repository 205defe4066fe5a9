"""The run record: what one run of pytest showed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_fireloop.observe.text import reason_of

SCHEMA = "fireloop.run/1"
OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
RED = frozenset({"failed", "error"})
GREEN = frozenset({"passed", "xpassed"})


class RecordError(ValueError):
    """A run record is missing, damaged, or of a schema that this version does not know."""


class TestResult(NamedTuple):
    """The last word on one test: the worst of all its reports. A tuple, for a run may hold a hundred thousand."""

    nodeid: str
    outcome: str
    duration_s: float = 0.0
    signature: str | None = None
    cause: str | None = None
    reruns: int = 0


TestResult.__test__ = False  # type: ignore[attr-defined]  # no test class, whatever its name says


@dataclass(frozen=True, slots=True)
class CollectionError:
    """A file or package that could not be collected."""

    path: str
    signature: str
    message: str
    cause: str = ""
    exception: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """All failures of a run that share one signature, with one representative's text."""

    signature: str
    cause: str
    nodeids: tuple[str, ...]
    exception: str
    message: str
    location: str
    statement: str = ""
    frames: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of pytest as plain data; `exit_code` is None when the process died."""

    run_id: str
    started: str = ""
    duration_s: float = 0.0
    exit_code: int | None = None
    rootdir: str = ""
    python: str = ""
    pytest: str = ""
    environment: str = ""
    scope: str = ""
    complete: bool = False
    incomplete_reason: str | None = None
    partial: bool = False
    collected: int = 0
    in_flight: str | None = None
    not_run: tuple[str, ...] = ()
    tests: tuple[TestResult, ...] = ()
    collection_errors: tuple[CollectionError, ...] = ()
    failures: tuple[Failure, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def outcomes(self) -> dict[str, str]:
        """Outcome by node id."""
        return {test.nodeid: test.outcome for test in self.tests}

    @property
    def counts(self) -> dict[str, int]:
        """Number of tests by outcome, all six outcomes always present."""
        found = Counter(test.outcome for test in self.tests)
        return {outcome: found[outcome] for outcome in OUTCOMES}

    @property
    def red(self) -> frozenset[str]:
        """Node ids of the tests that failed or broke in a fixture."""
        return frozenset(test.nodeid for test in self.tests if test.outcome in RED)

    @property
    def sound(self) -> bool:
        """Whether all that was asked for ran and passed: complete, exit code 0, at least one test passed, none red."""
        return (
            self.exit_code == 0
            and self.complete
            and not self.red
            and not self.collection_errors
            and any(test.outcome in GREEN for test in self.tests)
        )

    def sound_but(self, flaky: Collection[str]) -> bool:
        """Whether the run is sound, known flaky tests left out of account."""
        if not self.red & set(flaky):
            return self.sound
        tests = tuple(test for test in self.tests if test.nodeid not in flaky or test.outcome not in RED)
        exit_code = 0 if self.exit_code == 1 and not self.red - set(flaky) else self.exit_code
        return replace(self, tests=tests, exit_code=exit_code).sound

    @property
    def green(self) -> bool:
        """Whether this run alone shows a suite that passes: sound, and not narrowed."""
        return self.sound and not self.partial

    def bare(self) -> RunRecord:
        """Return the record without what only a verification reads."""
        return replace(self, extra={key: self.extra[key] for key in self.extra if key not in FOR_THE_ROOM})

    def to_json(self) -> dict[str, Any]:
        """Return the record as `fireloop.run/1`."""
        return {
            "schema": SCHEMA,
            "run_id": self.run_id,
            "started": self.started,
            "duration_s": self.duration_s,
            "exit_code": self.exit_code,
            "rootdir": self.rootdir,
            "python": self.python,
            "pytest": self.pytest,
            "environment": self.environment,
            "scope": self.scope,
            "complete": self.complete,
            "incomplete_reason": self.incomplete_reason,
            "partial": self.partial,
            "collected": self.collected,
            "counts": self.counts,
            "in_flight": self.in_flight,
            "not_run": list(self.not_run),
            "tests": [
                {
                    "nodeid": test.nodeid,
                    "outcome": test.outcome,
                    "duration_s": test.duration_s,
                    "signature": test.signature,
                    "cause": test.cause,
                    "reruns": test.reruns,
                }
                for test in self.tests
            ],
            "collection_errors": [
                {
                    "path": error.path,
                    "signature": error.signature,
                    "message": error.message,
                    "cause": error.cause,
                    "exception": error.exception,
                }
                for error in self.collection_errors
            ],
            "failures": [
                {
                    "signature": failure.signature,
                    "cause": failure.cause,
                    "nodeids": list(failure.nodeids),
                    "exception": failure.exception,
                    "message": failure.message,
                    "location": failure.location,
                    "statement": failure.statement,
                    "frames": list(failure.frames),
                }
                for failure in self.failures
            ],
            **self.extra,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunRecord:
        """Read a `fireloop.run/1` object; raises RecordError for anything else."""
        if data.get("schema") != SCHEMA:
            raise RecordError(f"not a {SCHEMA} record: schema is {data.get('schema')!r}")
        try:
            return cls(
                run_id=str(data["run_id"]),
                started=data["started"],
                duration_s=float(data["duration_s"]),
                exit_code=data["exit_code"],
                rootdir=data["rootdir"],
                python=data["python"],
                pytest=data["pytest"],
                environment=data["environment"],
                scope=data["scope"],
                complete=bool(data["complete"]),
                incomplete_reason=data["incomplete_reason"],
                partial=bool(data["partial"]),
                collected=int(data["collected"]),
                in_flight=data["in_flight"],
                not_run=tuple(data["not_run"]),
                tests=tuple(
                    TestResult(
                        row["nodeid"],
                        row["outcome"],
                        row["duration_s"],
                        row["signature"],
                        row["cause"],
                        row["reruns"],
                    )
                    for row in data["tests"]
                ),
                collection_errors=tuple(
                    CollectionError(
                        row["path"], row["signature"], row["message"], row.get("cause", ""), row.get("exception", "")
                    )
                    for row in data["collection_errors"]
                ),
                failures=tuple(
                    Failure(
                        row["signature"],
                        row["cause"],
                        tuple(row["nodeids"]),
                        row["exception"],
                        row["message"],
                        row["location"],
                        row.get("statement", ""),
                        tuple(row.get("frames", ())),
                    )
                    for row in data["failures"]
                ),
                extra={key: data[key] for key in EXTRA if key in data},
            )
        except (KeyError, TypeError, ValueError) as error:
            raise RecordError(f"damaged {SCHEMA} record: {type(error).__name__}: {error}") from error


#: What only a verification reads, and nobody keeps.
FOR_THE_ROOM = ("modules_inside", "import_path", "foundation", "said")
#: What is added to a record when a previous run is known, and when it is judged.
EXTRA = (
    *("environments", "narrowed_by", "signature_version", "coverage", "delta", "changes", "changes_since_start"),
    "modules_outside",
    *FOR_THE_ROOM,
    *("score", "window_score", "health", "level", "circuit"),
)


def read_record(path: Path) -> RunRecord:
    """Read a record from disk; raises RecordError when it is missing or damaged."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecordError(f"cannot read run record {str(path)!r}: {reason_of(error)}") from error
    if not isinstance(data, dict):
        raise RecordError(f"cannot read run record {str(path)!r}: it holds no object")
    try:
        return RunRecord.from_json(data)
    except RecordError as error:
        raise RecordError(f"cannot read run record {str(path)!r}: {error}") from error
