"""Amp."""

from __future__ import annotations

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.claude_stream import read_event
from pytest_fireloop.agents.known_agent import KnownAgent


def _words(call: Call) -> tuple[str, ...]:
    thread = ("threads", "continue", call.session) if call.session else ()
    # its own rules let it edit files of the tree; what they would ask about is refused without a person
    return (*thread, "-x", "--stream-json", *call.extra)


AMP = KnownAgent(
    name="amp",
    program="amp",
    package="@sourcegraph/amp",
    install="npm install -g @sourcegraph/amp",
    words=_words,
    read_event=read_event,
    automatic=False,
    takes_model=False,
)
