"""Codex."""

from __future__ import annotations

from dataclasses import replace

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.failure import Failure, classify
from pytest_fireloop.agents.json_line import Event, mapping, total, word
from pytest_fireloop.agents.known_agent import KnownAgent, option, unless
from pytest_fireloop.agents.seen import Seen

_MODES = ("-s", "--sandbox", "--dangerously-bypass-approvals-and-sandbox", "--approve-for-me")


def _words(call: Call) -> tuple[str, ...]:
    # the loop keeps checkpoints of its own, so a folder without git is no danger; `-` is the prompt on standard input
    return (
        *("exec", "--json", "--skip-git-repo-check", "-C", str(call.tree)),
        *unless(call, _MODES, ("-s", "workspace-write")),
        *option("-m", call.model),
        *call.extra,
        *(("resume", call.session) if call.session else ()),
        "-",
    )


def read_event(seen: Seen, event: Event) -> Seen:
    """Return what is known after one event; a lone `error` is a retry, an item of that type a warning."""
    kind = word(event.get("type"))
    if kind == "thread.started":
        return replace(seen, session=word(event.get("thread_id")) or None)
    if kind == "turn.started":
        return replace(seen, turns=(seen.turns or 0) + 1, ended=False)
    if kind == "item.completed":
        return _item(seen, mapping(event.get("item")))
    if kind == "turn.completed":
        # in a continued thread the usage is that of all of it, so that the last one stands
        tokens = total(mapping(event.get("usage")), "input_tokens", "output_tokens")
        return replace(seen, ended=True, failure=None, tokens=seen.tokens if tokens is None else tokens)
    if kind == "turn.failed":
        text = word(mapping(event.get("error")).get("message")) or "the turn failed"
        return replace(seen.failed(Failure(classify(text), text)), ended=True)
    return seen


def _item(seen: Seen, item: Event) -> Seen:
    kind = item.get("type")
    if kind == "error":
        return seen
    if kind == "agent_message":
        return seen.said(word(item.get("text")))
    if kind == "reasoning":
        return seen.worked()
    return seen.acted(refused=item.get("status") == "declined")


CODEX = KnownAgent(
    name="codex",
    program="codex",
    package="@openai/codex",
    install="npm install -g @openai/codex",
    words=_words,
    read_event=read_event,
    verified="0.171.0",
)
