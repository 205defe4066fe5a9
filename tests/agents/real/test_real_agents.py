"""Real agents, each through a whole loop against a scripted model: no mock of an agent, no network.

They run where FIRELOOP_REAL_AGENTS names the folder that `tox -e agents` installs them into.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from model_scripts import FIX, SCRIPTS, Script, script

from pytest_fireloop.act.agent_call import call_agent
from pytest_fireloop.agents.agent import Call, Outcome
from pytest_fireloop.agents.builtin import KNOWN

HERE = Path(__file__).parent
FOLDER = os.environ.get("FIRELOOP_REAL_AGENTS", "")
#: Agents in Python have an environment of their own each.
IN_PYTHON = ("aider", "mini", "openhands")
PLACES = [f"{FOLDER}/node_modules/node/bin", f"{FOLDER}/node_modules/.bin"]
PLACES += [f"{FOLDER}/{name}/bin" for name in IN_PYTHON]
#: Which agents can be asked for here.
NAMES = ("codex", "qwen", "gemini", "opencode", *IN_PYTHON)
PROJECT = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n",
}

pytestmark = pytest.mark.skipif(
    not FOLDER, reason="FIRELOOP_REAL_AGENTS names no folder with real agents; see `tox -e agents`"
)


def codex(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    provider = (
        f'model_providers.mock={{name="mock",base_url="{url}/v1",env_key="MOCK_KEY",wire_api="responses",'
        "request_max_retries=1,stream_max_retries=1}"
    )
    words = ["-c", "model_provider=mock", "-c", provider, "-c", "analytics.enabled=false"]
    return words, {"MODEL": "mock-model", "MOCK_KEY": "dummy"}


def qwen(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    environment = {"MODEL": "mock-model", "OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{url}/v1"}
    return ["--auth-type", "openai"], environment


def gemini(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    (home / ".gemini").mkdir()
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    return [], {"MODEL": "gemini-2.5-flash", "GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": url}


def opencode(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
        "models": {"mock-model": {"limit": {"context": 100_000, "output": 4096}}},
    }
    settings = {"autoupdate": False, "share": "disabled", "provider": {"mock": provider}}
    switches = ("MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD")
    environment = {f"OPENCODE_DISABLE_{name}": "1" for name in switches}
    return [], {"MODEL": "mock/mock-model", "OPENCODE_CONFIG_CONTENT": json.dumps(settings), **environment}


def aider(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    words = ["--edit-format", "diff", "--no-show-model-warnings", "--analytics-disable", "--map-tokens", "0", "calc.py"]
    environment = {"OPENAI_API_KEY": "dummy", "OPENAI_API_BASE": f"{url}/v1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return words, {"MODEL": "openai/mock-model", **environment}


def mini(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    environment = {"OPENAI_API_KEY": "dummy", "OPENAI_API_BASE": f"{url}/v1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    environment |= {"MSWEA_COST_TRACKING": "ignore_errors", "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "2"}
    return [], {"MODEL": "openai/mock-model", **environment}


def openhands(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    environment = {"LLM_API_KEY": "dummy", "LLM_BASE_URL": f"{url}/v1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return [], {"MODEL": "openai/mock-model", **environment}


PREPARE: dict[str, Callable[[str, Path], tuple[list[str], dict[str, str]]]] = {
    "codex": codex,
    "qwen": qwen,
    "gemini": gemini,
    "opencode": opencode,
    "aider": aider,
    "mini": mini,
    "openhands": openhands,
}


@dataclass(frozen=True)
class Case:
    """An agent against a script: the agent's status in each iteration, the verdict, and what else the loop is told."""

    agent: str
    script: str
    statuses: str
    verdict: str
    options: tuple[str, ...] = ("--max-iterations=1",)

    def __str__(self) -> str:
        return f"{self.agent}: {self.script}"


