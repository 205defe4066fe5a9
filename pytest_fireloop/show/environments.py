"""What each environment of a matrix came to, for the prompt and for the end of a loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_fireloop.observe.text import one_line
from pytest_fireloop.show.summary import counts_line

SHOWN = 5


def environment_lines(environments: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Return a line for each environment, with what is red in it alone."""
    for name, said in environments.items():
        line = f"{one_line(name, 60)}: {'green' if said['green'] else 'red'}, {counts_line(said['counts'])}"
        if said["collection_errors"]:
            line += f", {said['collection_errors']} files cannot be collected"
        alone = said["red_only_here"]
        if alone:
            more = f" and {len(alone) - SHOWN} more" if len(alone) > SHOWN else ""
            line += f"; red only here: {', '.join(one_line(node, 120) for node in alone[:SHOWN])}{more}"
        yield line
