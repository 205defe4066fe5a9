"""One call of the agent, in a process of its own."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from pytest_fireloop.act.process import run_process
from pytest_fireloop.agents.agent import Agent, Call, Outcome, Reader

#: What is read of the file that an agent writes at its end.
RESULT_LIMIT = 20_000_000
#: What is kept of an agent's output on disk.
OUTPUT_LIMIT = 20_000_000
#: An agent writes for a program, not for a terminal.
PLAIN = {"TERM": "dumb", "NO_COLOR": "1"}
COLOURING = ("FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS")


def call_agent(agent: Agent, call: Call, output: Path) -> tuple[Outcome, str]:
    """Call the agent, keep its output in a file, and return its outcome with the last of what it said."""
    invocation = agent.invocation(call)
    reader = agent.reader()
    own = {name: value for name, value in call.environment.items() if name not in COLOURING}
    finished = run_process(
        invocation.argv,
        cwd=call.tree,
        environment={**own, **PLAIN, **invocation.environment},
        output=output,
        timeout_s=call.timeout_s,
        output_limit=OUTPUT_LIMIT,
        standard_input=invocation.standard_input,
        watch=reader,
    )
    if invocation.result_file is not None:
        _read_result(invocation.result_file, reader)
    outcome = reader.outcome(finished, time.time())
    return outcome, outcome.final_text


def _read_result(path: Path, reader: Reader) -> None:
    with contextlib.suppress(OSError), path.open("rb") as file:
        text = file.read(RESULT_LIMIT + 1)
        if len(text) <= RESULT_LIMIT:
            reader.line(text.decode("utf-8", "replace"), error=False)
