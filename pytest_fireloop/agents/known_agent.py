"""An agent that is known: its command, how its stream is read, and what it was verified with, as data."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_fireloop.act.process import Finished
from pytest_fireloop.agents.agent import Call, Invocation, Outcome
from pytest_fireloop.agents.ending import outcome_of
from pytest_fireloop.agents.json_line import Event, decode, word
from pytest_fireloop.agents.seen import Seen

#: A longer prompt does not fit into one argument everywhere; Linux stops at 128 KiB.
ARGUMENT_LIMIT = 100 * 1024


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """The adapter of one agent.

    `words` are all arguments but the user's own; the prompt is written to standard input (`stdin`), or named as a file or an argument in `words`.
    `read_event` takes each JSON object, `read_text` each other line of output; an agent without a final event has ended well when its
    process has. `verified` is the version that a run against a scripted model was seen with, None where the adapter is made from sources alone.
    `continues` says whether a call names an earlier session, `edits_only` whether it has a mode between asking a person and doing all.
    """

    name: str
    program: str
    package: str
    install: str
    words: Callable[[Call], tuple[str, ...]]
    read_event: Callable[[Seen, Event], Seen] | None = None
    read_text: Callable[[Seen, str], Seen] | None = None
    read_complaint: Callable[[Seen, str], Seen] | None = None
    stdin: bool = True
    environment: Callable[[Call], Mapping[str, str]] = lambda _: {}
    result_file: str | None = None
    has_final_event: bool = True
    verified: str | None = None
    automatic: bool = True
    takes_model: bool = True
    metered: bool = True
    continues: bool = True
    edits_only: bool = True

    def missing(self, environment: Mapping[str, str]) -> str | None:
        """Return what is missing to call it, in one line, or None."""
        if self.found(environment) is None:
            return f"there is no command {self.program!r}; install it ({self.install})"
        return None

    def found(self, environment: Mapping[str, str]) -> str | None:
        """Return the program's path, or None."""
        return shutil.which(self.program, path=environment.get("PATH", ""))

    def invocation(self, call: Call) -> Invocation:
        """Return the command of a call."""
        return Invocation(
            (self.program, *self.words(call)),
            call.prompt.encode("utf-8", "replace") if self.stdin else None,
            self.environment(call),
            call.folder / self.result_file if self.result_file else None,
        )

    def reader(self) -> StreamReader:
        """Return what reads the output of one call."""
        return StreamReader(self)

    def read(self, seen: Seen, text: str, *, error: bool = False) -> Seen:
        """Return what is known after one more line."""
        if error:
            # the two pipes race, so that a complaint may be seen after what overcame it
            seen = self.read_complaint(seen, text) if self.read_complaint and not seen.ended else seen
            return seen.complained(word(text))
        if not text.strip() or seen.hopeless:  # what it says while it is ended explains nothing
            return seen
        seen = replace(seen, lines=seen.lines + 1)
        event = decode(text) if self.read_event else None
        if event is not None and self.read_event:
            return self.read_event(seen, event)
        return self.read_text(seen, word(text)) if self.read_text else seen

    def outcome(self, seen: Seen, finished: Finished, now: float) -> Outcome:
        """Return what the lines and the end of the process mean."""
        return outcome_of(seen, finished, now, has_final_event=self.has_final_event)


@dataclass(slots=True)
class StreamReader:
    """Reads one call of a known agent as its lines come."""

    agent: KnownAgent
    seen: Seen = field(default_factory=Seen)

    @property
    def delivered(self) -> bool:
        """Whether the last line was the agent's final event."""
        return self.seen.ended

    @property
    def hopeless(self) -> bool:
        """Whether the agent would only repeat a failure."""
        return self.seen.hopeless

    def line(self, text: str, *, error: bool) -> None:
        """Take one line."""
        self.seen = self.agent.read(self.seen, text, error=error)

    def outcome(self, finished: Finished, now: float) -> Outcome:
        """Return what all lines and the end of the process mean."""
        return self.agent.outcome(self.seen, finished, now)


def argument(call: Call) -> str:
    """Return the prompt as one argument, or one that names the file it is in where it is too long for that."""
    if len(call.prompt.encode("utf-8", "replace")) <= ARGUMENT_LIMIT and "\0" not in call.prompt:
        return call.prompt
    return f"Read the file {prompt_file(call)} and do what it says."


def prompt_file(call: Call) -> Path:
    """Return the file that holds the prompt."""
    return call.folder / "prompt.md"


def option(name: str, value: str | None) -> tuple[str, ...]:
    """Return an option with its value, nothing without one."""
    return (name, value) if value is not None else ()


def unless(call: Call, flags: tuple[str, ...], words: tuple[str, ...]) -> tuple[str, ...]:
    """Return our words for something, nothing where the user's own arguments say it: most agents refuse to be told twice."""
    said = any(word == flag or word.startswith(f"{flag}=") for word in call.extra for flag in flags)
    return () if said else words
