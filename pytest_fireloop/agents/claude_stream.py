"""The stream that Claude Code writes, and Qwen Code, Amp and Cursor after it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pytest_fireloop.agents.failure import Failure, classify
from pytest_fireloop.agents.json_line import Event, mapping, number, rows, total, whole, word
from pytest_fireloop.agents.seen import Seen

#: How a refused tool reads where the result lists no denials; the whole of a tool error, never a part of one.
_REFUSED = re.compile(
    r"(?:Claude requested permissions? to (?:use|write to|edit|read)\b.{0,500}you haven't granted it yet\.?"
    r"|Permission to use \S{1,100}.{0,200} has been denied.{0,300}"
    r"|The user doesn't want to (?:proceed with|take) this .{0,400})",
    re.DOTALL,
)
_USAGE = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def read_event(seen: Seen, event: Event) -> Seen:
    """Return what is known after one event; unknown ones say nothing."""
    reader = _READERS.get(word(event.get("type")))
    session = word(event.get("session_id"))
    if session and session != seen.session:
        seen = replace(seen, session=session)
    return reader(seen, event) if reader else seen


def _system(seen: Seen, event: Event) -> Seen:
    if event.get("subtype") not in {"retry", "api_retry"}:
        return seen
    data = {**event, **mapping(event.get("data"))}
    wait = number(data.get("delayMs", data.get("retry_delay_ms")))
    status = whole(data.get("error_status", data.get("statusCode")))
    text = word(data.get("error")) or word(data.get("message")) or "it waits for its provider"
    kind = classify(text, status=status)
    if kind == "unknown" and seen.failure is not None and seen.failure.wait_s:
        return seen  # the reason came by error output
    return seen.failed(Failure("limit" if kind == "unknown" else kind, text, wait_s=wait / 1000 if wait else None))


def _assistant(seen: Seen, event: Event) -> Seen:
    message = mapping(event.get("message"))
    blocks = rows(message.get("content"))
    said = "\n".join(text for block in blocks if block.get("type") == "text" and (text := word(block.get("text"))))
    error = word(event.get("error"))
    if error:
        return seen.failed(Failure(classify(said, names=(error,)), said or error))
    seen = seen.said(said) if said else seen.worked()
    if message.get("stop_reason") == "refusal":
        seen = seen.failed(Failure("refusal", "the model refused to answer"))
    identity = word(message.get("id"))
    if identity and identity == seen.message:
        return seen  # each block of a message is a line of its own, with the usage of the whole
    return replace(seen.spent(_tokens(message.get("usage"))), message=identity)


def _user(seen: Seen, event: Event) -> Seen:
    refused = sum(
        block.get("type") == "tool_result" and block.get("is_error") is True and bool(_REFUSED.fullmatch(_text(block)))
        for block in rows(mapping(event.get("message")).get("content"))
    )
    return replace(seen.acted(), denials=seen.denials + refused)


def _text(block: Event) -> str:
    content = block.get("content")
    if isinstance(content, str):
        return word(content).strip()
    return "\n".join(word(each.get("text")) for each in rows(content)).strip()


def _limit(seen: Seen, event: Event) -> Seen:
    info = mapping(event.get("rate_limit_info"))
    if info.get("status") != "rejected":  # warnings, and paid overage that is switched off, are no limit
        return seen
    kind = word(info.get("rateLimitType")).replace("_", " ") or "usage"
    return seen.failed(Failure("limit", f"{kind} limit reached", number(info.get("resetsAt"))))


def _result(seen: Seen, event: Event) -> Seen:
    text = word(event.get("result"))
    tokens, usd = _tokens(event.get("usage")), number(event.get("total_cost_usd"))
    denials = event.get("permission_denials")
    seen = replace(
        seen,
        ended=True,
        text=text or seen.text,
        open_text=False,
        tokens=seen.tokens if tokens is None else tokens,
        usd=seen.usd if usd is None else usd,
        turns=whole(event.get("num_turns")) or seen.turns,
        denials=max(seen.denials, len(denials)) if isinstance(denials, list) else seen.denials,
    )
    subtype = word(event.get("subtype"))
    if event.get("is_error") is not True and not subtype.startswith("error"):
        refused = event.get("stop_reason") == "refusal"
        return replace(seen, failure=Failure("refusal", "the model refused to answer") if refused else None)
    before = seen.failure
    if before is not None and before.kind in {"limit", "auth"} and before.wait_s is None:
        return seen  # told by a field, better than the text that follows
    error = event.get("error")
    said = (word(error), word(mapping(error).get("message")), *_errors(event.get("errors")), text)
    told = next(filter(None, said), subtype or "an error without a text")
    names = (subtype, word(event.get("stop_reason")), word(mapping(error).get("type")))
    return seen.failed(Failure(classify(told, status=whole(event.get("api_error_status")), names=names), told))


def _errors(value: Any) -> list[str]:
    found = value if isinstance(value, list) else []
    return [word(each) or word(mapping(each).get("message")) for each in found]


def _tokens(usage: Any) -> int | None:
    found = mapping(usage)
    stated = whole(found.get("total_tokens"))  # who states it counts the cached ones as part of the input
    return total(found, *_USAGE) if stated is None else stated


_READERS: Mapping[str, Callable[[Seen, Event], Seen]] = {
    "system": _system,
    "assistant": _assistant,
    "user": _user,
    "rate_limit_event": _limit,
    "result": _result,
}
