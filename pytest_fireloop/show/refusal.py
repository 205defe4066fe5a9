"""Why `pytest --fire-loop` ran no test; imported before each run, so it imports little."""

from __future__ import annotations

import math
import time

from pytest_fireloop.judge.judge import Admission


def refusal_text(admission: Admission) -> str:
    """Return why no test ran, when a probe is allowed, and what would close the circuit."""
    if admission.under_way:
        return (
            f"fire-loop: the circuit is open ({admission.reason}); no test was run, for another process runs the one "
            "probe. Wait for its end."
        )
    return (
        f"fire-loop: the circuit is open ({admission.reason}); no test was run. One probe is allowed "
        f"{when(admission.retry_at)} and closes it with a positive score; `fireloop reset` begins a new loop."
    )


def waiting_text(admission: Admission, now: float) -> str:
    """Return why a loop of the runner does not go on, and what a person can do."""
    return (
        f"the circuit is open ({admission.reason}); `fireloop resume` goes on {due(admission.retry_at, now)} with one "
        "probe, `fireloop resume --wait` waits for it, and after `fireloop reset` it goes on at once"
    )


def due(moment: float | None, now: float) -> str:
    """Return from when on a probe is allowed, and how long that is."""
    return when(moment) if moment is None else f"{when(moment)} (in {max(1, math.ceil((moment - now) / 60))} min)"


def when(moment: float | None) -> str:
    """Return from when on a probe is allowed."""
    return "later" if moment is None else time.strftime("from %Y-%m-%d %H:%M:%S", time.localtime(moment))
