"""mini-swe-agent, which tells how it ended in a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.failure import Failure, classify
from pytest_fireloop.agents.json_line import Event, mapping, number, rows, total, whole, word
from pytest_fireloop.agents.known_agent import KnownAgent, argument, option
from pytest_fireloop.agents.seen import Seen

_RESULT = "mini.json"
#: Told on error output before it asks its provider again, up to ten times, whatever the failure.
_RETRY = re.compile(
    r"Retrying \S{1,100} in (?P<wait>\d{1,6}(?:\.\d{1,3})?) seconds as it raised (?P<name>\w{1,60}): (?P<text>.*)"
)
#: The heading of a step, which an answer of the model begins.
_STEP = re.compile(r"mini-swe-agent \(step \d{1,9}, \$\d{1,9}(?:\.\d{1,9})?\):")


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
    messages = rows(event.get("messages"))
    said = [text for each in messages if each.get("role") == "assistant" and (text := word(each.get("content")))]
    usages = [mapping(mapping(mapping(each.get("extra")).get("response")).get("usage")) for each in messages]
    tokens = [count for usage in usages if (count := total(usage, "prompt_tokens", "completion_tokens")) is not None]
    seen = replace(
        seen,
        ended=True,
        text=word(info.get("submission")) or (said[-1] if said else ""),
        tokens=sum(tokens) if tokens else None,
        usd=number(stats.get("instance_cost")),
        turns=whole(stats.get("api_calls")),
    )
    if status == "Submitted":
        return replace(seen, failure=None)
    last = word(messages[-1].get("content")) if messages and messages[-1].get("role") == "exit" else ""
    return seen.failed(Failure(classify(last or status, names=(status,)), last or status))


def read_text(seen: Seen, line: str) -> Seen:
    """Return what is known after one line for people: an answer shows that a failure was overcome."""
    return replace(seen.worked(), complaints=()) if _STEP.match(line) else seen


def read_complaint(seen: Seen, line: str) -> Seen:
    """Return what is known after one line of error output: it asks again after a failure, and how long it waits before."""
    found = _RETRY.match(line)
    if found is None:
        return seen
    kind = classify(found["text"], names=(found["name"],))
    return seen.failed(Failure(kind, found["text"], wait_s=float(found["wait"])))


MINI = KnownAgent(
    name="mini",
    program="mini",
    package="mini-swe-agent",
    install="pip install mini-swe-agent, in an environment of its own",
    words=_words,
    read_event=read_event,
    read_text=read_text,
    read_complaint=read_complaint,
    stdin=False,
    environment=_environment,
    result_file=_RESULT,
    verified="2.4.6",
    automatic=False,
    continues=False,
    edits_only=False,
)
