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
    """One call of an agent; `folder` is a scratch folder outside the tree that holds the prompt as `prompt.md`.

    `model` is the user's wish, `session` an earlier session that is to be continued.
    """

    tree: Path
    folder: Path
    prompt: str
    environment: Mapping[str, str]
    timeout_s: float
    extra: tuple[str, ...] = ()
    model: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Invocation:
    """The command that a call becomes; without `standard_input` the agent's input is closed.

    `result_file` is a file that the agent writes at its end, read after it as one more line of its output.
    """

    argv: tuple[str, ...]
    standard_input: bytes | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    result_file: Path | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call, apart from what it did to the tree.

    `status` is ok, timeout, error, auth, rate_limited, crash, blocked or unavailable; `reset_at` is when a limit ends, in seconds since
    1970; tokens are counted as the agent counts them, which in a continued session may be all of its.
    """

    status: str
    detail: str = ""
    final_text: str = ""
    output_lines: int = 0
    permission_denials: int = 0
    tokens: int | None = None
    usd: float | None = None
    turns: int | None = None
    session: str | None = None
    reset_at: float | None = None


class Reader(Protocol):
    """Takes the lines of one call as they come and says what they come to."""

    @property
    def delivered(self) -> bool:
        """Whether the last line was the agent's final event, after which it has nothing more to do."""

    @property
    def hopeless(self) -> bool:
        """Whether the agent would only repeat a failure, so that it is better ended."""

    def line(self, text: str, *, error: bool) -> None:
        """Take one line of the agent's output, or of its error output."""

    def outcome(self, finished: Finished, now: float) -> Outcome:
        """Return what the end of the process and its lines mean; `now` is in seconds since 1970."""


class Agent(Protocol):
    """An agent's adapter; one small file each."""

    @property
    def name(self) -> str:
        """The name by which users ask for it."""

    @property
    def automatic(self) -> bool:
        """Whether `--agent auto` may choose it; not so where another program often has its name."""

    @property
    def takes_model(self) -> bool:
        """Whether it has a place for `--model`."""

    @property
    def metered(self) -> bool:
        """Whether its calls ask a model, so that they count against the calls an hour."""

    def missing(self, environment: Mapping[str, str]) -> str | None:
        """Return what is missing to call it, in one line, or None."""

    def invocation(self, call: Call) -> Invocation:
        """Return the command of a call."""

    def reader(self) -> Reader:
        """Return what reads the output of one call."""
