"""Goose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.failure import Failure, classify
from pytest_fireloop.agents.json_line import Event, mapping, rows, whole, word
from pytest_fireloop.agents.known_agent import KnownAgent, option
from pytest_fireloop.agents.seen import Seen


def _words(call: Call) -> tuple[str, ...]:
    return (
        *("run", "-i", "-", "-q", "--output-format", "stream-json"),
        *(("--name", call.session, "--resume") if call.session else ("--no-session",)),
        *option("--model", call.model),
        *call.extra,
    )


def _environment(call: Call) -> Mapping[str, str]:
    # its modes between ask a person; a mode that the user chose stands
    return {} if "GOOSE_MODE" in call.environment else {"GOOSE_MODE": "auto"}


def read_event(seen: Seen, event: Event) -> Seen:
    """Return what is known after one event."""
    kind = word(event.get("type"))
    if kind == "message":
        message = mapping(event.get("message"))
        text = "".join(word(each.get("text")) for each in rows(message.get("content")) if each.get("type") == "text")
        return seen.said(text, piece=True) if message.get("role") == "assistant" and text else seen.worked()
    if kind == "error":
        text = word(event.get("error")) or "an error without a text"
        return seen.failed(Failure(classify(text), text))
    if kind == "complete":
        tokens = whole(event.get("total_tokens"))
        return replace(seen, ended=True, open_text=False, tokens=seen.tokens if tokens is None else tokens)
    return seen


GOOSE = KnownAgent(
    name="goose",
    program="goose",
    package="goose",
    install="see goose's own page of releases",
    words=_words,
    read_event=read_event,
    environment=_environment,
    automatic=False,
    edits_only=False,
)
