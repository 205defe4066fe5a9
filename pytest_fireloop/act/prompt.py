"""The prompt of one iteration: task, rules, what was tried, failures by cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fireloop.agents.agent import BLOCKED_MARK
from pytest_fireloop.observe.causes import group_by_cause
from pytest_fireloop.observe.record import RunRecord
from pytest_fireloop.observe.text import clean, fenced, one_line, plural
from pytest_fireloop.show.environments import environment_lines

RULES = """\
- Repair the product code. The tests are run by a referee from the copies they had at the start: skipping, deleting or \
weakening a test, changing pytest's configuration or detecting the test run wins nothing: the tests of the start decide, \
and a green run with such an edit in it is rejected. An edit of that kind stays in the tree until you take it back.
- Look at what was tried before; do not repeat what did not help.
- Make one coherent change at a time and leave the tree in a state that imports.
- Nothing you say ends the work: only the referee's own run of the tests does.
- If a test contradicts its specification, or only a person can help (credentials, a missing service), change nothing \
more and end your answer with one line: `{mark} <reason>`."""
MAX_GROUPS = 12
MAX_NODES = 8
EXCERPT_LINES = 14


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one earlier iteration changed, and what came of it."""

    iteration: int
    files: tuple[str, ...]
    result: str
    findings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return it as JSON, less its number."""
        return {"files": list(self.files), "result": self.result, "findings": list(self.findings)}


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """All that a prompt is made from."""

    task: str
    iteration: int
    max_iterations: int
    record: RunRecord
    attempts: Sequence[Attempt] = ()
    strategy: str | None = None
    promise: str | None = None
    few_calls: bool = False


def compose(facts: PromptFacts) -> str:
    """Return the prompt as Markdown; text of tests is cleaned, capped and fenced."""
    parts = [f"# Task\n\n{facts.task.strip()}", f"# Rules\n\n{RULES.format(mark=BLOCKED_MARK)}"]
    if facts.promise is not None:
        parts[-1] += f"\n- When, and only when, the task is complete, say {facts.promise} on a line of its own."
    parts.append(_state(facts))
    environments = facts.record.extra.get("environments")
    if environments:
        parts.append("# Environments\n\n" + "\n".join(f"- {line}" for line in environment_lines(environments)))
    if facts.attempts:
        parts.append(_attempts(facts.attempts))
    if facts.strategy:
        parts.append(f"# Change the approach\n\nThe last iterations led nowhere. {facts.strategy}")
    parts.append(_failures(facts.record))
    return "\n\n".join(parts) + "\n"


def _state(facts: PromptFacts) -> str:
    counts = ", ".join(f"{number} {outcome}" for outcome, number in facts.record.counts.items() if number)
    lines = [
        f"# State\n\nIteration {facts.iteration} of at most {facts.max_iterations}. Last run: {counts or 'no results'}."
    ]
    if facts.few_calls:
        lines.append("Few calls are left in this hour: take the step that brings most first.")
    if facts.record.incomplete_reason:
        lines.append(f"The run was incomplete: {one_line(facts.record.incomplete_reason)}.")
    if facts.record.in_flight:
        lines.append(f"It ended in {one_line(facts.record.in_flight)}.")
    return "\n".join(lines)


def _attempts(attempts: Sequence[Attempt]) -> str:
    lines = ["# What was tried"]
    for attempt in attempts[-5:]:
        files = ", ".join(one_line(path, 120) for path in attempt.files[:10]) or "no file"
        # the line of an iteration begins with its number, which stands here already
        result = attempt.result.removeprefix(f"iteration {attempt.iteration}: ")
        lines.append(f"\n- Iteration {attempt.iteration} changed {files}: {one_line(result, 300)}")
        lines += [f"\n  - Rejected, undo it: {one_line(finding, 300)}" for finding in attempt.findings[:10]]
    return "".join(lines[:1]) + "\n" + "".join(lines[1:])


def _failures(record: RunRecord) -> str:
    groups = group_by_cause(record)
    if not groups:
        return "# Failures\n\nNo test failed in the last run."
    tests = sum(len(group.nodeids) for group in groups)
    shares = "shares" if len(groups) == 1 else "share"
    parts = [f"# Failures: {tests} in {plural(len(groups), 'group')} that {shares} a cause"]
    for number, group in enumerate(groups[:MAX_GROUPS], start=1):
        failure = group.representative
        title = one_line(f"{failure.exception or 'Error'} at {failure.location}", 160)
        nodes = "\n".join(f"- {one_line(node)}" for node in group.nodeids[:MAX_NODES])
        if len(group.nodeids) > MAX_NODES:
            nodes += f"\n- and {len(group.nodeids) - MAX_NODES} more"
        excerpt = "\n".join(clean(failure.message).splitlines()[:EXCERPT_LINES])
        if failure.statement:
            excerpt = f"> {clean(failure.statement, 300)}\n{excerpt}"
        if len(failure.frames) > 1:
            excerpt += "\nvia " + " -> ".join(one_line(frame, 120) for frame in failure.frames[-4:])
        parts.append(f"## {number}. {title}\n\n{nodes}\n\n{fenced(excerpt)}")
    if len(groups) > MAX_GROUPS:
        parts.append(f"And {plural(len(groups) - MAX_GROUPS, 'more group')}.")
    return "\n\n".join(parts)
