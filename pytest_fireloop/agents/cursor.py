"""Cursor's agent."""

from __future__ import annotations

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.claude_stream import read_event
from pytest_fireloop.agents.known_agent import KnownAgent, argument, option


def _words(call: Call) -> tuple[str, ...]:
    # without --force it only proposes changes; it has no mode between, what it may not do is said in its own settings
    return (
        *("-p", "--output-format", "stream-json", "--force", "--trust"),
        *option("--model", call.model),
        *option("--resume", call.session),
        *call.extra,
        argument(call),
    )


CURSOR = KnownAgent(
    name="cursor",
    program="cursor-agent",
    package="cursor-agent",
    install="see cursor.com/cli",
    words=_words,
    read_event=read_event,
    stdin=False,
    edits_only=False,
)