DEFAULT = ()
SOON = ("--max-iterations=1", "--agent-timeout=12s")
CASES = [
    *(Case(agent, "fix", "ok ok", "green", DEFAULT) for agent in NAMES),
    *(Case(agent, "401", "auth", "blocked", DEFAULT) for agent in NAMES),
    *(Case(agent, "400", "crash crash crash", "agent_unavailable", DEFAULT) for agent in ("codex", "qwen", "aider")),
    *(Case(agent, "400", "crash", "limit") for agent in ("gemini", "opencode", "mini", "openhands")),
    # the next call would be a minute later, after the end of the loop
    Case("codex", "429", "rate_limited", "limit", ("--max-time=40s",)),
    *(Case(agent, "429", "rate_limited", "limit") for agent in ("qwen", "opencode", "aider", "mini")),
    *(Case("codex", script, "rate_limited", "limit") for script in ("quota", "usage limit")),
    Case("mini", "quota", "rate_limited", "limit"),
    *(Case(agent, "overflow", "crash", "limit") for agent in NAMES),
    *(Case(agent, "500 twice", "ok", "green") for agent in NAMES),
    *(Case(agent, "cut", "ok", "green") for agent in NAMES if agent != "gemini"),
    Case("gemini", "cut", "error ok", "green", DEFAULT),
    *(Case(agent, "page", "error", "limit") for agent in ("codex", "qwen", "gemini", "opencode", "mini")),
    *(Case(agent, "empty", "ok", "limit") for agent in NAMES),
    Case("codex", "nothing", "ok ok ok", "circuit_open", DEFAULT),
    *(Case(agent, "quotes", "ok", "green") for agent in NAMES),
    *(Case(agent, "silence", "timeout", "limit", SOON) for agent in NAMES),
    *(Case(agent, "background", "ok", "green") for agent in ("codex", "opencode", "mini", "openhands")),
    *(Case(agent, "much", "ok", "green") for agent in ("codex", "opencode", "mini", "openhands")),
]
EXIT_CODES = {"green": 0, "limit": 1, "circuit_open": 10, "blocked": 11, "agent_unavailable": 14}


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Callable[[dict[str, Any]], str]]:
    """Start a scripted model and return its address."""
    started: list[subprocess.Popen[bytes]] = []

    def start(script: dict[str, Any]) -> str:
        (tmp_path / "script.json").write_text(json.dumps(script))
        port = tmp_path / "port"
        command = [sys.executable, str(HERE / "mock_model.py"), str(tmp_path / "script.json"), f"--port-file={port}"]
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        while not port.exists() or not port.read_text().strip():
            assert started[-1].poll() is None
            time.sleep(0.05)
        return f"http://127.0.0.1:{port.read_text().strip()}"

    yield start
    for process in started:
        process.terminate()
        process.wait()


