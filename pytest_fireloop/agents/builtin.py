"""The agents that this package knows, as a plugin like any other."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fireloop.agents.agent import Agent
from pytest_fireloop.agents.aider import AIDER
from pytest_fireloop.agents.amp import AMP
from pytest_fireloop.agents.claude import CLAUDE
from pytest_fireloop.agents.codex import CODEX
from pytest_fireloop.agents.copilot import COPILOT
from pytest_fireloop.agents.cursor import CURSOR
from pytest_fireloop.agents.gemini import GEMINI
from pytest_fireloop.agents.goose import GOOSE
from pytest_fireloop.agents.hookspecs import hookimpl
from pytest_fireloop.agents.known_agent import KnownAgent
from pytest_fireloop.agents.mini import MINI
from pytest_fireloop.agents.opencode import OPENCODE
from pytest_fireloop.agents.openhands import OPENHANDS
from pytest_fireloop.agents.qwen import QWEN

#: In the order in which `--agent auto` prefers them: streams that tell most first.
KNOWN: tuple[KnownAgent, ...] = (
    CLAUDE,
    CODEX,
    GEMINI,
    QWEN,
    OPENCODE,
    OPENHANDS,
    AIDER,
    CURSOR,
    COPILOT,
    MINI,
    AMP,
    GOOSE,
)


@hookimpl
def fireloop_agents() -> Sequence[Agent]:
    """Return the agents that this package knows."""
    return KNOWN
