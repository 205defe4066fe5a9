"""`fireloop decide`: one decision from the reports of a matrix."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pytest_fireloop.cli.arguments import Parser, usage_error
from pytest_fireloop.judge.matrix import WORDS, decide_matrix
from pytest_fireloop.observe.junit import read_junit
from pytest_fireloop.observe.record import RecordError
from pytest_fireloop.observe.text import one_line

PROGRAM = "fireloop decide"


def main(argv: Sequence[str]) -> int:
    """Print the decision; 0 only if every environment is green, 4 for a report that cannot be read."""
    made = Parser(prog=PROGRAM, description="Make one decision from JUnit reports.", allow_abbrev=False)
    made.epilog = "example: fireloop decide .tox/junit.*.xml"
    made.add_argument("reports", nargs="+", metavar="REPORT.xml", help="one report an environment")
    made.add_argument("--json", action="store_true", help="one JSON object")
    options = made.parse_args(argv)
    try:
        decision = decide_matrix([read_junit(Path(path)) for path in options.reports])
    except RecordError as error:
        return usage_error(PROGRAM, str(error))
    if options.json:
        print(json.dumps({"schema": "fireloop.decision/1", **decision.to_json()}))
        return decision.exit_code
    for name, verdict, reason in decision.environments:
        print(f"{one_line(name, 40):<40}  {WORDS[verdict]:<10}  {one_line(reason)}")
    print(f"decision: {WORDS[decision.verdict]} (exit {decision.exit_code})")
    return decision.exit_code
