"""Any command as the agent."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fireloop.act.process import Finished
from pytest_fireloop.agents.agent import BLOCKED_MARK, Call, Invocation, Outcome


class CommandError(ValueError):
    """The command cannot be split as a shell would."""


@dataclass(frozen=True, slots=True)
class CommandAgent:
    """A command line, run without a shell; `{prompt}` and `{prompt_file}` are filled in, else the prompt comes on stdin."""

    name: str
    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> CommandAgent:
        """Split a command line; raises CommandError."""
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise CommandError(f"--agent: cannot split {text!r}: {error}") from error
        if not words:
            raise CommandError("--agent: the command is empty")
        return cls(words[0], words)

    def missing(self, environment: Mapping[str, str]) -> str | None:
        """Return what is missing to call it, in one line, or None."""
        if shutil.which(self.words[0], path=environment.get("PATH")) is None:
            return f"there is no command {self.words[0]!r}; install it, or name another agent with --agent"
        return None

    def invocation(self, call: Call) -> Invocation:
        """Return the command of a call."""
        prompt_file = call.folder / "prompt.md"
        filled = tuple(
            word.replace("{prompt_file}", str(prompt_file)).replace("{prompt}", call.prompt) for word in self.words
        )
        asks = any("{prompt}" in word or "{prompt_file}" in word for word in self.words)
        return Invocation((*filled, *call.extra), None if asks else call.prompt.encode("utf-8", "replace"))

    def outcome(self, finished: Finished, text: str) -> Outcome:
        """Read a plain command's end: its exit status, its time limit, and the honest way out in its last line."""
        return plain_outcome(finished, text)


def plain_outcome(finished: Finished, text: str) -> Outcome:
    """Return the outcome of an agent whose output is plain text; words in it mean nothing but the honest way out."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    last = lines[-1].strip() if lines else ""
    count = len(lines)
    if finished.exit_code is None:
        return Outcome("unavailable", finished.problem or "it could not be started")
    if finished.timed_out:
        return Outcome("timeout", "it ran into its time limit", last, count)
    if last.startswith(BLOCKED_MARK):
        return Outcome("blocked", last.removeprefix(BLOCKED_MARK).strip() or "no reason given", last, count)
    if finished.exit_code in {126, 127}:
        return Outcome("unavailable", f"exit status {finished.exit_code}: {last[:200]}", last, count)
    if finished.exit_code < 0:
        return Outcome("crash", f"it died of signal {-finished.exit_code}: {last[:200]}", last, count)
    if finished.exit_code > 0:
        return Outcome("crash", f"exit status {finished.exit_code}: {last[:200]}", last, count)
    return Outcome("ok", "", last, count)
