"""OpenHands, whose lines of JSON stand between lines for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.failure import Failure, classify
from pytest_fireloop.agents.json_line import Event, mapping, rows, word
from pytest_fireloop.agents.known_agent import KnownAgent, option, prompt_file
from pytest_fireloop.agents.seen import Seen

#: Its own last line; what its model or its tools say stands in a frame or in JSON.
_SESSION = re.compile(r"Conversation ID: (?P<id>[0-9a-f]{32})")


def _words(call: Call) -> tuple[str, ...]:
    # without a person it approves all; it has no mode between
    return (
        *("--headless", "--json", "-f", str(prompt_file(call))),
        # with it the environment stands for the user's own settings, without which it would start with none
        *(("--override-with-envs",) if call.model or "LLM_API_KEY" in call.environment else ()),
        *option("--resume", call.session),
        *call.extra,
    )


def _environment(call: Call) -> Mapping[str, str]:
    # its output is held back in blocks, and lost with the process, unless Python is told otherwise
    return {"PYTHONUNBUFFERED": "1", **({"LLM_MODEL": call.model} if call.model else {})}


def read_event(seen: Seen, event: Event) -> Seen:
    """Return what is known after one event; the finish action is its end."""
    kind = word(event.get("kind"))
    if kind == "ConversationErrorEvent":
        name, detail = word(event.get("code")), word(event.get("detail"))
        return seen.failed(Failure(classify(detail, names=(name,)), detail or name or "an error without a text"))
    if kind == "CondensationRequest":
        # it makes room and asks again, for ever where that does not help
        return seen.failed(Failure("context", "its context is full, and it asks for a summary of it"))
    if kind == "MessageEvent":
        message = mapping(event.get("llm_message")) or event
        text = "\n".join(word(each.get("text")) for each in rows(message.get("content")))
        return seen.said(text) if event.get("source") == "agent" and text else seen
    if kind == "ActionEvent":
        action = mapping(event.get("action"))
        if action.get("kind") == "FinishAction" or event.get("tool_name") == "finish":
            return replace(seen.said(word(action.get("message"))), ended=True)
        return replace(seen.acted(), turns=(seen.turns or 0) + 1)
    if kind == "UserRejectObservation":
        return replace(seen, denials=seen.denials + 1)
    return seen


def read_text(seen: Seen, line: str) -> Seen:
    """Return what is known after one line for people, of which the name of its session alone means anything."""
    found = _SESSION.fullmatch(line.strip())
    return seen if found is None else replace(seen, session=found["id"])


OPENHANDS = KnownAgent(
    name="openhands",
    program="openhands",
    package="openhands",
    install="pip install openhands, with Python 3.12 in an environment of its own",
    words=_words,
    read_event=read_event,
    read_text=read_text,
    stdin=False,
    environment=_environment,
    has_final_event=False,
    verified="1.16.0",
    edits_only=False,
)
