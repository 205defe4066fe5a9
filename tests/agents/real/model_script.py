"""The script of a model: which step the next request gets."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from typing import Any

from model_requests import Request
from model_tools import final_call, to_call, to_text

FAULTS = ("error", "hang", "drop", "garbage")

# What the side requests of known clients say of themselves.
SIDE = (
    r"^You are a title generator",  # opencode
    r"managed memory extraction subagent",  # Qwen Code
    r"^\*Briefly\* summarize this partial",  # aider, a long history
    r"generates concise, one-line Git commit",  # aider, with auto-commits
)


def is_fault(step: dict[str, Any]) -> bool:
    return any(f in step for f in FAULTS)


@dataclass
class Script:
    data: dict[str, Any]
    lock: threading.Lock = field(default_factory=threading.Lock)
    round: int = 0
    pos: int = 0
    served: int = 0  # non-fault steps served in this round
    fault_count: int = 0
    tools_seen: bool = False
    exhausted: int = 0
    log: list[dict[str, Any]] = field(default_factory=list)

    def is_side(self, req: Request) -> bool:
        if any(re.search(p, req.text) for p in (*SIDE, *self.data.get("side", []))):
            return True
        if req.tools:
            self.tools_seen = True
            return False
        return self.tools_seen or bool(self.data.get("tools"))

    def next_step(self, req: Request) -> dict[str, Any]:
        """The step for a main request; moves on."""
        rounds = self.data.get("rounds") or []
        if self.data.get("mode") != "linear" and req.fresh and self.served:
            self._next_round()
        while self.round < len(rounds):
            steps = rounds[self.round].get("steps") or []
            if self.pos < len(steps):
                break
            if self.data.get("mode") != "linear":
                self.exhausted += 1  # the round has no more to say
                return {"text": "Done."}
            self._next_round()
        else:
            self.exhausted += 1
            return {"text": self.data.get("after", "I have nothing more to change.")}
        step: dict[str, Any] = steps[self.pos]
        if is_fault(step):
            self.fault_count += 1
            if self.fault_count >= step.get("times", 1):
                self.pos, self.fault_count = self.pos + 1, 0
            return step
        if not req.tools and self.style == "edits":
            rest = steps[self.pos :]
            taken = rest[: next((i for i, s in enumerate(rest) if is_fault(s)), len(rest))]
            step = {"delay": sum(s.get("delay", 0) for s in taken), "steps": taken, "usage": taken[0].get("usage", {})}
            self.pos += len(taken) - 1
        self.pos, self.served = self.pos + 1, self.served + 1
        return step

    @property
    def style(self) -> str:
        return str(self.data.get("style", "edits"))

    def _next_round(self) -> None:
        self.round, self.pos, self.served, self.fault_count = self.round + 1, 0, 0, 0

    def state(self) -> dict[str, Any]:
        return {
            "round": self.round,
            "pos": self.pos,
            "served": self.served,
            "requests": len(self.log),
            "exhausted": self.exhausted,
            "side": sum(1 for e in self.log if e["side"]),
            "rounds": len(self.data.get("rounds") or []),
        }


@dataclass
class Answer:
    text: str = ""
    call: tuple[str, Any] | None = None
    usage_in: int = 100
    usage_out: int = 20


def answer_for(step: dict[str, Any], req: Request, script: Script) -> Answer:
    usage = step.get("usage", {})
    ans = Answer(usage_in=usage.get("input", 100), usage_out=usage.get("output", 20))
    if not req.tools and "steps" in step:  # a whole round in one answer
        ans.text = "\n".join(filter(None, (to_text(s, "edits") for s in step["steps"])))
    elif not req.tools and script.style == "mswea":
        ans.text = to_text(step, "mswea")
    elif "text" in step:
        ans.text, ans.call = step["text"], final_call(step["text"], req)
    elif "reply" in step:
        ans.text = step["reply"]
    else:
        ans.text = step.get("say", "")
        ans.call = to_call(step, req, script.data.get("workdir", ""))
    return ans
