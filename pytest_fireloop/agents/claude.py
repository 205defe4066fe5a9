"""Claude Code."""

from __future__ import annotations

import json
import shlex
import sys

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.claude_stream import read_event
from pytest_fireloop.agents.known_agent import KnownAgent, option, unless

#: Asks our guard before a tool that can remove or overwrite files.
GUARD = shlex.join([sys.executable, "-m", "pytest_fireloop.cli.fireloop", "guard", "--hook"])
TOOLS = "Bash|Edit|MultiEdit|Write|NotebookEdit"
SETTINGS = {
    "hooks": {"PreToolUse": [{"matcher": TOOLS, "hooks": [{"type": "command", "command": GUARD, "timeout": 60}]}]}
}


def _words(call: Call) -> tuple[str, ...]:
    # without a prompt among the arguments it reads the prompt from standard input
    return (
        *("-p", "--output-format", "stream-json", "--verbose"),
        *unless(call, ("--permission-mode", "--dangerously-skip-permissions"), ("--permission-mode", "acceptEdits")),
        *unless(call, ("--settings",), ("--settings", json.dumps(SETTINGS))),
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
