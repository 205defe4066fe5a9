"""Finds agents by name: those that other packages add, then ours."""

from __future__ import annotations

from collections.abc import Mapping

import pluggy

from pytest_fireloop.agents import builtin, hookspecs
from pytest_fireloop.agents.agent import Agent
from pytest_fireloop.agents.command import CommandAgent
from pytest_fireloop.agents.embedded import RepairAgent


def plugin_manager() -> pluggy.PluginManager:
    """Return a manager with our hooks and every installed package's entry points of the group `fireloop`."""
    manager = pluggy.PluginManager("fireloop")
    manager.add_hookspecs(hookspecs)
    manager.register(builtin)  # first, so that pluggy asks it last
    manager.load_setuptools_entrypoints("fireloop")
    return manager


def named_agents(manager: pluggy.PluginManager) -> dict[str, Agent]:
    """Return all agents that have a name, the embedded one last; an agent of another package replaces ours."""
    agents: dict[str, Agent] = {}
    for agent in (*(agent for group in manager.hook.fireloop_agents() for agent in group), RepairAgent()):
        agents.setdefault(agent.name, agent)
    return agents


def choose_agent(wanted: str, manager: pluggy.PluginManager, environment: Mapping[str, str]) -> Agent:
    """Return the agent asked for; `auto` takes the first installed one, else the embedded; raises CommandError."""
    agents = named_agents(manager)
    if wanted == "auto":
        return next(agent for agent in agents.values() if agent.automatic and agent.missing(environment) is None)
    return agents[wanted] if wanted in agents else CommandAgent.parse(wanted)
