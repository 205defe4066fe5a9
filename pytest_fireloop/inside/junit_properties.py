"""What the referee found, as properties of the suite in pytest's own JUnit report."""

from __future__ import annotations

from typing import Any

PREFIX = "fireloop."
SCORES = ("score", "window_score", "health", "level")


def add(config: Any, found: dict[str, Any]) -> None:
    """Add the properties where a JUnit report is being written; `found` is what the record holds beside the tests."""
    try:
        from _pytest.junitxml import xml_key

        report = config.stash.get(xml_key, None)
    except (ImportError, AttributeError):
        return
    if report is None:
        return
    for name, value in properties(found):
        report.add_global_property(name, value)


def properties(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return names and values: ids of the run and the loop, sizes of the delta, changes, score, health and circuit."""
    parts = {name: found.get(name) or {} for name in ("delta", "changes", "coverage", "circuit")}
    rows = [(name, found.get(name)) for name in ("run_id", "loop_id", "iteration")]
    rows += [(name, len(nodes)) for name, nodes in parts["delta"].items()]
    rows.append(("test_fix_ratio", parts["changes"].get("test_fix_ratio")))
    rows.append(("coverage", parts["coverage"].get("total")))
    rows += [(name, found.get(name)) for name in SCORES]
    rows.append(("circuit", parts["circuit"].get("state")))
    return [(PREFIX + name, str(value)) for name, value in rows if value is not None]
