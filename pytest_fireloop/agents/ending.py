"""What a call comes to, from what the agent's lines said and how its process ended."""

from __future__ import annotations

from pytest_fireloop.act.process import Finished
from pytest_fireloop.agents.agent import BLOCKED_MARK, Outcome
from pytest_fireloop.agents.failure import STATUS, Failure, kind_of_text
from pytest_fireloop.agents.reset_time import epoch, reset_at
from pytest_fireloop.agents.seen import Seen
from pytest_fireloop.observe.text import one_line

#: What error output may show of a call that came to nothing; the rest of it is noise.
_TELLING = frozenset({"auth", "limit", "context", "provider", "turns"})


def outcome_of(seen: Seen, finished: Finished, now: float, *, has_final_event: bool = True) -> Outcome:
    """Return the outcome: ended by us, structured failure, error output, exit status, final text, in this order."""
    failure = seen.failure or _complaint(seen, finished, has_final_event=has_final_event)
    status, detail = _status(seen, finished, failure, has_final_event=has_final_event)
    ends = failure is not None and status == "rate_limited"
    return Outcome(
        status,
        one_line(detail),
        seen.text,
        seen.lines,
        seen.denials,
        seen.tokens,
        seen.usd,
        turns=seen.turns,
        session=seen.session,
        reset_at=_reset(failure, now) if failure is not None and ends else None,
    )


def _status(seen: Seen, finished: Finished, failure: Failure | None, *, has_final_event: bool) -> tuple[str, str]:
    code = finished.exit_code
    if code is None:
        return "unavailable", finished.problem or "it could not be started"
    # a failure of no known kind is what an agent says of being ended
    if finished.timed_out and (not seen.ended or (failure is not None and failure.kind == "unknown")):
        return "timeout", "it ran into its time limit"
    if failure is not None:
        return STATUS[failure.kind], failure.text
    last = seen.complaints[-1] if seen.complaints else ""
    if seen.ended:
        return _said(seen, "" if code == 0 or finished.lingered else f"exit status {code} after its final event")
    if code in {126, 127} and not seen.lines:
        return "unavailable", f"exit status {code}: {last}"
    if code < 0:
        return "crash", f"it died of signal {-code}: {last}"
    if code > 0:
        return "crash", f"exit status {code}: {last}"
    if has_final_event and not seen.denials:  # some end quietly once a tool was refused
        return "crash", "it ended without a final event"
    return _said(seen, "")


def _said(seen: Seen, detail: str) -> tuple[str, str]:
    """Read the honest way out in the last line of what the agent said."""
    lines = seen.text.rstrip().splitlines()
    last = lines[-1].strip() if lines else ""
    if last.startswith(BLOCKED_MARK):
        return "blocked", last.removeprefix(BLOCKED_MARK).strip() or "no reason given"
    return "ok", detail


def _complaint(seen: Seen, finished: Finished, *, has_final_event: bool) -> Failure | None:
    """Find the failure in error output, where the stream did not end and the exit status is no success."""
    if seen.ended or (finished.exit_code == 0 and not has_final_event):
        return None
    for line in reversed(seen.complaints):
        kind = kind_of_text(line)
        if kind in _TELLING:
            return Failure(str(kind), line)
    return None


def _reset(failure: Failure, now: float) -> float | None:
    if failure.reset_at is not None:
        return epoch(failure.reset_at, now)
    if failure.wait_s is not None:
        return now + failure.wait_s
    return reset_at(failure.text, now)
