"""What `pytest --fire-loop` prints below the tests; plain ASCII, for any terminal."""

from __future__ import annotations

import time

from pytest_fireloop.act.referee import Judged
from pytest_fireloop.judge.judge import Admission, Decision
from pytest_fireloop.observe.text import one_line
from pytest_fireloop.show.evidence import sentence

SHOWN = 5


def section_lines(judged: Judged) -> list[str]:
    """Return the section: delta, changes, score, health, circuit, findings, and on a trip what would close it."""
    lines = []
    if judged.delta is not None:
        parts = [f"{len(getattr(judged.delta, name))} {name.replace('_', ' ')}" for name in judged.delta.__slots__]
        lines.append("delta to the run before: " + ", ".join(part for part in parts if not part.startswith("0 ")))
        if all(part.startswith("0 ") for part in parts):
            lines[-1] = "delta to the run before: none"
    if judged.changes is not None:
        ratio = judged.changes.test_fix_ratio
        share = "" if ratio is None else f", {ratio:.0%} of the lines in tests"
        lines.append(f"changes: {len(judged.changes.files)} files{share}")
    if judged.decision is not None:
        said = judged.decision
        window = "" if said.window_score is None else f" (last three {said.window_score:+d})"
        lines.append(
            f"iteration {judged.iteration} of loop {judged.loop_id}: score {said.score:+d}{window}, "
            f"health {said.health}, {said.level}, circuit {said.circuit.state}"
        )
    elif judged.loop_id is not None:
        lines.append(f"a loop begins: {judged.loop_id}")
    lines += [
        f"{finding.severity}: {finding.kind} in {finding.path}:{finding.line or ''} {finding.detail}"
        for finding in judged.findings[:SHOWN]
    ]
    if judged.exit_code == 13:
        why = judged.record.incomplete_reason or "tests or configuration were changed"
        lines.append(f"exit code 13: this green cannot be believed: {why}")
    if judged.decision is not None and judged.decision.stop is not None:
        lines += trip_lines(judged.decision)
    return [one_line(line, 300) for line in lines]


def trip_lines(decision: Decision) -> list[str]:
    """Return the rule that opened the circuit, its evidence, and what would close it."""
    lines = [f"CIRCUIT OPEN: {decision.stop}"]
    lines += [f"evidence: {sentence(evidence)}" for evidence in decision.evidence]
    lines.append(f"one probe is allowed {_when(decision.circuit.retry_at)}; a positive score closes the circuit")
    lines.append("`fireloop reset` begins a new loop, --fire-loop-force runs all the same")
    return lines


def refusal_text(admission: Admission) -> str:
    """Return why no test ran, when a probe is allowed, and what would close the circuit."""
    return (
        f"fire-loop: the circuit is open ({admission.reason}); no test was run. One probe is allowed "
        f"{_when(admission.retry_at)} and closes it with a positive score; `fireloop reset` begins a new loop."
    )


def _when(moment: float | None) -> str:
    return "later" if moment is None else time.strftime("from %Y-%m-%d %H:%M:%S", time.localtime(moment))
