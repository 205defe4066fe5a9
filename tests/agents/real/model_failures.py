"""A failure in the words of each provider."""

from __future__ import annotations

import time
from typing import Any

from model_answers import new_id
from model_tools import filler

# What each provider says with a status, unless the step says otherwise:
# status -> (OpenAI type/code, Anthropic type, Gemini status, message)
ERRORS = {
    400: ("invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT", "Invalid request."),
    401: ("invalid_api_key", "authentication_error", "UNAUTHENTICATED", "Incorrect API key provided."),
    402: ("insufficient_quota", "billing_error", "RESOURCE_EXHAUSTED", "Your credit balance is too low."),
    403: ("permission_denied", "permission_error", "PERMISSION_DENIED", "You do not have access to this model."),
    404: ("model_not_found", "not_found_error", "NOT_FOUND", "The model does not exist."),
    413: ("request_too_large", "request_too_large", "INVALID_ARGUMENT", "Request too large."),
    429: (
        "rate_limit_exceeded",
        "rate_limit_error",
        "RESOURCE_EXHAUSTED",
        "Rate limit reached. Please try again later.",
    ),
    500: ("server_error", "api_error", "INTERNAL", "The server had an error."),
    503: ("service_unavailable", "overloaded_error", "UNAVAILABLE", "The model is overloaded."),
    529: ("overloaded", "overloaded_error", "UNAVAILABLE", "Overloaded"),
}


def error_body(api: str, step: dict[str, Any]) -> dict[str, Any]:
    status = step["error"]
    openai, anthropic, gemini, message = ERRORS.get(status, ERRORS[500])
    message = step.get("message", message)
    if api == "messages":
        return {
            "type": "error",
            "error": {"type": step.get("kind", anthropic), "message": message},
            "request_id": new_id("req_"),
        }
    if api == "gemini":
        err: dict[str, Any] = {"code": status, "message": message, "status": step.get("kind", gemini)}
        if "retry_after" in step:
            err["details"] = [
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{step['retry_after']}s"}
            ]
        return {"error": err}
    err = {"message": message, "type": step.get("kind", openai), "param": None, "code": step.get("kind", openai)}
    if "resets_in" in step:  # what the Codex backend adds
        err.update(
            plan_type="plus", resets_in_seconds=step["resets_in"], resets_at=int(time.time()) + step["resets_in"]
        )
    return {"error": err}


def minimal_json(schema: dict[str, Any] | None) -> Any:
    return filler({"type": "object", **(schema or {})})
