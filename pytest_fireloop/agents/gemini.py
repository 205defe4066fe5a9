"""Gemini CLI."""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.failure import Failure, classify
from pytest_fireloop.agents.json_line import Event, mapping, total, whole, word
from pytest_fireloop.agents.known_agent import KnownAgent, option, unless
from pytest_fireloop.agents.seen import Seen

#: A tool that the mode refuses is not offered at all, and then unknown.
_REFUSED = frozenset({"tool_not_registered", "policy_violation", "permission_denied"})
_RETRIES = re.compile(r"Attempt \d{1,4} failed\b(.*)")
_WAITS = re.compile(r"\bRetrying (?:after|in) (\d{1,9})ms")


def _words(call: Call) -> tuple[str, ...]:
    return (
        *("--skip-trust", "--output-format", "stream-json"),
        *unless(call, ("--approval-mode", "--yolo", "-y"), ("--approval-mode", "auto_edit")),
        *option("--model", call.model),
        *option("--resume", call.session),
        *call.extra,
    )


def read_event(seen: Seen, event: Event) -> Seen:
    """Return what is known after one event; an `error` event is a warning, the result says what counts."""
    kind = word(event.get("type"))
    if kind == "init":
        return replace(seen, session=word(event.get("session_id")) or None)
    if kind == "message" and event.get("role") == "assistant":
        return seen.said(word(event.get("content")), piece=event.get("delta") is True)
    if kind == "tool_use":
        return seen.worked()
    if kind == "tool_result":
        refused = word(mapping(event.get("error")).get("type")).lower() in _REFUSED
        return seen.acted(refused=refused)
    if kind == "result":
        return _result(seen, event)
    return seen


def _result(seen: Seen, event: Event) -> Seen:
    stats = mapping(event.get("stats"))
    tokens = whole(stats.get("total_tokens"))
    tokens = total(stats, "input_tokens", "output_tokens") if tokens is None else tokens
    seen = replace(seen, ended=True, open_text=False, tokens=seen.tokens if tokens is None else tokens)
    if event.get("status") == "success":
        return replace(seen, failure=None)
    error = mapping(event.get("error"))
    text = word(error.get("message")) or "an error without a text"
    return seen.failed(Failure(classify(text, status=whole(error.get("code")), names=(word(error.get("type")),)), text))


def read_complaint(seen: Seen, line: str) -> Seen:
    """Return what is known after a line of error output: that it tries again, and in how long where it says so."""
    found = _RETRIES.match(line)
    if found is None:
        return seen
    text = word(found[1]).strip()
    waits = _WAITS.search(text)
    return seen.failed(Failure(classify(text), text, wait_s=int(waits[1]) / 1000 if waits else None))


GEMINI = KnownAgent(
    name="gemini",
    program="gemini",
    package="@google/gemini-cli",
    install="npm install -g @google/gemini-cli",
    words=_words,
    read_event=read_event,
    read_complaint=read_complaint,
    verified="0.61.0",
)
