"""The end of a loop, for people and for scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_fireloop.observe.text import one_line, plural

if TYPE_CHECKING:
    from pytest_fireloop.observe.record import RunRecord

SHOWN = 10
PLACES = {"room": "in the room", "in_place": "in place"}


def counts_line(counts: Mapping[str, int]) -> str:
    """Return counts as `31 passed, 7 failed`, or `no tests`."""
    return ", ".join(f"{number} {outcome}" for outcome, number in counts.items() if number) or "no tests"


def record_line(record: RunRecord) -> str:
    """Return the counts of a run, with the first file that could not be collected and why."""
    errors = record.collection_errors
    if not errors:
        return counts_line(record.counts)
    first = one_line(f"{errors[0].path}: {errors[0].message or errors[0].exception}", 120)
    said = f"{plural(len(errors), 'file')} cannot be collected ({first})"
    return f"{counts_line(record.counts)}, {said}" if record.tests else said


def summary_lines(summary: Mapping[str, Any]) -> list[str]:
    """Return the summary as lines for people."""
    lines = [f"verdict: {summary['verdict']} (exit {summary['exit_code']})", f"reason: {summary['reason']}"]
    calls = summary["agent_calls"]
    lines.append(
        f"iterations: {summary['iterations']}, agent calls: {calls}, time: {summary['duration_s']:.1f} s, "
        f"files changed: {summary['files_changed']}"
    )
    if any(summary["baseline"].values()) or any(summary["final"].values()):
        lines.append(f"tests: {counts_line(summary['baseline'])} -> {counts_line(summary['final'])}")
    if summary.get("environments"):
        from pytest_fireloop.show.environments import environment_lines

        lines += [f"  {line}" for line in environment_lines(summary["environments"])]
    for name in ("fixed", "broken", "still_failing", "flaky"):
        nodes = summary[name]
        if nodes:
            lines.append(f"{name.replace('_', ' ')}: {len(nodes)}")
            lines += [f"  {node}" for node in nodes[:SHOWN]]
            lines += [f"  and {len(nodes) - SHOWN} more"] if len(nodes) > SHOWN else []
    integrity = summary["integrity"]
    if integrity["where"]:
        lines.append(f"integrity: {integrity['verdict']}, verified {PLACES[integrity['where']]}")
    for finding in integrity["findings"][:SHOWN]:
        place = f"{finding['path']}:{finding['line']}" if finding["line"] else finding["path"]
        lines.append(f"  {finding['severity']} {finding['kind']} {place}: {finding['detail']}")
    moves = summary.get("moves") or []
    if moves:
        lines.append(
            f"the agent moved in the repository: {len(moves)}; `fireloop restore --git 0` puts back what was at the start"
        )
        lines += [f"  iteration {move['iteration']}: {move['what']}" for move in moves[:SHOWN]]
        lines += [f"  and {len(moves) - SHOWN} more"] if len(moves) > SHOWN else []
    for each in (summary.get("protected") or [])[:SHOWN]:
        end = {None: "", True: "; restored", False: "; not restored"}[each["restored"]]
        lines.append(f"protected: {each['path']} was {each['what']} in iteration {each['iteration']}{end}")
    best = summary["best"]
    elsewhere = best["iteration"] < summary["iterations"] and not summary.get("at_best")
    if summary["verdict"] != "green" and summary["files_changed"] and elsewhere:
        lines.append(f"best state: iteration {best['iteration']}; `fireloop restore best` brings it back")
    if summary["loop_file"]:
        lines.append(f"loop file: {summary['loop_file']}")
    return lines
