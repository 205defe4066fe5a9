"""`fireloop log`: what one iteration saw."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fireloop.cli.tree import TreeState, parser
from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.observe.text import clean, one_line
from pytest_fireloop.show.evidence import sentence
from pytest_fireloop.show.health import health_and_level
from pytest_fireloop.show.status import status_lines


def main(argv: Sequence[str]) -> int:
    """Print prompt, agent, decision of one iteration and return 0."""
    made = parser("log", "Show what one iteration saw.", "fireloop log 20260301-120000-ab12:3")
    made.add_argument(
        "target", nargs="?", metavar="[ID:]ITERATION", help="default: the last iteration of the last loop"
    )
    made.add_argument("--json", action="store_true", help="the stored iteration as JSON")
    options = made.parse_args(argv)
    state = TreeState(options.fire_loop_dir)
    journal = state.journal(to_read=True)
    row, number, _ = state.iteration(journal, options.target)
    data = next(each for each in journal.iterations(row.loop_id) if each["facts"]["iteration"] == number)
    if options.json:
        sys.stdout.write(json.dumps({"schema": "fireloop.iteration/1", **data}) + "\n")
        return 0
    print(f"loop {row.loop_id}, iteration {number}, checkpoint {data['checkpoint']}")
    if data.get("agent"):
        print(f"agent: {data['agent']['status']} {clean(data['agent']['detail'], 400)}")
    if data.get("decision"):
        decision = data["decision"]
        print("\n".join(status_lines(data["facts"], decision)))
        print(f"judged: {health_and_level(decision)}, events {_events(decision)}")
        for evidence in decision.get("evidence") or ():
            print(f"evidence: {one_line(sentence(Evidence.from_json(evidence)))}")
    if data.get("verification"):
        print(f"verification: {clean(data['verification'], 400)}")
    output = state.folder / "loops" / row.loop_id / f"agent-{number}.txt"
    if output.exists():
        print(f"--- agent's output ({output}) ---")
        print(clean(output.read_text(encoding="utf-8", errors="replace")[-20_000:], 20_000))
    if data.get("prompt"):
        print("--- prompt ---")
        print(clean(data["prompt"], 40_000))
    return 0


def _events(decision: Mapping[str, Any]) -> str:
    return ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in decision["events"].items()) or "none"
