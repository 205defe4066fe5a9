"""A decision on a matrix, for the terminal and for the page of a job; what tests say is untrusted in both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_fireloop.judge.matrix import WORDS, EnvironmentDecision, MatrixDecision
from pytest_fireloop.observe.causes import CauseGroup, group_by_cause
from pytest_fireloop.observe.text import clean, fenced, one_line, plural
from pytest_fireloop.show.causes import cause_lines
from pytest_fireloop.show.summary import counts_line

NAME, SHOWN, GROUPS, EXCERPT = 40, 5, 10, 14
#: All that means something in Markdown or HTML.
SPECIAL = re.compile(r"[\\`*_{}\[\]()<>#+!|~&@:$-]")


def decision_lines(decision: MatrixDecision) -> Iterator[str]:
    """Return a line for each environment with what is new in it, the causes of all failures, and the decision."""
    for each in decision.environments:
        yield f"{one_line(each.name, NAME):<{NAME}}  {WORDS[each.verdict]:<10}  {one_line(each.reason, 300)}"
        for title, nodes in _news(each):
            more = f" and {len(nodes) - SHOWN} more" if len(nodes) > SHOWN else ""
            yield f"  {title}: {', '.join(one_line(node, 120) for node in nodes[:SHOWN])}{more}"
    groups = _groups(decision)
    if groups:
        yield from cause_lines(groups)
    past = decision.history
    if past is not None and past.loop_id is not None:
        yield one_line(f"loop {past.loop_id}, iteration {past.iteration}{_judged(decision)}", 300)
    yield from (f"attention: {text}" for text in _attention(decision))
    yield f"decision: {WORDS[decision.verdict]} (exit {decision.exit_code})"


def decision_markdown(decision: MatrixDecision) -> str:
    """Return the decision as Markdown for a job's page."""
    parts = [f"## Tests: {WORDS[decision.verdict]} (exit {decision.exit_code})"]
    past = decision.history
    if past is not None and past.loop_id is not None:
        parts.append(_escaped(f"Loop {past.loop_id}, iteration {past.iteration}{_judged(decision)}."))
    parts += [f"**Attention:** {_escaped(text)}" for text in _attention(decision)]
    rows = ["| environment | decision | tests | why |", "|---|---|---|---|"]
    for each in decision.environments:
        counts = counts_line(each.record.counts) if each.record else "no report"
        cells = (one_line(each.name, NAME), WORDS[each.verdict], counts, one_line(each.reason, 300))
        rows.append(f"| {' | '.join(map(_escaped, cells))} |")
    parts.append("\n".join(rows))
    news = [
        f"- {_escaped(f'{one_line(each.name, NAME)}, {title}')}: {', '.join(_escaped(one_line(node, 120)) for node in nodes[:SHOWN])}"
        + (f" and {len(nodes) - SHOWN} more" if len(nodes) > SHOWN else "")
        for each in decision.environments
        for title, nodes in _news(each)
    ]
    if news:
        parts.append("\n".join(news))
    groups = _groups(decision)
    if groups:
        parts.append(f"### Causes: {len(groups)}")
    for group in groups[:GROUPS]:
        failure = group.representative
        title = one_line(f"{len(group.nodeids)} x {failure.exception or 'Failure'} at {failure.location}", 200)
        nodes = "\n".join(f"- {_escaped(one_line(node))}" for node in group.nodeids[:SHOWN])
        if len(group.nodeids) > SHOWN:
            nodes += f"\n- and {len(group.nodeids) - SHOWN} more"
        excerpt = "\n".join(clean(failure.message).splitlines()[:EXCERPT])
        parts.append(f"**{_escaped(title)}**\n\n{nodes}\n\n{fenced(excerpt)}")
    if len(groups) > GROUPS:
        parts.append(f"And {len(groups) - GROUPS} more causes.")
    return "\n\n".join(parts) + "\n"


def _news(each: EnvironmentDecision) -> Iterator[tuple[str, Sequence[str]]]:
    rows: list[tuple[str, Sequence[str]]] = []
    if each.lost is not None:
        rows += [("red before, now skipped", each.lost.skipped), ("red before, now gone", each.lost.gone)]
    if each.delta is not None and each.record is not None:
        removed = each.delta.removed
        before = len(removed) + len(each.record.tests) - len(each.delta.added)
        rows += [
            ("newly failing", each.delta.newly_failing),
            ("newly passing", each.delta.newly_passing),
            (f"newly skipped, {len(each.delta.newly_skipped)}", each.delta.newly_skipped),
            (f"removed, {len(removed)} of {before}", removed),
        ]
    yield from ((title, nodes) for title, nodes in rows if nodes)
    if each.flaky:
        yield "passed after a failure", each.flaky


def _attention(decision: MatrixDecision) -> Iterator[str]:
    """Return what may look like a success and is none."""
    lost = [(each.name, len(each.lost)) for each in decision.environments if each.lost]
    if lost:
        total = sum(number for _, number in lost)
        where = ", ".join(f"{one_line(name, NAME)}: {number}" for name, number in lost)
        yield f"{plural(total, 'test')} red in the run before, now skipped or gone ({where})"
    past = decision.history
    if past is not None and past.left_out:
        yield f"red in the run before, now without a report: {', '.join(one_line(name, NAME) for name in past.left_out)}"
    if past is not None and past.loop_id is None and past.reason:
        yield one_line(past.reason, 600)


def _groups(decision: MatrixDecision) -> tuple[CauseGroup, ...]:
    return group_by_cause(*(each.record for each in decision.environments if each.record is not None))


def _judged(decision: MatrixDecision) -> str:
    past = decision.history
    if past is None or past.decision is None:
        return f": {past.reason}" if past is not None and past.reason else ""
    said = past.decision
    window = "" if said["window_score"] is None else f" (last three {said['window_score']:+d})"
    why = f"; {past.reason}" if past.reason else ""
    return f": score {said['score']:+d}{window}, health {said['health']}, circuit {said['circuit']['state']}{why}"


def _escaped(text: str) -> str:
    """Return text in which nothing is markup, a link, a mention or HTML."""
    return SPECIAL.sub(lambda found: f"&#{ord(found[0])};", text)
