"""Why `pytest --fire-loop` ran no test; imported before each run, so it imports little."""

from __future__ import annotations

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


def when(moment: float | None) -> str:
    """Return from when on a probe is allowed."""
    return "later" if moment is None else time.strftime("from %Y-%m-%d %H:%M:%S", time.localtime(moment))
