"""mini-swe-agent, which tells how it ended in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.failure import Failure, classify
from pytest_fireloop.agents.json_line import Event, mapping, number, rows, whole, word
from pytest_fireloop.agents.known_agent import KnownAgent, argument, option
from pytest_fireloop.agents.seen import Seen

_RESULT = "mini.json"


def _words(call: Call) -> tuple[str, ...]:
    # it has only argv for the prompt, and no mode between asking a person and doing all
    return (
        *("-y", "--exit-immediately", "-o", str(call.folder / _RESULT)),
        *option("-m", call.model),
        *call.extra,
        *("-t", argument(call)),
    )


def _environment(call: Call) -> Mapping[str, str]:  # noqa: ARG001 - the protocol asks
    return {"PYTHONUNBUFFERED": "1", "MSWEA_CONFIGURED": "true"}


def read_event(seen: Seen, event: Event) -> Seen:
    """Return what is known after the trajectory was read; what it prints before is for people."""
    info = mapping(event.get("info"))
    status = word(info.get("exit_status"))
    if not status:
        return seen
    stats = mapping(info.get("model_stats"))
    said = [
        text
        for each in rows(event.get("messages"))
        if each.get("role") == "assistant" and (text := word(each.get("content")))
    ]
    seen = replace(
        seen,
        ended=True,
        text=word(info.get("submission")) or (said[-1] if said else ""),
        usd=number(stats.get("instance_cost")),
        turns=whole(stats.get("api_calls")),
    )
    if status == "Submitted":
        return replace(seen, failure=None)
    return seen.failed(Failure(classify(status, names=(status,)), status))


MINI = KnownAgent(
    name="mini",
    program="mini",
    package="mini-swe-agent",
    install="pip install mini-swe-agent, in an environment of its own",
    words=_words,
    read_event=read_event,
    stdin=False,
    environment=_environment,
    result_file=_RESULT,
    automatic=False,
)
