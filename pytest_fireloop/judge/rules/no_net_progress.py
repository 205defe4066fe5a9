"""The errors move, but the best count of passing tests is not beaten."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.rule import OURS, Rule, Threshold, View, one_step_earlier


def measure(view: View) -> Evidence | None:
    """Count the iterations since the best; a climb back from a large change is left alone as long as it climbs."""
    if view.gained(view.count("window")):
        return None
    numbers = {"passing": view.now.passing, "failing": len(view.now.failing)}
    limit = view.count("no_net_progress")
    return Evidence("no_net_progress", view.since_best, limit, view.last(view.since_best), numbers=numbers)


RULE = Rule(
    110,
    "no_net_progress",
    "{value:g} iterations without more passing tests than the best before",
    (Threshold("no_net_progress", balanced=8, strict=None, aggressive=6),),
    measure,
    f"{OURS}: no table of the seeds sees errors that move or take turns",
    one_step_earlier("no_net_progress"),
)
