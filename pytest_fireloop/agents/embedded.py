"""The embedded agent `repair`, called like any other: a process of its own in the tree."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fireloop.agents.agent import Call, Invocation
from pytest_fireloop.agents.command import PlainReader


@dataclass(frozen=True, slots=True)
class RepairAgent:
    """Needs no model and no network, so it is always there."""

    name: str = "repair"
    automatic: bool = True
    takes_model: bool = False
    metered: bool = False

    def missing(self, environment: Mapping[str, str]) -> str | None:  # noqa: ARG002 - the protocol asks
        """Return None: it is part of this package."""
        return None

    def invocation(self, call: Call) -> Invocation:
        """Return the command of a call; `-P` keeps the tree's modules from shadowing ours."""
        words = (sys.executable, "-P", "-m", "pytest_fireloop.agents.repair", *call.extra)
        return Invocation(words, call.prompt.encode("utf-8", "replace"), {"FIRELOOP_TIME_S": f"{call.timeout_s:g}"})

    def reader(self) -> PlainReader:
        """Return what reads the output of one call."""
        return PlainReader()
