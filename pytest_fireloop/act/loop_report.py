"""All that a person needs to decide on a loop: what was done to tests and product, and why green was not believed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.observe.record import GREEN
from pytest_fireloop.observe.test_files import is_configuration, predicate_of
from pytest_fireloop.remember.journal import LoopRow

SCHEMA = "fireloop.report/1"
#: How many files the proposed option names.
NAMED = 3


def report_of(row: LoopRow, rows: Sequence[Mapping[str, Any]], checkpoints: Checkpoints) -> dict[str, Any]:
    """Return all that the report shows, as `fireloop.report/1`."""
    summary = row.data.get("summary") or {}
    told = [each for each in rows if each.get("integrity")]
    compared = [(each["facts"]["iteration"], each["integrity"]) for each in told]
    rejected = _rejected([(each["facts"]["iteration"], each["integrity"]) for each in told if _was_green(each)])
    red = [
        each["facts"]["iteration"]
        for each in told
        if each["integrity"]["verdict"] == "rejected" and not _was_green(each)
    ]
    files = _files(rows, checkpoints)
    return {
        "schema": SCHEMA,
        "loop_id": row.loop_id,
        "verdict": row.verdict,
        "reason": summary.get("reason"),
        "task": row.data.get("task"),
        "agent": row.data.get("agent"),
        "iterations": max(0, len(rows) - 1),
        "baseline": _counts(rows[0]) if rows else {},
        "final": _counts(rows[-1]) if rows else {},
        "files": files,
        "compared": bool(compared),
        "findings": _findings(compared),
        "rejected": rejected,
        "red_with_blockers": red,
        "next": _next(row, files, rejected=bool(rejected or red), trees=[each["facts"].get("tree") for each in rows]),
    }


def _files(rows: Sequence[Mapping[str, Any]], checkpoints: Checkpoints) -> list[dict[str, Any]]:
    if not rows:
        return []
    facts = rows[0]["facts"]
    is_test = predicate_of(facts["outcomes"] or {}, facts.get("collection_errors") or ())
    found = []
    for change in checkpoints.changes(str(rows[0]["checkpoint"]), str(rows[-1]["checkpoint"])):
        kind = "configuration" if is_configuration(change.path) else "test" if is_test(change.path) else "product"
        found.append({"path": change.path, "kind": kind, "added": change.added, "removed": change.removed})
    return found


def _findings(compared: Sequence[tuple[int, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return each finding once, blockers first, with the iterations that it was seen in."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for number, said in compared:
        for each in said["findings"]:
            key = (each["severity"], each["kind"], each["path"], each["detail"])
            found.setdefault(key, {**each, "iterations": []})["iterations"].append(number)
    return sorted(
        found.values(), key=lambda each: (each["severity"], -each["iterations"][-1], each["path"], each["line"])
    )


def _was_green(row: Mapping[str, Any]) -> bool:
    """Whether the tests were green in place; an earlier version kept only where it had verified them."""
    return bool(row.get("green_in_place", row["integrity"]["where"] != ""))


def _rejected(compared: Sequence[tuple[int, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return why green runs were not believed, each reason once."""
    found: dict[tuple[str, str], list[int]] = {}
    for number, said in compared:
        if said["verdict"] == "rejected":
            found.setdefault((said["where"], said["reason"]), []).append(number)
    return [{"iterations": numbers, "where": where, "reason": reason} for (where, reason), numbers in found.items()]


def _counts(row: Mapping[str, Any]) -> dict[str, int]:
    outcomes = list((row["facts"].get("outcomes") or {}).values())
    return {name: outcomes.count(name) for name in dict.fromkeys([*sorted(GREEN), *sorted(outcomes)])}


def _next(
    row: LoopRow, files: Sequence[Mapping[str, Any]], *, rejected: bool, trees: Sequence[str | None]
) -> list[dict[str, str]]:
    """Name the ways out: look, allow, undo; `trees` are those of the iterations, the best of which may be the last."""
    found = [{"command": f"fireloop diff {row.loop_id}:", "what": "read all that changed"}] if files else []
    edited = [str(each["path"]) for each in files if each["kind"] != "product"]
    if rejected and edited:
        options = " ".join(f"--allow-test-edits={shlex.quote(path)}" for path in edited[:NAMED])
        more = f" (and {len(edited) - NAMED} more files)" if len(edited) > NAMED else ""
        what = f"run again with the changed tests in place of those of the start, where the change is right{more}"
        found.append({"command": f"fireloop-test PROMPT {options}", "what": what})
    if files and row.verdict != "green":
        best = ((row.data.get("summary") or {}).get("best") or {}).get("iteration")
        if best and best < len(trees) and (trees[best] is None or trees[best] != trees[-1]):
            what = f"bring the state with most passing tests back, that of iteration {best}"
            found.append({"command": f"fireloop restore {row.loop_id}:best", "what": what})
        found.append({"command": f"fireloop restore {row.loop_id}:0", "what": "bring the start back"})
    return found
