"""What the scripted model does: the happy path, and one fault each."""

from __future__ import annotations

from typing import Any

Script = dict[str, Any]
READ = {"read": "calc.py", "say": "Let me look at the code."}
WRONG = {"edit": "calc.py", "old": "return a - b", "new": "return a * b"}
RIGHT = {"edit": "calc.py", "old": "return a - b", "new": "return a + b"}
BETTER = {"edit": "calc.py", "old": "return a * b", "new": "return a + b"}
DONE = {"text": "Fixed."}
FIX = [READ, RIGHT, DONE]
ALWAYS = 1000
QUOTES = (
    "The test prints: rate limit reached; 401 Unauthorized; permission denied; You've hit your usage limit, try again at 4:09 AM; "
    "maximum context length; [API Error: 429 Too Many Requests]"
)
PAGE = "<html>captive portal</html>"
OVERFLOW = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."


def script(*rounds: list[dict[str, Any]]) -> Script:
    """Return a script with these rounds, one for each call of the agent."""
    return {"tools": True, "rounds": [{"steps": steps} for steps in rounds]}


def failing(status: int, **more: Any) -> Script:
    """Return a script that answers every request with an HTTP error."""
    return script([{"error": status, "times": ALWAYS, **more}])


SCRIPTS = {
    "fix": script([READ, WRONG, DONE], [READ, BETTER, DONE]),
    "401": failing(401),
    "400": failing(400),
    "429": failing(429, retry_after=1),
    "quota": failing(
        429,
        kind="insufficient_quota",
        message="You exceeded your current quota, please check your plan and billing details.",
    ),
    "usage limit": failing(429, kind="usage_limit_reached", message="The usage limit has been reached", resets_in=3600),
    "overflow": failing(400, kind="context_length_exceeded", message=OVERFLOW),
    "500 twice": script([{"error": 500, "times": 2}, *FIX]),
    "cut": script([{"drop": 600}, *FIX]),
    "page": script([{"garbage": PAGE, "times": ALWAYS}]),
    "empty": script([{"text": ""}]),
    "nothing": script([{"text": "The tests are fine; nothing to change."}]),
    "quotes": script([{**READ, "say": QUOTES}, RIGHT, {"text": f"{QUOTES}\nDONE"}]),
    "refused": script(
        [
            READ,
            {"tool": "run_shell_command", "args": {"command": "ls", "description": "list", "is_background": False}},
            DONE,
        ]
    ),
    "silence": script([{"hang": 300}]),
    "background": script([{"shell": "(sleep 97 >/dev/null 2>&1 &); echo started"}, *FIX]),
    "much": script([{"shell": "python3 -c \"for i in range(100000): print('line %d ' % i + 'y' * 60)\""}, *FIX]),
}
