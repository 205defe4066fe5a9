"""An answer in the words of each interface: one body, and the same as a stream."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

from model_requests import Request
from model_script import Answer


def new_id(prefix: str) -> str:
    return prefix + uuid.uuid4().hex[:24]


def sse(data: Any, event: str | None = None) -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def pieces(text: str, size: int = 40) -> Iterator[str]:
    for i in range(0, len(text), size):
        yield text[i : i + size]


def chat_body(req: Request, a: Answer) -> dict[str, Any]:
    msg: dict[str, Any] = {"role": "assistant", "content": a.text or None}
    if a.call:
        msg["tool_calls"] = [
            {
                "id": new_id("call_"),
                "type": "function",
                "function": {"name": a.call[0], "arguments": json.dumps(a.call[1])},
            }
        ]
    return {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": req.model,
        "choices": [
            {"index": 0, "message": msg, "logprobs": None, "finish_reason": "tool_calls" if a.call else "stop"}
        ],
        "usage": _chat_usage(a),
    }


def _chat_usage(a: Answer) -> dict[str, Any]:
    return {"prompt_tokens": a.usage_in, "completion_tokens": a.usage_out, "total_tokens": a.usage_in + a.usage_out}


def chat_stream(req: Request, a: Answer) -> Iterator[bytes]:
    base = {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": req.model,
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return sse({**base, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(a.text):
        yield chunk({"content": piece})
    if a.call:
        yield chunk(
            {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": new_id("call_"),
                        "type": "function",
                        "function": {"name": a.call[0], "arguments": ""},
                    }
                ]
            }
        )
        for piece in pieces(json.dumps(a.call[1])):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if a.call else "stop")
    if req.include_usage:
        yield sse({**base, "choices": [], "usage": _chat_usage(a)})
    yield sse("[DONE]")


def _responses_items(req: Request, a: Answer) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if a.text or not a.call:
        items.append(
            {
                "id": new_id("msg_"),
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": a.text, "annotations": []}],
            }
        )
    if a.call:
        name, args = a.call
        if isinstance(args, str):
            items.append(
                {
                    "id": new_id("ctc_"),
                    "type": "custom_tool_call",
                    "status": "completed",
                    "call_id": new_id("call_"),
                    "name": name,
                    "input": args,
                }
            )
        elif name == "local_shell":
            items.append(
                {
                    "id": new_id("lsh_"),
                    "type": "local_shell_call",
                    "status": "completed",
                    "call_id": new_id("call_"),
                    "action": {"type": "exec", "env": {}, **args},
                }
            )
        else:
            items.append(
                {
                    "id": new_id("fc_"),
                    "type": "function_call",
                    "status": "completed",
                    "call_id": new_id("call_"),
                    "name": name,
                    "arguments": json.dumps(args),
                }
            )
    return items


def responses_body(
    req: Request,
    a: Answer,
    items: list[dict[str, Any]] | None = None,
    status: str = "completed",
    rid: str | None = None,
) -> dict[str, Any]:
    if items is None:
        items = _responses_items(req, a)
    return {
        "id": rid or new_id("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": req.model,
        "output": items,
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": None
        if status != "completed"
        else {
            "input_tokens": a.usage_in,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": a.usage_out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": a.usage_in + a.usage_out,
        },
    }


def responses_stream(req: Request, a: Answer) -> Iterator[bytes]:
    seq, rid = 0, new_id("resp_")

    def event(kind: str, **fields: Any) -> bytes:
        nonlocal seq
        seq += 1
        return sse({"type": kind, "sequence_number": seq - 1, **fields}, kind)

    items = _responses_items(req, a)
    yield event("response.created", response=responses_body(req, a, [], "in_progress", rid))
    yield event("response.in_progress", response=responses_body(req, a, [], "in_progress", rid))
    for n, item in enumerate(items):
        at = {"item_id": item["id"], "output_index": n}
        if item["type"] == "message":
            yield event(
                "response.output_item.added", output_index=n, item={**item, "status": "in_progress", "content": []}
            )
            part = {"type": "output_text", "text": "", "annotations": []}
            yield event("response.content_part.added", **at, content_index=0, part=part)
            for piece in pieces(a.text):
                yield event("response.output_text.delta", **at, content_index=0, delta=piece)
            yield event("response.output_text.done", **at, content_index=0, text=a.text)
            yield event("response.content_part.done", **at, content_index=0, part=item["content"][0])
        elif item["type"] == "function_call":
            yield event(
                "response.output_item.added", output_index=n, item={**item, "status": "in_progress", "arguments": ""}
            )
            for piece in pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", **at, delta=piece)
            yield event("response.function_call_arguments.done", **at, arguments=item["arguments"])
        else:
            yield event("response.output_item.added", output_index=n, item=item)
        yield event("response.output_item.done", output_index=n, item=item)
    yield event("response.completed", response=responses_body(req, a, items, "completed", rid))


def messages_body(req: Request, a: Answer) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": a.text}] if a.text or not a.call else []
    if a.call:
        content.append({"type": "tool_use", "id": new_id("toolu_"), "name": a.call[0], "input": a.call[1]})
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": req.model,
        "content": content,
        "stop_reason": "tool_use" if a.call else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": a.usage_in,
            "output_tokens": a.usage_out,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def messages_stream(req: Request, a: Answer) -> Iterator[bytes]:
    body = messages_body(req, a)

    def event(kind: str, **fields: Any) -> bytes:
        return sse({"type": kind, **fields}, kind)

    yield event(
        "message_start",
        message={**body, "content": [], "stop_reason": None, "usage": {**body["usage"], "output_tokens": 1}},
    )
    for n, block in enumerate(body["content"]):
        if block["type"] == "text":
            yield event("content_block_start", index=n, content_block={"type": "text", "text": ""})
            for piece in pieces(block["text"]):
                yield event("content_block_delta", index=n, delta={"type": "text_delta", "text": piece})
        else:
            yield event("content_block_start", index=n, content_block={**block, "input": {}})
            for piece in pieces(json.dumps(block["input"])):
                yield event("content_block_delta", index=n, delta={"type": "input_json_delta", "partial_json": piece})
        yield event("content_block_stop", index=n)
    yield event(
        "message_delta",
        delta={"stop_reason": body["stop_reason"], "stop_sequence": None},
        usage={"output_tokens": a.usage_out},
    )
    yield event("message_stop")


def gemini_body(req: Request, a: Answer) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": a.text}] if a.text or not a.call else []
    if a.call:
        parts.append({"functionCall": {"name": a.call[0], "args": a.call[1]}})
    return {
        "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": parts}}],
        "usageMetadata": {
            "promptTokenCount": a.usage_in,
            "candidatesTokenCount": a.usage_out,
            "totalTokenCount": a.usage_in + a.usage_out,
        },
        "modelVersion": req.model,
        "responseId": new_id(""),
    }


def gemini_stream(req: Request, a: Answer) -> Iterator[bytes]:
    body = gemini_body(req, a)
    for part in body["candidates"][0]["content"]["parts"]:
        for piece in [{"text": t} for t in pieces(part["text"])] if part.get("text") else [part]:
            yield sse(
                {
                    "candidates": [{"index": 0, "content": {"role": "model", "parts": [piece]}}],
                    "modelVersion": req.model,
                }
            )
    body["candidates"][0]["content"]["parts"] = [{"text": ""}]
    yield sse(body)


RENDER = {
    "chat": (chat_body, chat_stream),
    "responses": (responses_body, responses_stream),
    "messages": (messages_body, messages_stream),
    "gemini": (gemini_body, gemini_stream),
}
