"""GitHub Copilot's command line, read as plain text: what its JSON looks like is not known for sure."""

from __future__ import annotations

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.known_agent import KnownAgent, argument, option
from pytest_fireloop.agents.seen import Seen


def _words(call: Call) -> tuple[str, ...]:
    return (
        *("-s", "--no-color", "--no-ask-user", "--allow-tool", "write", "--add-dir", str(call.folder)),
        *option("--model", call.model),
        *((f"--resume={call.session}",) if call.session else ()),
        *call.extra,
        *("-p", argument(call)),
    )


def read_text(seen: Seen, line: str) -> Seen:
    """Return what is known after one line, which is the assistant's."""
    return seen.said(line + "\n", piece=True)


COPILOT = KnownAgent(
    name="copilot",
    program="copilot",
    package="@github/copilot",
    install="npm install -g @github/copilot, with Node 22 or later",
    words=_words,
    read_text=read_text,
    stdin=False,
    has_final_event=False,
)
