"""`fireloop status`: this tree's last loop and its circuit."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

from pytest_fireloop.act.lock import is_held
from pytest_fireloop.cli.tree import TreeState, parser
from pytest_fireloop.judge.circuit import CLOSED, Circuit
from pytest_fireloop.remember.journal import RUNNER, LoopRow
from pytest_fireloop.show.health import health_and_level
from pytest_fireloop.show.status import status_lines, verdict_word


def main(argv: Sequence[str]) -> int:
    """Print the state and return 0."""
    made = parser("status", "Show this tree's last loop and the state of its circuit.", "fireloop status --json")
    made.add_argument("--json", action="store_true", help="one JSON object")
    options = made.parse_args(argv)
    state = TreeState(options.fire_loop_dir)
    journal = state.journal(to_read=True)
    row = state.loop(journal, None)
    rows = journal.iterations(row.loop_id)
    decision = (rows[-1].get("decision") if rows else None) or {}
    was_reset, closed = journal.was_reset(row), Circuit().to_json()
    if was_reset and decision:
        # what it came to is over, and the next iteration is judged without it
        decision = {**decision, "circuit": closed, "level": "healthy", "risk": None}
    circuit = decision.get("circuit") or closed
    data = {
        "schema": "fireloop.status/1",
        "loop_id": row.loop_id,
        "kind": row.kind,
        "verdict": row.verdict or without_verdict(row, state),
        "iterations": max(0, len(rows) - 1),
        "circuit": circuit,
        "health": decision.get("health"),
        "level": decision.get("level"),
        "risk": decision.get("risk"),
        "metrics": decision.get("metrics") or [],
        "difficulty": decision.get("difficulty"),
        "parallelism": decision.get("parallelism"),
        "state_folder": str(state.folder),
    }
    if options.json:
        sys.stdout.write(json.dumps(data) + "\n")
        return 0
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.started))
    sys.stdout.write(f"loop {row.loop_id} ({row.kind}), begun {started}: {verdict_word(data['verdict'])}\n")
    said = f", {health_and_level(decision)}" if decision else ""
    sys.stdout.write(f"iterations: {data['iterations']}{said}\n")
    if decision:
        sys.stdout.write("\n".join(status_lines(rows[-1]["facts"], decision)) + "\n")
    retry = circuit.get("retry_at")
    when = time.strftime(", a probe is allowed from %Y-%m-%d %H:%M:%S", time.localtime(retry)) if retry else ""
    if circuit["state"] != CLOSED:
        sys.stdout.write(f"circuit: {circuit['state']} {circuit.get('reason') or ''}{when}\n")
    elif was_reset:
        sys.stdout.write("circuit: CLOSED by `fireloop reset`\n")
    sys.stdout.write(f"state: {state.folder}\n")
    return 0


def without_verdict(row: LoopRow, state: TreeState) -> str:
    """Name what a loop without an end is: one that goes on with the next run, one that works, one that was killed."""
    if row.kind != RUNNER:
        return "open"
    return "running" if is_held(state.folder) else "cut off"
