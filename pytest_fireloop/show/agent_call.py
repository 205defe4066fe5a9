"""The command by which an agent is called, on one line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from pytest_fireloop.agents.agent import Agent, Call


def command_line(agent: Agent, extra: Sequence[str] = (), model: str | None = None) -> str:
    """Show the command of a call; what differs from call to call is in capitals."""
    call = Call(Path.cwd(), Path("CALL"), "PROMPT", os.environ, 1800.0, tuple(extra), model)
    invocation = agent.invocation(call)
    environment = [f"{name}={shlex.quote(value)}" for name, value in invocation.environment.items()]
    given = ["<", "CALL/prompt.md"] if invocation.standard_input is not None else []
    return " ".join([*environment, shlex.join(invocation.argv), *given])
