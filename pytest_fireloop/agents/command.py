"""Any command as the agent."""

from __future__ import annotations

import re
import shlex
import shutil
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from pytest_fireloop.act.process import Finished
from pytest_fireloop.agents.agent import BLOCKED_MARK, Call, Invocation, Outcome
from pytest_fireloop.observe.text import one_line

#: What is kept of a plain command's output, in characters.
KEPT = 200_000
#: What is filled in.
NAMES = ("prompt", "prompt_file", "model")
#: Other words in braces are the command's own affair, and so are variables of a shell.
_BRACES = re.compile(r"(?<!\$)\{([A-Za-z_-]{1,20})\}")
#: How much of a word has to be that of a name, so that it can only be meant for it.
ALIKE = 0.9
#: Filled in one pass, since a prompt may hold the name of a place.
_PLACES = re.compile(r"\{(?:prompt_file|prompt|model)\}")


class CommandError(ValueError):
    """The command cannot be split as a shell would."""


@dataclass(frozen=True, slots=True)
class CommandAgent:
    """A command line, run without a shell; `{prompt}`, `{prompt_file}` and `{model}` are filled in, without the first two the prompt comes on stdin."""

    name: str
    words: tuple[str, ...]
    automatic: bool = True
    metered: bool = True

    @classmethod
    def parse(cls, text: str) -> CommandAgent:
        """Split a command line; raises CommandError."""
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise CommandError(f"--agent: cannot split {text!r}: {error}") from error
        if not words:
            raise CommandError("--agent: the command is empty")
        for found in _BRACES.finditer(text):
            if _is_misspelt(found[1]):
                known = ", ".join(f"{{{name}}}" for name in NAMES)
                raise CommandError(f"--agent: {found[0]} is nothing that is filled in; known are {known}")
        return cls(words[0], words)

    @property
    def takes_model(self) -> bool:
        """Whether the command has a place for it."""
        return any("{model}" in word for word in self.words)

    def missing(self, environment: Mapping[str, str]) -> str | None:
        """Return what is missing to call it, in one line, or None."""
        if shutil.which(self.words[0], path=environment.get("PATH")) is None:
            return f"there is no command {self.words[0]!r}; install it, or name another agent with --agent"
        return None

    def invocation(self, call: Call) -> Invocation:
        """Return the command of a call."""
        values = {"{prompt_file}": str(call.folder / "prompt.md"), "{prompt}": call.prompt}
        asks = any(place in word for word in self.words for place in values)
        if call.model is not None:
            values["{model}"] = call.model
        filled = tuple(_fill(word, values) for word in self.words)
        return Invocation((*filled, *call.extra), None if asks else call.prompt.encode("utf-8", "replace"))

    def reader(self) -> PlainReader:
        """Return what reads the output of one call."""
        return PlainReader()


def _is_misspelt(word: str) -> bool:
    """Whether a word can only be meant for one of the names, and is none."""
    return word not in NAMES and any(
        sorted(word.lower()) == sorted(name) or SequenceMatcher(None, word.lower(), name).ratio() >= ALIKE
        for name in NAMES
    )


def _fill(word: str, values: Mapping[str, str]) -> str:
    return _PLACES.sub(lambda found: values.get(found[0], found[0]), word)


class PlainReader:
    """Reads plain text: words in it mean nothing but the honest way out in the last line."""

    delivered = False
    hopeless = False

    def __init__(self) -> None:
        self._lines: deque[str] = deque()
        self._size = self._count = 0
        self._complaint = ""

    def line(self, text: str, *, error: bool) -> None:
        """Take one line."""
        if not text.strip():
            return
        self._count += 1
        if error:
            self._complaint = text.strip()[:KEPT]
            return
        kept = text.rstrip()[-KEPT:]
        self._lines.append(kept)
        self._size += len(kept) + 1
        while self._size > KEPT and len(self._lines) > 1:
            self._size -= len(self._lines.popleft()) + 1

    def outcome(self, finished: Finished, now: float) -> Outcome:  # noqa: ARG002 - the protocol asks
        """Read a plain command's end: its exit status, its time limit, and the honest way out in its last line."""
        text = "\n".join(self._lines)
        last = self._lines[-1].strip() if self._lines else ""
        code = finished.exit_code
        if code is None:
            return Outcome("unavailable", finished.problem or "it could not be started")
        status, detail = "ok", ""
        if finished.timed_out:
            status, detail = "timeout", "it ran into its time limit"
        elif last.startswith(BLOCKED_MARK):
            status, detail = "blocked", last.removeprefix(BLOCKED_MARK).strip() or "no reason given"
        elif code in {126, 127}:
            status, detail = "unavailable", f"exit status {code}: {self._complaint or last}"
        elif code < 0:
            status, detail = "crash", f"it died of signal {-code}: {self._complaint or last}"
        elif code > 0:
            status, detail = "crash", f"exit status {code}: {self._complaint or last}"
        return Outcome(status, one_line(detail), text, self._count)
