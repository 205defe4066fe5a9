"""Claude Code."""

from __future__ import annotations

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.claude_stream import read_event
from pytest_fireloop.agents.known_agent import KnownAgent, option, unless


def _words(call: Call) -> tuple[str, ...]:
    # without a prompt among the arguments it reads the prompt from standard input
    return (
        *("-p", "--output-format", "stream-json", "--verbose"),
        *unless(call, ("--permission-mode", "--dangerously-skip-permissions"), ("--permission-mode", "acceptEdits")),
        *option("--model", call.model),
        *option("--resume", call.session),
        *call.extra,
    )


CLAUDE = KnownAgent(
    name="claude",
    program="claude",
    package="@anthropic-ai/claude-code",
    install="npm install -g @anthropic-ai/claude-code",
    words=_words,
    read_event=read_event,
)
