"""What a loop was asked to do."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fireloop.act.interpreter import Interpreter
from pytest_fireloop.agents.agent import Agent

if TYPE_CHECKING:
    from pytest_fireloop.act.own_command import OwnCommand


class SettingsError(ValueError):
    """A setting is unknown or has a wrong value; the message is one line that names it."""


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """All that one loop needs to know; times in seconds."""

    task: str
    tree: Path
    state: Path
    agent: Agent
    interpreter: Interpreter
    environment: Mapping[str, str]
    pytest_args: tuple[str, ...] = ()
    agent_args: tuple[str, ...] = ()
    model: str | None = None
    max_iterations: int = 50
    max_time_s: float = 8 * 3600.0
    max_calls_per_hour: int = 100
    max_cost_usd: float | None = None
    agent_timeout_s: float = 1800.0
    test_timeout_s: float = 1800.0
    cooldown_s: float = 1800.0
    profile: str = "balanced"
    circuit_breaker: bool = True
    completion_promise: str = "DONE"
    until: str = "green"
    test_edits: str = "review"
    allow_test_edits: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    wait: bool = False
    test_command: OwnCommand | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)


def project_settings(tree: Path, known: Mapping[str, str]) -> dict[str, Any]:
    """Read `[tool.fireloop]` of the tree's pyproject.toml; `known` maps each setting to its option's destination.

    Raises SettingsError for a file that is no TOML and for an unknown name.
    """
    path = tree / "pyproject.toml"
    if not path.is_file():
        return {}
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"cannot read {path.name!r}: {error}") from error
    tool = data.get("tool")
    table = tool.get("fireloop", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise SettingsError(f"[tool.fireloop] is no table but {table!r}")
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise SettingsError(f"[tool.fireloop] has no setting {unknown[0]!r}; known are {', '.join(sorted(known))}")
    return {known[name]: value for name, value in table.items()}
