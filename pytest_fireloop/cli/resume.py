"""`fireloop resume`: go on with a loop that was cut off, stopped, tripped or ended at a limit."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from pytest_fireloop.cli.arguments import amount, count, duration, usage_error
from pytest_fireloop.cli.fireloop_test import build_parser, run_loop
from pytest_fireloop.cli.tree import NoLoopError, TreeState, last_loop, parser
from pytest_fireloop.judge.verdict import GOES_ON
from pytest_fireloop.remember.journal import RUNNER, Journal, LoopRow

PROGRAM = "fireloop resume"


def main(argv: Sequence[str]) -> int:
    """Go on, and return the loop's exit code; 4 where there is nothing to go on with."""
    made = parser(
        "resume", "Go on with a loop that was cut off, stopped, tripped or ended at a limit.", "fireloop resume"
    )
    made.add_argument("loop", nargs="?", metavar="ID", help="default: the last loop of the runner")
    made.add_argument("--max-iterations", type=count, metavar="N", help="from now on; default: as the loop was started")
    made.add_argument("--max-time", type=duration, metavar="TIME", help="from now on; default: as the loop was started")
    made.add_argument(
        "--max-cost", type=amount, metavar="USD", help="of the whole loop; default: as the loop was started"
    )
    made.add_argument(
        "--agent", metavar="NAME|COMMAND", help="another agent from now on, without the arguments of the first"
    )
    made.add_argument("--model", metavar="NAME", help="the model that the agent should use from now on")
    made.add_argument("--wait", action="store_true", help="stay and probe after the cooldown instead of exit 10")
    made.add_argument("--json", action="store_true", help="one JSON summary on standard output")
    made.add_argument("--quiet", action="store_true", help="the summary alone")
    options = made.parse_args(argv)
    state = TreeState(options.fire_loop_dir)
    journal = state.journal()
    try:
        row = _wanted(journal, options.loop)
    finally:
        journal.close()
    stored = row.data.get("options")
    if not isinstance(stored, dict):
        return usage_error(PROGRAM, f"loop {row.loop_id} is of a version that did not keep how it was started")
    # an option that is newer than the loop has its default
    again = Namespace(**{**vars(build_parser().parse_args(["-"])), **stored})
    again.fire_loop_dir, again.json, again.quiet = options.fire_loop_dir, options.json, options.quiet
    again.wait = again.wait or options.wait
    again.max_iterations = options.max_iterations or again.max_iterations
    again.max_time = options.max_time or again.max_time
    again.max_cost = options.max_cost or again.max_cost
    if options.agent is not None:
        again.agent, again.agent_arg, again.model = options.agent, [], None
    again.model = options.model or again.model
    return run_loop(again, tuple(row.data.get("pytest_args") or ()), resumes=row.loop_id)


def _wanted(journal: Journal, loop_id: str | None) -> LoopRow:
    loops = journal.loops(RUNNER)
    row = (
        last_loop(journal, loops)
        if loop_id is None
        else next((each for each in loops if each.loop_id == loop_id), None)
    )
    if row is None:
        raise NoLoopError(
            "no loop of fireloop-test was recorded here; `fireloop-test PROMPT` begins one"
            if loop_id is None
            else f"no loop {loop_id!r} of fireloop-test here; `fireloop history` lists all"
        )
    if row.verdict not in GOES_ON:
        raise NoLoopError(f"loop {row.loop_id} ended {row.verdict}; there is nothing to go on with")
    return row
