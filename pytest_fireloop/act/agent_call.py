"""One call of the agent, in a process of its own."""

from __future__ import annotations

from pathlib import Path

from pytest_fireloop.act.process import run_process
from pytest_fireloop.agents.agent import Agent, Call, Outcome

#: What of an agent's output is read back into memory.
READ_LIMIT = 2_000_000


def call_agent(agent: Agent, call: Call, output: Path) -> tuple[Outcome, str]:
    """Call the agent, keep its output in a file, and return its outcome with the last of its text."""
    invocation = agent.invocation(call)
    finished = run_process(
        invocation.argv,
        cwd=call.tree,
        environment={**call.environment, **invocation.environment},
        output=output,
        timeout_s=call.timeout_s,
        standard_input=invocation.standard_input,
    )
    text = _tail(output)
    return agent.outcome(finished, text), text


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - READ_LIMIT))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
