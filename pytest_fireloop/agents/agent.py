"""What an agent is to the loop: how it is called, and what its end means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pytest_fireloop.act.process import Finished

#: The agent's honest way out: the last line of what it says.
BLOCKED_MARK = "FIRELOOP-BLOCKED:"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an agent; `folder` is a scratch folder outside the tree that holds the prompt as `prompt.md`."""

    tree: Path
    folder: Path
    prompt: str
    environment: Mapping[str, str]
    timeout_s: float
    extra: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Invocation:
    """The command that a call becomes; without `standard_input` the agent's input is closed."""

    argv: tuple[str, ...]
    standard_input: bytes | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call, apart from what it did to the tree.

    `status` is ok, timeout, error, auth, rate_limited, crash, blocked or unavailable.
    """

    status: str
    detail: str = ""
    final_text: str = ""
    output_lines: int = 0
    permission_denials: int = 0
    tokens: int | None = None
    usd: float | None = None


class Agent(Protocol):
    """An agent's adapter; one small file each."""

    @property
    def name(self) -> str:
        """The name by which users ask for it."""

    def missing(self, environment: Mapping[str, str]) -> str | None:
        """Return what is missing to call it, in one line, or None."""

    def invocation(self, call: Call) -> Invocation:
        """Return the command of a call."""

    def outcome(self, finished: Finished, text: str) -> Outcome:
        """Return what the end of the process and its output mean."""
