"""Any command as the agent, and how agents are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fireloop.act.process import Finished
from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.command import CommandAgent, CommandError, plain_outcome
from pytest_fireloop.agents.registry import choose_agent, plugin_manager

CALL = Call(Path("/tree"), Path("/scratch"), "fix; $HOME `x`", {}, 10.0, ("--more",))


@pytest.mark.parametrize(
    ("command", "argv", "given"),
    [
        ("my-agent -p", ("my-agent", "-p", "--more"), b"fix; $HOME `x`"),
        ("my-agent -p {prompt}", ("my-agent", "-p", "fix; $HOME `x`", "--more"), None),
        ("my-agent --file={prompt_file}", ("my-agent", "--file=/scratch/prompt.md", "--more"), None),
        ("'my agent' \"a b\"", ("my agent", "a b", "--more"), b"fix; $HOME `x`"),
    ],
)
def test_the_prompt_goes_where_it_is_asked_for(command: str, argv: tuple[str, ...], given: bytes | None) -> None:
    invocation = CommandAgent.parse(command).invocation(CALL)
    assert (invocation.argv, invocation.standard_input) == (argv, given)


@pytest.mark.parametrize("text", ["", "  ", "'open"])
def test_what_is_no_command(text: str) -> None:
    with pytest.raises(CommandError, match="--agent"):
        CommandAgent.parse(text)


@pytest.mark.parametrize(
    ("finished", "text", "status"),
    [
        (Finished(0), "429 rate limit exceeded\npermission denied\nDONE", "ok"),
        (Finished(0), "", "ok"),
        (Finished(0), "thinking\nFIRELOOP-BLOCKED: the key is missing\n\n", "blocked"),
        (Finished(0), "FIRELOOP-BLOCKED: quoted\nand then more", "ok"),
        (Finished(3), "Traceback", "crash"),
        (Finished(-9), "", "crash"),
        (Finished(127), "not found", "unavailable"),
        (Finished(None, problem="cannot start"), "", "unavailable"),
        (Finished(-15, timed_out=True), "FIRELOOP-BLOCKED: x", "timeout"),
    ],
)
def test_outcomes(finished: Finished, text: str, status: str) -> None:
    assert plain_outcome(finished, text).status == status


def test_auto_takes_an_installed_agent_else_the_embedded_one() -> None:
    import pluggy

    manager = plugin_manager()
    assert choose_agent("auto", manager, {}).name == "repair"

    class Others:
        @staticmethod
        @pluggy.HookimplMarker("fireloop")
        def fireloop_agents() -> list[CommandAgent]:
            return [CommandAgent("absent", ("no-such-agent",)), CommandAgent("shell", ("sh",))]

    manager.register(Others())
    environment = {"PATH": "/bin:/usr/bin"}
    assert choose_agent("auto", manager, environment).name == "shell"
    assert choose_agent("absent", manager, environment).name == "absent"
    assert choose_agent("repair", manager, environment).name == "repair"
    assert choose_agent("echo x", manager, environment).name == "echo"
