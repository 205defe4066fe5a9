"""How known agents are called."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.builtin import KNOWN
from pytest_fireloop.agents.installed import installed_version
from pytest_fireloop.agents.known_agent import KnownAgent
from pytest_fireloop.agents.registry import choose_agent, named_agents, plugin_manager

CALL = Call(Path("/tree"), Path("/scratch"), "fix; $HOME `x`", {}, 10.0, ("--more",))
LONG = replace(CALL, prompt="x" * 300_000)
BYPASSES = {
    "--yolo",
    "-y",
    "--dangerously-skip-permissions",
    "--dangerously-allow-all",
    "--allow-all-tools",
    "yolo",
    "bypassPermissions",
}


@pytest.mark.parametrize("agent", KNOWN, ids=lambda agent: agent.name)
def test_a_prompt_of_any_length_reaches_the_agent(agent: KnownAgent) -> None:
    for call in (CALL, LONG):
        invocation = agent.invocation(call)
        assert max(map(len, invocation.argv)) <= 100 * 1024
        if invocation.standard_input is not None:
            assert invocation.standard_input == call.prompt.encode()
        else:
            told = " ".join(invocation.argv)
            assert call.prompt in told or "/scratch/prompt.md" in told
        assert "--more" in invocation.argv


@pytest.mark.parametrize("agent", KNOWN, ids=lambda agent: agent.name)
def test_no_agent_may_do_all_where_it_has_a_mode_between(agent: KnownAgent) -> None:
    words = set(agent.invocation(CALL).argv)
    assert not agent.edits_only or not words & BYPASSES


@pytest.mark.parametrize("agent", KNOWN, ids=lambda agent: agent.name)
def test_a_model_and_a_session_are_named_where_there_is_a_place(agent: KnownAgent) -> None:
    invocation = agent.invocation(replace(CALL, model="some-model", session="session-1"))
    told = [*invocation.argv, *invocation.environment.values()]
    assert ("some-model" in told) is agent.takes_model
    assert any("session-1" in word for word in told) is agent.continues


@pytest.mark.parametrize(
    ("name", "extra", "gone"),
    [
        ("claude", ("--dangerously-skip-permissions",), "acceptEdits"),
        ("claude", ("--permission-mode=plan",), "acceptEdits"),
        ("codex", ("-s", "read-only"), "workspace-write"),
        ("gemini", ("--yolo",), "auto_edit"),
        ("qwen", ("--approval-mode", "yolo"), "auto-edit"),
    ],
)
def test_the_users_own_mode_replaces_ours(name: str, extra: tuple[str, ...], gone: str) -> None:
    agent = next(each for each in KNOWN if each.name == name)
    assert gone in agent.invocation(CALL).argv
    words = agent.invocation(replace(CALL, extra=extra)).argv
    assert gone not in words
    assert set(extra) <= set(words)


def test_auto_takes_what_is_installed_in_our_order(tmp_path: Path) -> None:
    manager = plugin_manager(pytest.fail)
    for name in ("goose", "mini", "qwen", "codex"):
        assert choose_agent("auto", manager, {"PATH": str(tmp_path)}).name in {"repair", "qwen"}
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert choose_agent("auto", manager, {"PATH": str(tmp_path)}).name == "codex"
    assert list(named_agents(manager))[-1] == "repair"
    assert choose_agent("goose", manager, {"PATH": str(tmp_path)}).missing({"PATH": ""}) is not None


def test_a_version_is_read_and_never_asked_for(tmp_path: Path) -> None:
    scripts = tmp_path / "venv" / "bin"
    scripts.mkdir(parents=True)
    (tmp_path / "venv" / "lib" / "python3.11" / "site-packages" / "aider_chat-0.86.2.dist-info").mkdir(parents=True)
    (scripts / "aider").write_text("")
    assert installed_version(str(scripts / "aider"), "aider-chat") == "0.86.2"
    native = tmp_path / "versions" / "2.0.14"
    native.parent.mkdir()
    native.write_text("")
    assert installed_version(str(native), "claude") == "2.0.14"
    assert installed_version(str(tmp_path / "absent"), "x") is None
