"""What a person needs to decide about a loop: what was done to tests and product, and why a green run was not believed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_fireloop.observe.text import one_line
from pytest_fireloop.show.summary import PLACES, counts_line

SHOWN = 12
WIDTH = 160
HEADS = {
    "test": "tests and their data",
    "configuration": "what configures the tests",
    "product": "product",
}


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """Return the report as lines: the outcome, the changed files, each finding once, what can be done."""
    lines = [f"loop {report['loop_id']}: {report['verdict'] or 'not ended'}, {report['iterations']} iterations"]
    lines += [f"  {name}: {one_line(str(report[name]), WIDTH)}" for name in ("task", "agent", "reason") if report[name]]
    if report["baseline"]:
        lines.append(f"  tests: {counts_line(report['baseline'])} -> {counts_line(report['final'])}")
    lines += ["", "changed since the start"]
    lines += _files(report["files"]) or ["  nothing"]
    lines += ["", "comparison with the start"]
    lines += _findings(report["findings"]) or [
        "  nothing was found that weakens a test" if report["compared"] else "  nothing was compared: no run was green"
    ]
    if report["rejected"]:
        lines += ["", "green runs that were not believed"]
        lines += [
            f"  {_times(each['iterations'])}{_place(each['where'])}: {one_line(each['reason'], 2 * WIDTH)}"
            for each in report["rejected"][:SHOWN]
        ]
        lines += _more(report["rejected"])
    if report["red_with_blockers"]:
        lines += ["", "red runs with edits for which no green run would be believed"]
        lines.append(f"  {_times(report['red_with_blockers'])}: see the comparison with the start")
    if report["next"]:
        lines += ["", "what you can do"]
        lines += [f"  {each['command']}\n      {each['what']}" for each in report["next"]]
    return lines


def _files(files: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    for kind, head in HEADS.items():
        own = [each for each in files if each["kind"] == kind]
        if own:
            lines.append(f"  {head}: {len(own)}")
            lines += [
                f"    {one_line(each['path'], WIDTH)} +{each['added']} -{each['removed']}" for each in own[:SHOWN]
            ]
            lines += _more(own, 4)
    return lines


def _findings(findings: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    for each in findings[: 2 * SHOWN]:
        place = f"{each['path']}:{each['line']}" if each["line"] else each["path"]
        when = _times(each["iterations"])
        lines.append(f"  {each['severity']:<8}{each['kind'].replace('_', ' ')}, {one_line(place, WIDTH)} ({when})")
        before, arrow, after = each["detail"].partition(" -> ")
        lines.append(f"      was: {one_line(before, WIDTH)}" if arrow else f"      {one_line(before, WIDTH)}")
        lines += [f"      now: {one_line(after, WIDTH)}"] if arrow else []
    return lines + _more(findings, shown=2 * SHOWN)


def _times(iterations: Sequence[int]) -> str:
    """Return iterations in words, three and more in a row as a range."""
    if len(iterations) == 1:
        return f"iteration {iterations[0]}"
    parts: list[str] = []
    # what grows by one keeps its distance to its place
    for _, run in itertools.groupby(enumerate(iterations), lambda pair: pair[1] - pair[0]):
        numbers = [str(number) for _, number in run]
        parts += [f"{numbers[0]} to {numbers[-1]}"] if len(numbers) > 2 else numbers
    return f"iterations {', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else f"iterations {parts[0]}"


def _place(where: str) -> str:
    return f" ({PLACES[where]})" if where in PLACES else ""


def _more(rows: Iterable[Any], indent: int = 2, *, shown: int = SHOWN) -> list[str]:
    left = len(list(rows)) - shown
    return [f"{' ' * indent}and {left} more; `--json` has all"] if left > 0 else []
