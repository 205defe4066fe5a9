"""What an agent's own error means; only ever asked about error events and error output, never about what was said."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: What each kind of failure makes of a call. An overflow comes again with the next call, so it counts as evidence.
STATUS = {
    "auth": "auth",
    "limit": "rate_limited",
    "provider": "error",
    "context": "crash",
    "request": "crash",
    "unknown": "crash",
    "refusal": "ok",
    "turns": "ok",
}
TEXT_LIMIT = 4000

#: Names that agents and providers give their errors, lower case.
_NAMES = {
    "authentication_failed": "auth",
    "authentication_error": "auth",
    "authenticationerror": "auth",
    "invalid_api_key": "auth",
    "oauth_org_not_allowed": "auth",
    "permission_error": "auth",
    "providerautherror": "auth",
    "llmauthenticationerror": "auth",
    "fatalauthenticationerror": "auth",
    "unauthenticated": "auth",
    "billing_error": "limit",
    "rate_limit": "limit",
    "rate_limit_error": "limit",
    "rate_limit_exceeded": "limit",
    "ratelimiterror": "limit",
    "llmratelimiterror": "limit",
    "insufficient_quota": "limit",
    "quota_exceeded": "limit",
    "resource_exhausted": "limit",
    "terminalquotaerror": "limit",
    "usage_limit_reached": "limit",
    "contextoverflowerror": "context",
    "contextwindowexceedederror": "context",
    "llmcontextwindowexceederror": "context",
    "context_length_exceeded": "context",
    "max_tokens_exceeded": "context",
    "error_max_turns": "turns",
    "error_max_budget_usd": "turns",
    "fatalturnlimitederror": "turns",
    "limitsexceeded": "turns",
    "max_turns": "turns",
    "refusal": "refusal",
    "content_filter": "refusal",
    "contentfiltererror": "refusal",
    "contentpolicyviolationerror": "refusal",
    "server_error": "provider",
    "api_error": "provider",
    "overloaded_error": "provider",
    "internalservererror": "provider",
    "serviceunavailableerror": "provider",
    "llmserviceunavailableerror": "provider",
    "apiconnectionerror": "provider",
    "timeout": "provider",
    "llmtimeouterror": "provider",
    "invalid_request_error": "request",
    "invalid_request": "request",
    "notfounderror": "request",
    "badrequesterror": "request",
    "llmbadrequesterror": "request",
}
#: Names that providers also use for what their text tells better.
_WEAK = frozenset({"api_error", "server_error", "invalid_request_error", "invalid_request", "badrequesterror"})

_STATUS = r"(?:status|code|error|http)(?: code)?\W{0,3}"
#: In the order in which they are tried: an overflow is also a bad request, a limit of turns no limit of the provider.
_TEXTS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            "context",
            (
                r"context window|context[ _]length|contextwindowexceed|contextoverflow|out of room|prompt is too long"
                r"|maximum context|hit a token limit|input is too long|exceeds the maximum number of tokens"
            ),
        ),
        (
            "turns",
            r"max(?:imum)?[ _-]?(?:session[ _-]?)?turns|turn limit|step limit|limitsexceeded|max[ _-]?iterations",
        ),
        (
            "limit",
            (
                rf"{_STATUS}(?:429|402)\b|\b429 |\b402 |rate[ _-]?limit|ratelimit|too many requests|usage limit|session limit"
                r"|weekly limit|\bhit your limit|\d-hour limit|limit reached|quota exceeded|quota_exceeded|exceeded your current quota"
                r"|insufficient_quota|no quota|exhausted your|resource_?exhausted|credit balance|out of credits|insufficient credits"
            ),
        ),
        (
            "auth",
            (
                rf"{_STATUS}(?:401|403)\b|\b401 |\b403 |unauthorized|unauthenticated|authenticat|api key|not logged in|please log ?in"
                r"|/login|auth method|oauth token|invalid credentials|forbidden"
            ),
        ),
        ("refusal", r"content[ _](?:filter|policy|management)|refused to answer|usage policy|safety (?:filter|system)"),
        (
            "provider",
            (
                rf"{_STATUS}(?:408|409|425|5\d\d)\b|\b5(?:00|02|03|04|29) |overloaded|server error|service unavailable|bad gateway"
                r"|timed? ?out|connection|network|fetch failed|socket|econn|enotfound|eai_again|getaddrinfo|\bdns\b|\btls\b|certificate"
                r"|stream (?:disconnected|closed|ended|was)|premature|terminated|unexpected end|incomplete|invalid stream|failed to parse"
                r"|not valid json|non-sse response|unexpected token|empty response|no response|invalid chunk|aborted"
            ),
        ),
        ("request", rf"{_STATUS}4\d\d\b|\b4(?:00|04|13|22) |invalid[ _]request|bad ?request|does not exist|not found"),
    )
)


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure as an agent told it; `reset_at` is a time that it gave as a number."""

    kind: str
    text: str
    reset_at: float | None = None
    wait_s: float | None = None


def classify(text: str, *, status: int | None = None, names: tuple[str, ...] = ()) -> str:
    """Return the kind of a failure by its error names, its HTTP status, its text, in this order."""
    weak = None
    for name in names:
        kind = _NAMES.get(name.strip().lower())
        if kind is not None and name.strip().lower() not in _WEAK:
            return kind
        weak = weak or kind
    said = kind_of_text(text)
    if said == "context":  # providers answer an overflow with 400 and with 413
        return said
    return kind_of_status(status) or said or weak or ("request" if status in range(400, 500) else "unknown")


def kind_of_status(status: int | None) -> str | None:
    """Return what an HTTP status says for sure."""
    if status in {401, 403}:
        return "auth"
    if status in {402, 429}:
        return "limit"
    if status is not None and (status in {408, 409, 425} or 500 <= status < 600):
        return "provider"
    return None


def kind_of_text(text: str) -> str | None:
    """Return what the text of an error says; typography and case differ between releases."""
    plain = normal(text)
    return next((kind for kind, pattern in _TEXTS if pattern.search(plain)), None)


def normal(text: str) -> str:
    """Return a text with plain quotes and spaces, in lower case."""
    plain = text[:TEXT_LIMIT].translate({0x2019: "'", 0x2018: "'", 0xB7: " ", 0x2219: " ", 0x2026: "...", 0x202F: " "})
    return " ".join(plain.lower().split())
