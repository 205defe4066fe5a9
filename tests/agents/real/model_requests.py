"""What a request to a model says, the same for each of the four interfaces."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass
class Tool:
    name: str
    schema: dict[str, Any]
    freeform: bool = False


@dataclass
class Request:
    api: str  # chat | responses | messages | gemini
    model: str
    stream: bool
    tools: list[Tool]
    fresh: bool  # no model turn since the user last spoke
    last_user: str
    text: str  # everything readable, for the side regexes
    wants_json: bool
    include_usage: bool = True
    schema: dict[str, Any] | None = None


def texts(content: Any) -> str:
    """The text in a message's content, whichever of the APIs it comes from."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    parts = []
    for part in content:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, dict):
            keys = ("text", "input_text", "output_text")
            parts += [part[key] for key in keys if isinstance(part.get(key), str)]
    return "\n".join(parts)


def _is_tool_result(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(p, dict) and (p.get("type") == "tool_result" or "functionResponse" in p) for p in content
    )


def parse(api: str, path: str, body: dict[str, Any]) -> Request:
    return {"chat": _parse_chat, "responses": _parse_responses, "messages": _parse_messages, "gemini": _parse_gemini}[
        api
    ](path, body)


def _roles(turns: list[tuple[str, str]]) -> tuple[bool, str]:
    """turns: (who, text), who in user | model | tool | other."""
    last_user, model_since = "", False
    for who, text in turns:
        if who == "user":
            last_user, model_since = text, False
        elif who in ("model", "tool"):
            model_since = True
    return not model_since, last_user


def _parse_chat(path: str, body: dict[str, Any]) -> Request:
    turns, all_text = [], []
    for m in body.get("messages", []):
        role, text = m.get("role"), texts(m.get("content"))
        all_text.append(text)
        who = {"user": "user", "assistant": "model", "tool": "tool", "function": "tool"}
        turns.append((who.get(role, "other"), text))
    fresh, last = _roles(turns)
    tools = [
        Tool(t["function"]["name"], t["function"].get("parameters") or {})
        for t in body.get("tools") or []
        if t.get("type", "function") == "function"
    ]
    fmt = body.get("response_format") or {}
    return Request(
        "chat",
        body.get("model", ""),
        bool(body.get("stream")),
        tools,
        fresh,
        last,
        "\n".join(all_text),
        fmt.get("type") in ("json_object", "json_schema"),
        bool((body.get("stream_options") or {}).get("include_usage")),
        (fmt.get("json_schema") or {}).get("schema"),
    )


def _parse_responses(path: str, body: dict[str, Any]) -> Request:
    turns, all_text = [], [body.get("instructions") or ""]
    items = body.get("input") or []
    if isinstance(items, str):
        items = [{"type": "message", "role": "user", "content": items}]
    for item in items:
        kind, text = item.get("type", "message"), texts(item.get("content"))
        all_text.append(text)
        if kind == "message":
            who = {"user": "user", "assistant": "model"}.get(item.get("role"), "other")
        elif kind.endswith("_output"):
            who = "tool"
        else:  # function_call, custom_tool_call, reasoning, ...
            who = "model"
        turns.append((who, text))
    fresh, last = _roles(turns)
    tools = []
    for t in body.get("tools") or []:
        if t.get("type") == "function":
            tools.append(Tool(t["name"], t.get("parameters") or {}))
        elif t.get("type") == "custom":
            tools.append(Tool(t["name"], {}, freeform=True))
        elif t.get("type") == "local_shell":
            tools.append(Tool("local_shell", {}))
    fmt = (body.get("text") or {}).get("format") or {}
    return Request(
        "responses",
        body.get("model", ""),
        bool(body.get("stream")),
        tools,
        fresh,
        last,
        "\n".join(all_text),
        fmt.get("type") in ("json_object", "json_schema"),
        True,
        fmt.get("schema"),
    )


def _parse_messages(path: str, body: dict[str, Any]) -> Request:
    turns, all_text = [], [texts(body.get("system"))]
    for m in body.get("messages", []):
        text = texts(m.get("content"))
        all_text.append(text)
        if m.get("role") == "assistant":
            turns.append(("model", text))
        else:
            turns.append(("tool" if _is_tool_result(m.get("content")) else "user", text))
    fresh, last = _roles(turns)
    tools = [Tool(t["name"], t["input_schema"]) for t in body.get("tools") or [] if "input_schema" in t]
    return Request(
        "messages", body.get("model", ""), bool(body.get("stream")), tools, fresh, last, "\n".join(all_text), False
    )


def _parse_gemini(path: str, body: dict[str, Any]) -> Request:
    turns, all_text = [], [texts((body.get("systemInstruction") or {}).get("parts"))]
    for c in body.get("contents", []):
        text = texts(c.get("parts"))
        all_text.append(text)
        if c.get("role") == "model":
            turns.append(("model", text))
        else:
            turns.append(("tool" if _is_tool_result(c.get("parts")) else "user", text))
    fresh, last = _roles(turns)
    tools = []
    for group in body.get("tools") or []:
        for f in group.get("functionDeclarations") or []:
            schema = f.get("parametersJsonSchema") or f.get("parameters") or {}
            tools += [Tool(f["name"], schema)]
    conf = body.get("generationConfig") or {}
    model = re.search(r"models/([^:/]+):", path)
    return Request(
        "gemini",
        model.group(1) if model else "",
        "stream" in path,
        tools,
        fresh,
        last,
        "\n".join(all_text),
        conf.get("responseMimeType") == "application/json",
        True,
        conf.get("responseJsonSchema") or conf.get("responseSchema"),
    )
