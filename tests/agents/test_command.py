"""Any command as the agent, and how agents are found."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fireloop.act.process import Finished
from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.command import CommandAgent, CommandError, PlainReader
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
    reader = PlainReader()
    for line in text.splitlines():
        reader.line(line, error=False)
    assert reader.outcome(finished, 0.0).status == status


def test_error_output_explains_and_decides_nothing() -> None:
    reader = PlainReader()
    reader.line("FIRELOOP-BLOCKED: the key is missing", error=False)
    reader.line("warning: slow\x1b[0m", error=True)
    assert reader.outcome(Finished(0), 0.0).status == "blocked"
    reader.line("working", error=False)
    outcome = reader.outcome(Finished(3), 0.0)
    assert (outcome.status, outcome.detail) == ("crash", "exit status 3: warning: slow")
    assert outcome.output_lines == 3


def test_of_long_output_the_end_is_kept() -> None:
    reader = PlainReader()
    for number in range(50_000):
        reader.line(f"line {number}", error=False)
    reader.line("x" * 1_000_000, error=False)
    outcome = reader.outcome(Finished(0), 0.0)
    assert outcome.output_lines == 50_001
    assert len(outcome.final_text) <= 200_000


@pytest.mark.parametrize("word", ["promt", "prompts", "PROMPT", "prompt-file", "promptfile", "pormpt", "Model"])
def test_a_misspelt_place_is_named_with_the_known_ones(word: str) -> None:
    with pytest.raises(CommandError) as caught:
        CommandAgent.parse(f"my-agent --text={{{word}}}")
    assert str(caught.value) == (
        f"--agent: {{{word}}} is nothing that is filled in; known are {{prompt}}, {{prompt_file}}, {{model}}"
    )


@pytest.mark.parametrize(
    "word",
    [
        '{"prompt": 1, "model": {"mode": {}}}',
        "awk {print} {mode} {module} {} {0} {file}",
        "${PROMPT} ${MODEL}",
        "{ prompts; }",
    ],
)
def test_other_braces_are_the_commands_own(word: str) -> None:
    agent = CommandAgent.parse(shlex.join(["my-agent", word]))
    assert agent.invocation(CALL).argv == ("my-agent", word, "--more")


def test_a_model_goes_where_it_is_asked_for() -> None:
    agent = CommandAgent.parse("my-agent --model={model} {prompt}")
    assert agent.takes_model
    call = replace(CALL, model="a b", prompt="say {model}")
    assert agent.invocation(call).argv == ("my-agent", "--model=a b", "say {model}", "--more")
    assert not CommandAgent.parse("my-agent").takes_model


def test_auto_takes_an_installed_agent_else_the_embedded_one() -> None:
    import pluggy

    manager = plugin_manager(pytest.fail)
    assert choose_agent("auto", manager, {"PATH": ""}).name == "repair"

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