def marked(mark: str) -> list[str]:
    """Return the command lines of living processes that carry a mark in their environment or among their arguments."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes()
                if mark.encode() in (folder / "environ").read_bytes() + words:
                    found.append(words.replace(b"\0", b" ").decode("utf-8", "replace"))
            except OSError:
                continue
    return found


@dataclass(frozen=True)
class Place:
    """A project, a home, and what an agent needs to reach a scripted model from there."""

    tree: Path
    home: Path
    words: list[str]
    environment: dict[str, str]
    asked: str


def prepare(agent: str, asked: Script, folder: Path, model: Callable[[dict[str, Any]], str]) -> Place:
    """Make the project and start the model; skips where the agent is not installed."""
    if not any((Path(place) / agent).exists() for place in PLACES):
        pytest.skip(f"{agent} is not installed in {FOLDER}")
    tree, home = folder / "project", folder / "home"
    tree.mkdir()
    home.mkdir()
    for name, text in PROJECT.items():
        (tree / name).write_text(text)
    rounds = {**asked, "workdir": str(tree)}
    if agent == "aider":
        rounds.pop("tools")  # it offers none
    words, environment = PREPARE[agent](model(rounds), home)
    name = environment.pop("MODEL")
    path = os.pathsep.join([*PLACES, "/usr/local/bin", "/usr/bin", "/bin"])
    return Place(tree, home, words, {"PATH": path, "HOME": str(home), **environment}, name)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_loop_with_a_real_agent(case: Case, tmp_path: Path, model: Callable[[dict[str, Any]], str]) -> None:
    place = prepare(case.agent, SCRIPTS[case.script], tmp_path, model)
    mark = uuid.uuid4().hex
    statuses, summary = loop(case.agent, place, mark, *case.options)
    assert (statuses, summary["verdict"]) == (case.statuses, case.verdict), summary["reason"]
    assert summary["exit_code"] == EXIT_CODES[case.verdict]
    assert marked(mark) == []
    assert sorted(each.name for each in place.tree.iterdir()) == [".fireloop", "calc.py", "test_calc.py"]


def loop(agent: str, place: Place, mark: str, *options: str) -> tuple[str, dict[str, Any]]:
    """Run a loop, its processes marked; return the agent's status in each iteration, and the summary."""
    command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", "fix the failing tests", "--json"]
    command += [f"--agent={agent}", f"--model={place.asked}", f"--python={sys.executable}", *options]
    command += [f"--agent-arg={word}" for word in place.words]
    environment = {**place.environment, "PYTHONPATH": str(HERE.parents[2]), "REAL_AGENT": mark}
    done = subprocess.run(
        command, cwd=place.tree, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    print(done.stderr)
    summary: dict[str, Any] = json.loads(done.stdout)
    assert summary["exit_code"] == done.returncode
    return " ".join(re.findall(r"^iteration \d+: agent (\w+)", done.stderr, re.MULTILINE)), summary


#: Leaves what tools leave: a job in the background, sessions of their own, a server, a process with a bare environment.
LEAVING = """#!/bin/sh
exec </dev/null >/dev/null 2>&1
{sleep} 9700 & echo $! >> {started}
setsid {sleep} 9700 & echo $! >> {started}
(setsid nohup sh -c 'trap "" TERM INT HUP; {sleep} 9700 & wait; wait' & echo $! >> {started})
python3 -c 'import http.server, sys; http.server.HTTPServer(("127.0.0.1", 0), None).serve_forever()' {mark} & echo $! >> {started}
env -i setsid {sleep} 9700 & echo $! >> {started}
sleep 0.5
"""
#: How an agent is brought to run a command, where not by a tool that it may use anyway.
ALLOWED = {"qwen": ["--yolo"], "gemini": ["--yolo"]}


@pytest.mark.parametrize("agent", NAMES)
def test_nothing_is_left_of_what_tools_left(agent: str, tmp_path: Path, model: Callable[[dict[str, Any]], str]) -> None:
    mark = uuid.uuid4().hex
    sleep, leaving, started = (tmp_path / name for name in (f"sleep-{mark}", "leaving.sh", "started"))
    sleep.symlink_to("/bin/sleep")
    leaving.write_text(LEAVING.format(sleep=sleep, started=started, mark=mark))
    steps = [] if agent == "aider" else [{"shell": f"sh {leaving}"}]
    place = prepare(agent, script([*steps, *FIX]), tmp_path, model)
    place.words.extend(ALLOWED.get(agent, ()))
    if agent == "aider":  # it has no tools, and runs what checks its edits
        place.words[:0] = ["--lint-cmd", f"python: sh {leaving}"]
    statuses, summary = loop(agent, place, mark, "--max-iterations=1")
    assert (statuses, summary["verdict"]) == ("ok", "green")
    assert len(started.read_text().split()) >= 5
    assert marked(mark) == []


def call(agent: str, place: Place, number: int, session: str | None = None) -> Outcome:
    """Call an agent once."""
    folder = place.home / f"call-{number}"
    folder.mkdir()
    (folder / "prompt.md").write_text("fix the failing tests")
    known = next(each for each in KNOWN if each.name == agent)
    made = Call(
        place.tree, folder, "fix the failing tests", place.environment, 60.0, tuple(place.words), place.asked, session
    )
    return call_agent(known, made, folder / "output.txt")[0]


@pytest.mark.parametrize("agent", ["gemini", "qwen", "opencode"])
def test_a_refused_tool_is_counted(agent: str, tmp_path: Path, model: Callable[[dict[str, Any]], str]) -> None:
    place = prepare(agent, SCRIPTS["background" if agent == "opencode" else "refused"], tmp_path, model)
    if agent == "opencode":
        settings = json.loads(place.environment["OPENCODE_CONFIG_CONTENT"])
        place.environment["OPENCODE_CONFIG_CONTENT"] = json.dumps({**settings, "permission": {"bash": "ask"}})
    outcome = call(agent, place, 1)
    assert (outcome.status, outcome.permission_denials) == ("ok", 1)


@pytest.mark.parametrize("agent", ["codex", "qwen", "gemini", "opencode", "openhands"])
def test_a_session_is_continued(agent: str, tmp_path: Path, model: Callable[[dict[str, Any]], str]) -> None:
    place = prepare(agent, SCRIPTS["fix"], tmp_path, model)
    first = call(agent, place, 1)
    second = call(agent, place, 2, first.session)
    assert (first.status, second.status) == ("ok", "ok")
    assert first.session == second.session
    assert first.session
    assert first.tokens == (None if agent == "openhands" else 360)
    assert "return a + b" in (place.tree / "calc.py").read_text()
