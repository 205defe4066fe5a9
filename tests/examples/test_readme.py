"""The recipes of the README, each run as it stands there, with programs of the same names in the place of agents."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BROKEN = "def add(a, b):\n    return a - b\n"
TESTS = "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\ndef test_zero():\n    assert calc.add(0, 0) == 0\n"
#: Mends the product at once, or with `--slowly` in two calls.
AGENT = """\
import pathlib, sys
path = pathlib.Path("calc.py")
text = path.read_text()
if "--version" in sys.argv:
    print("1.0.0")
elif "--slowly" in sys.argv and "a - b" in text:
    path.write_text(text.replace("a - b", "a * b"))
else:
    path.write_text(text.replace("a - b", "a + b").replace("a * b", "a + b"))
"""
MAKE = "import pytest, sys; sys.exit(pytest.main(['-q', '--junitxml=build/junit/all.xml']))"
TOX_INI = """\
[tox]
env_list = one, two
no_package = true
[testenv]
allowlist_externals = *
commands = pytest {posargs}
"""


def recipes() -> dict[str, list[str]]:
    """Return the blocks of code below each bold beginning of the chapter of recipes."""
    chapter = README.partition("\n## Recipes\n")[2].partition("\n## ")[0]
    found: dict[str, list[str]] = {}
    for part in re.split(r"^\*\*", chapter, flags=re.MULTILINE)[1:]:
        title = " ".join(part.partition("**")[0].split()).rstrip(".")
        blocks = re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", part, flags=re.MULTILINE)
        found[title] = ["\n".join(line.removeprefix("    ") for line in block.splitlines()) for block in blocks]
    return found


RECIPES = recipes()


def commands(block: str) -> list[str]:
    """Return the commands of a block; one that goes on in the next line, or a loop of the shell, is one."""
    if "while " in block:
        return [block]
    return [line for line in block.replace("\\\n", " ").splitlines() if line.strip()]


class Desk:
    """A project in a repository, and a PATH on which agents and tools lie."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.tools = folder / "project", folder / "tools"
        for made in (self.tree / "tests" / "auth", self.tools, folder / "venv" / "bin"):
            made.mkdir(parents=True)
        agent = folder / "agent.py"
        agent.write_text(AGENT)
        tools = {
            "python": "",
            "pytest": "-m pytest",
            "tox": "-m tox",
            "fireloop": "-m pytest_fireloop.cli.fireloop",
            "fireloop-test": "-m pytest_fireloop.cli.fireloop_test",
            "make": f'-c "{MAKE}"',
            **dict.fromkeys(("my-agent", "codex", "claude"), str(agent)),
        }
        for name, words in tools.items():
            self._tool(self.tools / name, words)
        self._tool(folder / "venv" / "bin" / "python", "")
        (self.tree / "conftest.py").write_text("")
        (self.tree / "tests" / "auth" / "test_calc.py").write_text(TESTS)
        (self.tree / "tox.ini").write_text(TOX_INI)
        (self.tree / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
        (self.tree / ".gitignore").write_text(".cache/\n.tox/\n")
        self.break_again()
        for step in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
            identity = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
            subprocess.run(["git", *identity, *step], cwd=self.tree, check=True, capture_output=True)

    def _tool(self, path: Path, words: str) -> None:
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        path.chmod(0o755)

    def break_again(self) -> None:
        (self.tree / "calc.py").write_text(BROKEN)

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.tools}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.tree, env=environment, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        print(command, done.returncode, done.stdout, done.stderr, sep="\n")
        return done

    def mended(self) -> bool:
        return "a + b" in (self.tree / "calc.py").read_text()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    return Desk(tmp_path)


def loops(desk: Desk, blocks: list[str]) -> None:
    """Each loop of a recipe starts from the bug, and mends it."""
    for block in blocks:
        for command in commands(block):
            if command.startswith("fireloop-test"):
                desk.break_again()
            assert desk.run(command).returncode == 0, command
            assert desk.mended() or command.startswith("fireloop "), command


