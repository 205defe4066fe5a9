"""`fireloop history`: this tree's loops."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

from pytest_fireloop.cli.status import without_verdict
from pytest_fireloop.cli.tree import TreeState, parser
from pytest_fireloop.observe.text import one_line
from pytest_fireloop.show.status import verdict_word


def main(argv: Sequence[str]) -> int:
    """Print the loops, newest first, and return 0."""
    made = parser("history", "List this tree's loops, newest first.", "fireloop history --json")
    made.add_argument("--json", action="store_true", help="one JSON object")
    options = made.parse_args(argv)
    state = TreeState(options.fire_loop_dir)
    journal = state.journal(to_read=True)
    loops = [
        {
            "loop_id": row.loop_id,
            "kind": row.kind,
            "started": row.started,
            "verdict": row.verdict or without_verdict(row, state),
            "iterations": max(0, journal.count_iterations(row.loop_id) - 1),
            "task": row.data.get("task"),
        }
        for row in journal.loops()
    ]
    if options.json:
        sys.stdout.write(json.dumps({"schema": "fireloop.history/1", "loops": loops}) + "\n")
        return 0
    if not loops:
        print("no loop was recorded here; `fireloop-test PROMPT` or `pytest --fire-loop` begins one")
    width = max((len(verdict_word(loop["verdict"])) for loop in loops), default=0)
    for loop in loops:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(float(str(loop["started"]))))
        task = one_line(str(loop["task"] or ""), 60)
        said = verdict_word(loop["verdict"])
        print(f"{loop['loop_id']}  {when}  {loop['kind']:<6}  {said:<{width}}  {loop['iterations']:>3}  {task}")
    return 0
