"""What the lines of an agent have said so far."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_fireloop.agents.failure import Failure
from pytest_fireloop.agents.json_line import TEXT_LIMIT

#: A second overflow without a step between shows that the agent cannot get out of it.
OVERFLOWS = 2
#: So many failures without anything between show the same of any other failure.
FAILURES = 20
#: An agent that will wait this long for its provider is better ended; the loop waits without it.
LONGEST_WAIT_S = 60.0
_COMPLAINTS = 20


@dataclass(frozen=True, slots=True)
class Seen:
    """Grows by one line at a time.

    `ended` says that the last line was the agent's final event, `complaints` are the last lines of its error output, `open_text`
    that the next piece belongs to `text`.
    """

    lines: int = 0
    text: str = ""
    open_text: bool = False
    tokens: int | None = None
    usd: float | None = None
    turns: int | None = None
    denials: int = 0
    session: str | None = None
    ended: bool = False
    failure: Failure | None = None
    overflows: int = 0
    failures: int = 0
    complaints: tuple[str, ...] = ()
    message: str = ""

    @property
    def hopeless(self) -> bool:
        """Whether the agent would only repeat or outwait a failure, so that it is better ended."""
        if self.overflows >= OVERFLOWS or self.failures >= FAILURES:
            return True
        return self.failure is not None and (self.failure.wait_s or 0.0) >= LONGEST_WAIT_S

    def worked(self) -> Seen:
        """Return what is known after a step that went well: a failure before it is overcome, an overflow perhaps only put off."""
        if self.failure is None and not self.ended and not self.open_text:
            return self
        return replace(self, failure=None, failures=0, ended=False, open_text=False)

    def acted(self, *, refused: bool = False) -> Seen:
        """Return what is known after a tool was used, or refused."""
        seen = replace(self, overflows=0) if self.overflows else self
        return replace(seen.worked(), denials=self.denials + 1) if refused else seen.worked()

    def said(self, text: str, *, piece: bool = False) -> Seen:
        """Return what is known after the assistant said something, as a whole or as one piece of more."""
        whole = self.text + text if piece and self.open_text else text
        return replace(self.worked(), text=whole[-TEXT_LIMIT:], open_text=piece)

    def failed(self, failure: Failure) -> Seen:
        """Return what is known after a failure."""
        before = self.failure
        if before is not None and before.kind == failure.kind and failure.reset_at is None:
            failure = replace(failure, reset_at=before.reset_at)  # told before, and by a field
        overflows = self.overflows + 1 if failure.kind == "context" else self.overflows
        return replace(self, failure=failure, overflows=overflows, failures=self.failures + 1, open_text=False)

    def spent(self, tokens: int | None, usd: float | None = None) -> Seen:
        """Return what is known after a step that cost something."""
        return replace(
            self,
            tokens=self.tokens if tokens is None else (self.tokens or 0) + tokens,
            usd=self.usd if usd is None else (self.usd or 0.0) + usd,
        )

    def complained(self, line: str) -> Seen:
        """Return what is known after a line of error output."""
        return replace(self, complaints=(*self.complaints, line[:500])[-_COMPLAINTS:]) if line.strip() else self
