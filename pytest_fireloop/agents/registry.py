"""Finds agents by name: those that other packages add, then ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, distributions

import pluggy

from pytest_fireloop.agents import builtin, hookspecs
from pytest_fireloop.agents.agent import Agent
from pytest_fireloop.agents.command import CommandAgent
from pytest_fireloop.agents.embedded import RepairAgent
from pytest_fireloop.observe.text import one_line

#: The group of entry points by which packages offer their hooks.
GROUP = "fireloop"
#: What an agent of another package has to have.
PARTS = ("name", "automatic", "takes_model", "metered", "missing", "invocation", "reader")


def plugin_manager(warn: Callable[[str], None]) -> pluggy.PluginManager:
    """Return a manager with our hooks and those of every installed package that can be used; each other one is told."""
    manager = pluggy.PluginManager("fireloop")
    manager.add_hookspecs(hookspecs)
    manager.register(builtin)  # first, so that pluggy asks it last
    for distribution, entry in _entry_points():
        if manager.has_plugin(entry.name):
            continue
        try:
            manager.register(entry.load(), name=entry.name)
            _look_at(entry.name, manager)
        except (Exception, SystemExit) as error:  # code of others: whatever is wrong with it, the rest works
            if manager.has_plugin(entry.name):
                manager.unregister(name=entry.name)
            warn(_left_out(distribution, entry, error))
    return manager


def named_agents(manager: pluggy.PluginManager) -> dict[str, Agent]:
    """Return all agents that have a name, the embedded one last; an agent of another package replaces ours."""
    agents: dict[str, Agent] = {}
    for agent in (*(agent for group in manager.hook.fireloop_agents() for agent in group), RepairAgent()):
        agents.setdefault(agent.name, agent)
    return agents


def _entry_points() -> Iterator[tuple[str, EntryPoint]]:
    for distribution in distributions():
        for entry in distribution.entry_points:
            if entry.group == GROUP:
                yield str(distribution.metadata["Name"]), entry


def _look_at(name: str, manager: pluggy.PluginManager) -> None:
    """Raise what is wrong with the agents that one plugin offers."""
    others = [plugin for other, plugin in manager.list_name_plugin() if other != name]
    for agents in manager.subset_hook_caller("fireloop_agents", others)():
        if not isinstance(agents, Iterable):
            raise TypeError(f"fireloop_agents returned one {type(agents).__name__}, not a list of agents")
        for agent in agents:
            missing = [part for part in PARTS if not hasattr(agent, part)]
            if missing:
                raise TypeError(f"fireloop_agents offers a {type(agent).__name__}, which has no {missing[0]!r}")


def _left_out(distribution: str, entry: EntryPoint, error: BaseException) -> str:
    what = f"the plugin {entry.name!r} of the package {distribution!r} is left out"
    return one_line(f"{what}: {type(error).__name__}: {error}; mend or uninstall it", 300)


def choose_agent(wanted: str, manager: pluggy.PluginManager, environment: Mapping[str, str]) -> Agent:
    """Return the agent asked for; `auto` takes the first installed one, else the embedded; raises CommandError."""
    agents = named_agents(manager)
    if wanted == "auto":
        return next(agent for agent in agents.values() if agent.automatic and agent.missing(environment) is None)
    return agents[wanted] if wanted in agents else CommandAgent.parse(wanted)
