"""What `pytest --fire-loop` prints below the tests; plain ASCII, for any terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fireloop.observe.text import one_line, plural

if TYPE_CHECKING:
    from pytest_fireloop.act.referee import Judged
    from pytest_fireloop.judge.decision import Decision
    from pytest_fireloop.observe.delta import Delta

SHOWN = 5
FIRST = "the first run here: there is none to compare it with"


def section_lines(judged: Judged) -> list[str]:
    """Return the section: delta, changes, score, health, circuit, findings, and on a trip what would close it."""
    lines = [FIRST] if judged.delta is None else delta_lines(judged.delta)
    if judged.changes is not None:
        ratio = judged.changes.test_fix_ratio
        share = "" if ratio is None else f", {ratio:.0%} of the lines in tests"
        lines.append(f"changes: {plural(len(judged.changes.files), 'file')}{share}")
    if judged.coverage is not None:
        moved = judged.coverage.get("delta")
        lines.append(f"coverage: {judged.coverage['total']:g} %" + ("" if moved is None else f" ({moved:+g})"))
    if judged.decision is not None:
        from pytest_fireloop.show.health import health_and_level

        said = judged.decision
        window = "" if said.window_score is None else f" (last three {said.window_score:+d})"
        lines.append(
            f"iteration {judged.iteration} of loop {judged.loop_id}: score {said.score:+d}{window}, "
            f"{health_and_level(said.to_json())}, "
            f"circuit {said.circuit.state}"
        )
    elif judged.loop_id is not None:
        lines.append(f"a loop begins: {judged.loop_id}")
    lines += [
        f"{finding.severity}: {finding.kind} in {finding.path}:{finding.line or ''} {finding.detail}"
        for finding in judged.findings[:SHOWN]
    ]
    if judged.decision is not None and judged.decision.stop is not None:
        lines += trip_lines(judged.decision)
    return [one_line(line, 300) for line in lines]


def delta_lines(delta: Delta) -> list[str]:
    """Return the sizes of the delta's parts in one line, then the first tests of each part."""
    parts = {name.replace("_", " "): nodes for name, nodes in delta.to_json().items() if nodes}
    sizes = ", ".join(f"{len(nodes)} {name}" for name, nodes in parts.items())
    more = {name: len(nodes) - SHOWN for name, nodes in parts.items()}
    return [f"delta to the run before: {sizes or 'none'}"] + [
        f"  {name}: {', '.join(nodes[:SHOWN])}" + (f" and {more[name]} more" if more[name] > 0 else "")
        for name, nodes in parts.items()
    ]


def trip_lines(decision: Decision) -> list[str]:
    """Return the rule that opened the circuit, its evidence, and what would close it."""
    from pytest_fireloop.show.evidence import sentence
    from pytest_fireloop.show.refusal import when

    lines = [f"CIRCUIT OPEN: {decision.stop}"]
    lines += [f"evidence: {sentence(evidence)}" for evidence in decision.evidence]
    lines.append(f"one probe is allowed {when(decision.circuit.retry_at)}; a positive score closes the circuit")
    lines.append("`fireloop reset` begins a new loop, --fire-loop-force runs all the same")
    return lines


def headline(judged: Judged) -> str | None:
    """Return the one line to say where there is no room for a section, or None when nothing happened."""
    if judged.tripped and judged.decision is not None:
        return f"exit code 10: the circuit is open: {judged.decision.stop}"
    return None
