"""What an agent's own error means."""

from __future__ import annotations

import pytest

from pytest_fireloop.agents.failure import STATUS, classify, normal


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("unexpected status 401 Unauthorized: Incorrect API key provided.", "auth"),
        ('[API Error: {"error":{"code":401,"message":"x","status":"UNAUTHENTICATED"}}]', "auth"),
        ("The API provider is not able to authenticate you. Check your API key.", "auth"),
        ("Not logged in \u00b7 Please run /login", "auth"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "limit"),
        ("You\u2019ve hit your usage limit.", "limit"),
        ("You've hit your session limit \u00b7 resets 12:50am", "limit"),
        ("5-hour limit reached \u2219 resets 2am", "limit"),
        ("Quota exceeded. Check your plan and billing details.", "limit"),
        ('402 {"error":{"message":"You have no quota","code":"quota_exceeded"}}', "limit"),
        ("Credit balance is too low", "limit"),
        ("Codex ran out of room in the model's context window.", "context"),
        ("[API Error: 400 This model's maximum context length is 8192 tokens.]", "context"),
        ("Prompt is too long", "context"),
        ("Model openai/x has hit a token limit!", "context"),
        ("Reached max session turns for this session.", "turns"),
        ("Turn limit reached", "turns"),
        ("stream disconnected before completion: stream closed before response.completed", "provider"),
        ("[API Error: terminated]", "provider"),
        ("[API Error: Incomplete JSON segment at the end]", "provider"),
        ("API Error: 529 Overloaded", "provider"),
        ("getaddrinfo EAI_AGAIN api.example.invalid", "provider"),
        ("[API Error: 400 Invalid request.]", "request"),
        ("The model does not exist", "request"),
        ("The response was stopped by the content filter", "refusal"),
        ("TypeError: x is not a function", "unknown"),
        ("", "unknown"),
    ],
)
def test_by_text(text: str, kind: str) -> None:
    assert classify(text) == kind
    assert kind in STATUS


@pytest.mark.parametrize(
    ("status", "names", "text", "kind"),
    [
        (429, (), "", "limit"),
        (401, (), "rate limit", "auth"),
        (400, (), "maximum context length", "context"),
        (413, ("APIError",), "Request too large.", "request"),
        (500, (), "", "provider"),
        (529, ("overloaded_error",), "", "provider"),
        (None, ("RateLimitError",), "", "limit"),
        (None, ("invalid_request",), "Prompt is too long", "context"),
        (None, ("invalid_request",), "", "request"),
        (None, ("api_error",), "401 Unauthorized", "auth"),
        (None, ("unheard of", "authentication_failed"), "", "auth"),
        (10**9, (), "", "unknown"),
    ],
)
def test_by_fields(status: int | None, names: tuple[str, ...], text: str, kind: str) -> None:
    assert classify(text, status=status, names=names) == kind


def test_typography_is_folded() -> None:
    assert normal("You\u2019ve  HIT\u2026 \u00b7 x") == "you've hit... x"