def known_agent(desk: Desk, blocks: list[str]) -> None:
    loops(desk, blocks)


def another_agent(desk: Desk, blocks: list[str]) -> None:
    first, look, guard, again = blocks
    loops(desk, [first])
    for command in commands(look):
        assert desk.run(command).returncode == 0, command
    assert (desk.tree / "calc.py").read_text() == BROKEN
    assert desk.run(guard).returncode == 0
    (desk.tree / "AGENTS.md").write_text("Ask before you remove anything.\n")
    assert desk.run(guard).returncode == 11
    slow = 'fireloop-test --agent "my-agent --slowly" --max-iterations 1 "fix failing auth tests"'
    assert desk.run(slow).returncode == 1
    assert desk.run(again).returncode == 0
    assert desk.mended()


def own_loop(desk: Desk, blocks: list[str]) -> None:
    (block,) = blocks
    assert desk.run(f'{block}\nexit "$code"').returncode == 0
    assert desk.mended()


def own_command(desk: Desk, blocks: list[str]) -> None:
    loops(desk, blocks)


def matrix(desk: Desk, blocks: list[str]) -> None:
    (desk.tree / ".tox").mkdir()
    for name in ("py311", "py312"):
        desk.run(f"pytest tests/auth -k zero --junitxml=.tox/junit.{name}.xml")
    for block in blocks:
        for command in commands(block):
            assert desk.run(command).returncode == 0, command
    assert "Tests: green" in (desk.tree / "page.md").read_text()
    desk.run("pytest --junitxml=.tox/junit.py312.xml")
    assert [desk.run(commands(block)[0]).returncode for block in blocks] == [1, 1, 0]


def noise(desk: Desk, blocks: list[str]) -> None:
    (block,) = blocks
    test = "import pathlib\n\n\ndef test_it():\n    raise OSError(pathlib.Path('ticket').read_text())\n"
    (desk.tree / "test_noise.py").write_text(test)
    for text, same in (("", False), (f"import pytest\n\n\n{block}\n", True)):
        (desk.tree / "conftest.py").write_text(text)
        found = set()
        for ticket in ("TICKET-17", "TICKET-4711"):
            (desk.tree / "ticket").write_text(f"{ticket} is open")
            desk.run("pytest test_noise.py --fire-loop-record=../record.json")
            found.add(json.loads((desk.tree.parent / "record.json").read_text())["tests"][0]["signature"])
        assert len(found) == (1 if same else 2)


def machine(desk: Desk, blocks: list[str]) -> None:
    loops(desk, blocks)
    summary = json.loads((desk.tree.parent / "summary.json").read_text())
    assert (summary["schema"], summary["verdict"]) == ("fireloop.loop/1", "green")


def settings(desk: Desk, blocks: list[str]) -> None:
    (block,) = blocks
    (desk.tree / "pyproject.toml").write_text(block)
    done = desk.run('fireloop-test "fix failing auth tests"')
    assert (done.returncode, desk.mended()) == (0, True)
    assert "agent my-agent" in done.stdout + done.stderr


KINDS: dict[str, Callable[[Desk, list[str]], None]] = {
    "You use a known coding agent": known_agent,
    "Your agent is another one": another_agent,
    "You have a loop of your own": own_loop,
    "Your project's tests run in another environment": loops,
    "Your tests run by tox, nox or make": own_command,
    "You maintain CI": matrix,
    "Your failures hold noise of your own": noise,
    "You pay for each call": loops,
    "A script reads the result": machine,
    "Settings for a project": settings,
}


def test_each_recipe_is_run() -> None:
    assert {title for title, blocks in RECIPES.items() if blocks} == set(KINDS)


@pytest.mark.long
@pytest.mark.parametrize("title", KINDS)
def test_recipe(desk: Desk, title: str) -> None:
    KINDS[title](desk, RECIPES[title])
