"""Qwen Code."""

from __future__ import annotations

import re

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.claude_stream import read_event
from pytest_fireloop.agents.failure import Failure, classify
from pytest_fireloop.agents.known_agent import KnownAgent, option, unless
from pytest_fireloop.agents.seen import Seen

_RETRIES = re.compile(r"Retrying in (\d{1,6})s \(attempt \d{1,4}/\d{1,4}\): (.*)")


def _words(call: Call) -> tuple[str, ...]:
    return (
        *("--output-format", "stream-json"),
        *unless(call, ("--approval-mode", "--yolo", "-y"), ("--approval-mode", "auto-edit")),
        *option("--model", call.model),
        *option("--resume", call.session),
        *call.extra,
    )


def read_complaint(seen: Seen, line: str) -> Seen:
    """Return what is known after a line of error output, which alone names the reason of a retry."""
    found = _RETRIES.match(line)
    if found is None:
        return seen
    return seen.failed(Failure(classify(found[2]), found[2], wait_s=float(found[1])))


QWEN = KnownAgent(
    name="qwen",
    program="qwen",
    package="@qwen-code/qwen-code",
    install="npm install -g @qwen-code/qwen-code, with Node 22 or later",
    words=_words,
    read_event=read_event,
    read_complaint=read_complaint,
    verified="0.24.4",
)
