"""The eight fields of an iteration's status, as phase 6 of the circuit-breaker skill lists them, and its alerts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from pytest_fireloop.judge.facts import RED
from pytest_fireloop.observe.text import one_line

SHOWN = 3
#: What an alert means, by metric.
ALERTS = {
    "loop_count": "more than 20 iterations",
    "tasks_completed": "no task completed in 3 iterations",
    "files_modified": "no file modified in 3 iterations",
    "test_pass_rate": "the share of passing tests fell 3 times in a row",
    "error_frequency": "the failures grew 3 times in a row",
    "output_volume": "the agent's output fell by 70 % or more",
    "calls_remaining": "less than 20 % of the agent's calls are left",
    "progress_score": "3 negative scores in a row",
}


def verdict_word(verdict: object) -> str:
    """Return a loop's verdict for people, to whom `open` reads like a circuit."""
    return "unfinished" if verdict == "open" else str(verdict)


def status_fields(facts: Mapping[str, Any], decision: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return name and text of circuit, tasks, files, tests, errors, score, calls and risk, from what is stored."""
    outcomes = facts.get("outcomes") or {}
    counts = {name: list(outcomes.values()).count(name) for name in ("passed", "xpassed", "failed", "error", "skipped")}
    circuit, risk = decision.get("circuit") or {}, decision.get("risk") or {}
    tasks = facts.get("tasks") or {}
    red = [node for node, said in outcomes.items() if said in RED] + list(facts.get("collection_errors") or ())
    left = next((row["value"] for row in decision.get("metrics") or () if row["name"] == "calls_remaining"), None)
    reason = f" ({circuit['reason']})" if circuit.get("reason") else ""
    nearest = f" ({risk['rule']}: {risk['share']:.0%} of the way)" if risk.get("rule") else ""
    return (
        ("circuit", f"{circuit.get('state') or 'CLOSED'}{reason}"),
        ("tasks", f"{tasks['done']} of {tasks.get('total', '?')} done" if "done" in tasks else "not tracked"),
        ("files", _few(sorted(facts.get("changed") or ())) or "none changed"),
        (
            "tests",
            f"{counts['passed'] + counts['xpassed']} passed, {counts['failed'] + counts['error']} failed, "
            f"{counts['skipped']} skipped"
            if facts.get("outcomes") is not None
            else "could not run",
        ),
        ("errors", _few(red) or "none"),
        ("score", f"{decision.get('score') or 0:+d}"),
        ("calls left", "no limit" if left is None else f"{left:.0%}"),
        ("risk", f"{risk.get('level') or 'LOW'}{nearest}"),
    )


def status_lines(facts: Mapping[str, Any], decision: Mapping[str, Any]) -> list[str]:
    """Return a head with number and time, the eight fields, how the task looks, and a line for each alert."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(facts.get("at") or 0)))
    lines = [f"iteration {facts.get('iteration')} at {when}"]
    lines += [f"  {name:<12}{one_line(text, 160)}" for name, text in status_fields(facts, decision)]
    if decision.get("difficulty"):
        lines.append(f"  {'task':<12}{decision['difficulty']}, {decision['parallelism']}")
    return [*lines, *(f"  alert: {alert}" for alert in alerts(decision))]


def alerts(decision: Mapping[str, Any]) -> list[str]:
    """Return what is said of each metric that alerts."""
    return [ALERTS[row["name"]] for row in decision.get("metrics") or () if row.get("alert") and row["name"] in ALERTS]


def _few(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(one_line(name, 60) for name in names[:SHOWN]) + more
