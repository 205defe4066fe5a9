"""The hooks by which other packages add to fireloop; register in the entry-point group `fireloop`."""

from __future__ import annotations

from collections.abc import Sequence

import pluggy

from pytest_fireloop.agents.agent import Agent

hookspec = pluggy.HookspecMarker("fireloop")
hookimpl = pluggy.HookimplMarker("fireloop")


@hookspec
def fireloop_agents() -> Sequence[Agent]:  # type: ignore[empty-body]  # a hook's specification has no body
    """Return agents by name, in the order in which `--agent auto` should prefer them."""
