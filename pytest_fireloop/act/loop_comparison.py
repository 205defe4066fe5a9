"""Compares a run of `pytest --fire-loop` with the first one of its loop, where no clean room is there to decide."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.ignored_files import byte_code_since
from pytest_fireloop.act.open_loop import OpenLoop
from pytest_fireloop.observe.identity import stable_ids
from pytest_fireloop.observe.integrity.compare import compare
from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.runs import left_out
from pytest_fireloop.observe.integrity.shadowing import own_modules
from pytest_fireloop.observe.record import GREEN, RunRecord
from pytest_fireloop.observe.test_files import is_configuration, predicate_of

#: How many unchanged test files are read for the values that they use.
TESTS_LIMIT = 300


def compare_with_start(
    checkpoints: Checkpoints, current: OpenLoop, record: RunRecord, commit: str, paths: Sequence[str], *, forbid: bool
) -> tuple[Finding, ...]:
    """Find what was done to tests, configuration and product since the loop began, by the `paths` that changed.

    `forbid` finds each edit of a test.
    """
    first = current.rows[0]["facts"]
    planted = tuple(byte_code_since(checkpoints.tree, float(first["at"])))
    if not paths:
        return planted
    old, new = checkpoints.files(current.start), checkpoints.files(commit)
    # what was a test at the start stays one, whatever is collected now
    nodes = {**dict.fromkeys(first["outcomes"] or {}), **dict.fromkeys(record.outcomes)}
    broken = [*(first.get("collection_errors") or ()), *(error.path for error in record.collection_errors)]
    is_test = predicate_of(nodes, broken)
    before = checkpoints.read_all(current.start, paths)
    after = checkpoints.read_all(commit, paths)
    tests = [path for path in old if path.endswith(".py") and is_test(path) and path in new and path not in after]
    of_product = any(path.endswith(".py") and not is_test(path) for path in paths)
    found = compare(
        before,
        after,
        is_test=is_test,
        is_configuration=is_configuration,
        passed=[node for node, said in record.outcomes.items() if said in GREEN],
        tests=checkpoints.read_all(current.start, tests[:TESTS_LIMIT]) if of_product else {},
        installed=_installed() - own_modules(old),
        held=old,
    )
    edited = [path for path in paths if forbid and path in old and is_test(path)]
    forbidden = [Finding.of("edit_forbidden", path, 0, "tests may not be edited") for path in edited]
    return (*found, *_left_out(current, record, after, found), *planted, *forbidden)


def _left_out(
    current: OpenLoop, record: RunRecord, after: dict[str, bytes], found: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    """Find tests that the first run decided and this one, of the same scope, leaves out."""
    if record.scope != current.scope or record.partial or not record.complete:
        return ()
    stable = stable_ids(record.outcomes)
    now = {stable[node]: said for node, said in record.outcomes.items()}
    python = {path: after[path] for path in after if path.endswith(".py")}
    return left_out(current.rows[0]["facts"]["outcomes"] or {}, now, python, found)


def _installed() -> frozenset[str]:
    """Return the names of the modules in this environment, which is the one that the tests run in."""
    folders = {entry for entry in sys.path if Path(entry).name in {"site-packages", "dist-packages"}}
    return frozenset(
        name.partition(".")[0] for folder in folders if os.path.isdir(folder) for name in os.listdir(folder)
    )
