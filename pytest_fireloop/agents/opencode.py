"""OpenCode."""

from __future__ import annotations

from dataclasses import replace

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.failure import Failure, classify
from pytest_fireloop.agents.json_line import Event, mapping, number, total, whole, word
from pytest_fireloop.agents.known_agent import KnownAgent, option
from pytest_fireloop.agents.seen import Seen

#: The whole beginning of a tool error that a refusal makes.
_REFUSED = ("The user rejected permission to use this", "The user has specified a rule which prevents you")
#: Reasons after which it goes on.
_OPEN = frozenset({"tool-calls", "error", ""})


def _words(call: Call) -> tuple[str, ...]:
    # edits of the tree need no option; what its rules would ask about is refused without a person
    return (
        *("run", "--format", "json"),
        *option("-m", call.model),
        *option("-s", call.session),
        *call.extra,
    )


def read_event(seen: Seen, event: Event) -> Seen:
    """Return what is known after one event; the last step of an answer is its end."""
    kind, part = word(event.get("type")), mapping(event.get("part"))
    session = word(event.get("sessionID"))
    if session and session != seen.session:
        seen = replace(seen, session=session)
    if kind == "text":
        # it speaks to itself after it has cut an overflowing conversation
        return replace(seen, ended=False) if part.get("synthetic") is True else seen.said(word(part.get("text")))
    if kind == "tool_use":
        state = mapping(part.get("state"))
        refused = state.get("status") == "error" and word(state.get("error")).startswith(_REFUSED)
        return seen.acted(refused=refused)
    if kind == "step_start":
        return replace(seen, ended=False)
    if kind == "step_finish":
        return _step(seen, part)
    if kind == "error":
        return _error(seen, mapping(event.get("error")))
    return seen


def _step(seen: Seen, part: Event) -> Seen:
    tokens = mapping(part.get("tokens"))
    stated = whole(tokens.get("total"))
    if stated is None:
        parts = total(tokens, "input", "output", "reasoning"), total(mapping(tokens.get("cache")), "read", "write")
        stated = sum(filter(None, parts)) if tokens else None
    reason = word(part.get("reason"))
    seen = replace(seen.spent(stated, number(part.get("cost"))), turns=(seen.turns or 0) + 1)
    if reason == "unknown":
        return seen.failed(Failure("provider", "the provider's answer was none"))
    if reason == "content-filter":
        return seen.failed(Failure("refusal", "the model's answer was filtered"))
    return replace(seen.worked(), ended=True) if reason not in _OPEN else seen


def _error(seen: Seen, error: Event) -> Seen:
    data = mapping(error.get("data"))
    name = word(error.get("name"))
    text = word(data.get("message")) or name or "an error without a text"
    status = whole(data.get("statusCode"))
    told = (
        f"{text} {word(data.get('responseBody'))}"
        if classify(text, status=status, names=(name,)) == "unknown"
        else text
    )
    return replace(seen.failed(Failure(classify(told, status=status, names=(name,)), text)), ended=False)


OPENCODE = KnownAgent(
    name="opencode",
    program="opencode",
    package="opencode-ai",
    install="npm install -g opencode-ai",
    words=_words,
    read_event=read_event,
    verified="1.18.33",
)
