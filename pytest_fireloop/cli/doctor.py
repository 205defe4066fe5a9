"""`fireloop doctor`: what is installed and what would be called."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_fireloop.act.interpreter import InterpreterError, find_interpreter
from pytest_fireloop.agents.agent import Agent
from pytest_fireloop.agents.installed import installed_version
from pytest_fireloop.agents.known_agent import KnownAgent
from pytest_fireloop.agents.registry import choose_agent, named_agents, plugin_manager
from pytest_fireloop.cli.tree import TreeState, parser
from pytest_fireloop.show.agent_call import command_line


def main(argv: Sequence[str]) -> int:
    """Print one line for each thing that a loop needs and return 0."""
    made = parser("doctor", "Say what is installed, what is missing, what would be called.", "fireloop doctor")
    made.add_argument("--python", metavar="PATH", help="the interpreter that runs the tests")
    options = made.parse_args(argv)
    state = TreeState(options.fire_loop_dir)
    manager = plugin_manager(print)
    print(f"git: {shutil.which('git') or 'missing; install it'}")
    print(
        f"platform: {sys.platform}" + ("" if sys.platform.startswith("linux") else "; orphaned processes are not seen")
    )
    try:
        found = find_interpreter(Path.cwd(), options.python, os.environ)
        print(f"tests run with: {found.path} ({found.python}, pytest {found.pytest}; from {found.origin})")
    except InterpreterError as error:
        print(f"tests run with: nothing: {error}")
    for name, agent in named_agents(manager).items():
        print(f"agent {name}: {_state(agent)}")
        print(f"  is called as: {command_line(agent)}")
    print(f"--agent auto calls: {choose_agent('auto', manager, os.environ).name}")
    print(f"state: {state.folder}")
    return 0


def _state(agent: Agent) -> str:
    """Say whether the agent is installed, and what its adapter was verified with."""
    missing = agent.missing(os.environ)
    if not isinstance(agent, KnownAgent):
        return missing or "ready"
    path = agent.found(os.environ)
    version = installed_version(path, agent.package) if path else None
    found = f"ready: {path}" + (f", version {version}" if version else "") if path else f"missing: {missing}"
    checked = f"verified with version {agent.verified}" if agent.verified else "unverified: made from documents alone"
    return f"{found}; {checked}"
