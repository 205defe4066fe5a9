"""Reads the reports of a matrix and decides on them, by themselves or against the history that a folder holds."""

from __future__ import annotations

import glob
import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_fireloop.judge.matrix import (
    EnvironmentDecision,
    History,
    MatrixDecision,
    decide_environment,
    decide_matrix,
    missing,
    undecided,
)
from pytest_fireloop.observe.environments import named, of_run
from pytest_fireloop.observe.junit import JunitReport, SuiteRun, joined, read_report
from pytest_fireloop.observe.record import RecordError


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be decided: `reports` are paths and patterns, with `ENV=` before them where the name says another.

    `source` is where a report names its environment; with `last` the last result of a test counts that is there several
    times, else the worst; without a `folder` there is no history. With None expected, those are that were red before.
    """

    reports: Sequence[str]
    expected: Sequence[str] | None
    source: str
    last: bool
    subtests: bool
    folder: Path | None
    revision: str
    profile: str


def decide_reports(asked: Asked) -> MatrixDecision:
    """Return the decision; raises RecordError for a report that is missing or cannot be read."""
    given = _paths(asked.reports)
    reports = [read_report(path, last=asked.last) for path in given]
    environments = _environments(asked, reports, given)
    names = [each.name for each in environments]
    absent = [missing(name, names) for name in asked.expected or () if name not in names]
    if asked.folder is None:
        return decide_matrix([*environments, *absent])
    # imported where there is a history: most decisions have none
    from pytest_fireloop.act.lock import in_line
    from pytest_fireloop.act.matrix_history import MatrixHistory
    from pytest_fireloop.remember.journal_error import JournalDamagedError
    from pytest_fireloop.remember.paths import make_private

    with ExitStack() as stack:
        try:
            make_private(asked.folder)
            stack.enter_context(in_line(asked.folder))
        except OSError as error:
            raise RecordError(f"cannot use the folder {str(asked.folder)!r}: {error.strerror or error}") from error
        try:
            past = stack.enter_context(closing(MatrixHistory(asked.folder, asked.profile)))
            left_out = tuple(name for name in past.red if name not in names)
            if asked.expected is None:
                # without a list of its own, what was red before may not just stay away
                absent, left_out = [missing(name, names, str(asked.folder)) for name in left_out], ()
            environments = past.compared(environments)
            told = History()
            doubtful = any(each.verdict == "false_green" for each in environments)
            if not absent and not doubtful:
                digest = hashlib.blake2b("".join(sorted(each.digest for each in reports)).encode(), digest_size=16)
                environments, told = past.judge(
                    environments, digest=digest.hexdigest(), revision=asked.revision, at=time.time()
                )
        except JournalDamagedError as error:
            return undecided([*environments, *absent], str(error))
    left_out = tuple(name for name in left_out if name not in {each.name for each in absent})
    return decide_matrix([*environments, *absent], replace(told, left_out=left_out))


def _paths(words: Sequence[str]) -> dict[Path, str]:
    """Return each report once with the name given to it; a pattern that no shell filled in is filled in here."""
    paths: dict[Path, str] = {}
    for word in words:
        name, pattern = _given(word)
        found = [pattern] if os.path.lexists(pattern) or not glob.has_magic(pattern) else sorted(glob.glob(pattern))
        if not found:
            raise RecordError(f"no report matches {pattern!r}")
        paths |= {Path(path): named(name) for path in found}
    return paths


def _given(word: str) -> tuple[str, str]:
    """Return the name before a report, empty where it has none, and its path or pattern; a file of the whole name wins."""
    name, sign, pattern = word.partition("=")
    if not sign or os.path.lexists(word) or ("/" in name and (glob.glob(word) or not _is_there(pattern))):
        return "", word
    if not named(name):
        raise RecordError(f"{word!r} names no environment; write ENV=REPORT.xml")
    return name, pattern


def _is_there(pattern: str) -> bool:
    return os.path.lexists(pattern) or bool(glob.glob(pattern))


def _environments(asked: Asked, reports: Sequence[JunitReport], given: Mapping[Path, str]) -> list[EnvironmentDecision]:
    """Put together what all reports show of each environment, in the order in which they name it."""
    parts: dict[str, list[SuiteRun]] = {}
    files: dict[str, set[Path]] = {}
    for report in reports:
        for run in report.runs or (SuiteRun(),):
            name = given[report.path] or of_run(report, run, asked.source)
            parts.setdefault(name, []).append(run)
            files.setdefault(name, set()).add(report.path)
    found = []
    for name, runs in parts.items():
        whole = joined(runs, last=asked.last)
        if asked.subtests:
            whole.doubts = [doubt for doubt in whole.doubts if doubt.about != "tests"]
        each = decide_environment(whole.record(name, name), len(files[name]))
        notes = []
        if len(files[name]) > 1:
            notes.append(f"in {len(files[name])} reports together")
        if whole.repeated:
            counts = "last" if asked.last else "worst"
            notes.append(f"{len(whole.repeated)} more than once, of which the {counts} result counts")
        if each.verdict == "false_green" and any(
            doubt.suite.name == "pytest" and doubt.about == "tests" for doubt in whole.doubts
        ):
            notes.append("pytest counts passed subtests too: --subtests, if the tests have some")
        found.append(replace(each, reason="; ".join((each.reason, *notes))))
    return found
