"""Streams of each agent, recorded or written after its documents, and what they must come to."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_fireloop.act.process import Finished
from pytest_fireloop.agents.agent import Outcome
from pytest_fireloop.agents.builtin import KNOWN
from pytest_fireloop.agents.known_agent import KnownAgent
from pytest_fireloop.agents.seen import Seen

DATA = Path(__file__).parents[1] / "data" / "agents"
AGENTS = {agent.name: agent for agent in KNOWN}
#: 12:00 UTC.
NOW = 1_796_040_000.0


@dataclass
class Situation:
    """A stream: its lines, error output marked with `! `, and what is expected, as `name=value` in the heading."""

    agent: str
    name: str
    expected: dict[str, str]
    lines: list[str] = field(default_factory=list)

    @property
    def finished(self) -> Finished:
        exit_code, flag = self.expected["exit"], self.expected
        if exit_code in {"T", "H"}:
            return Finished(-15, timed_out=exit_code == "T", hopeless=exit_code == "H")
        return Finished(int(exit_code), lingered=flag.get("lingered") == "yes")

    def read(self) -> tuple[Outcome, Seen]:
        agent, seen = AGENTS[self.agent], Seen()
        for line in self.lines:
            error = line.startswith("! ")
            seen = agent.read(seen, line.removeprefix("! ") if error else line, error=error)
        return agent.outcome(seen, self.finished, NOW), seen


def situations() -> Iterator[Situation]:
    for path in sorted(DATA.glob("*.txt")):
        current: Situation | None = None
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line.startswith("== "):
                name, *pairs = line.removeprefix("== ").split("; ")
                current = Situation(path.stem, name, dict(pair.split("=", 1) for pair in pairs))
                yield current
            elif current is not None:
                current.lines.append(line)


SITUATIONS = list(situations())


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: f"{each.agent}: {each.name}")
def test_what_a_stream_comes_to(situation: Situation) -> None:
    outcome, seen = situation.read()
    found = {
        "status": outcome.status,
        "denials": str(outcome.permission_denials),
        "tokens": str(outcome.tokens),
        "usd": str(outcome.usd),
        "turns": str(outcome.turns),
        "session": str(outcome.session),
        "reset": str(None if outcome.reset_at is None else int(outcome.reset_at)),
        "hopeless": "yes" if seen.hopeless else "no",
        "delivered": "yes" if seen.ended else "no",
    }
    for name, value in situation.expected.items():
        if name in {"detail", "text"}:
            assert value in (outcome.detail if name == "detail" else outcome.final_text)
        elif name in found:
            assert (name, found[name]) == (name, value)
    if outcome.status != "rate_limited":
        assert outcome.reset_at is None
    assert "reset" in situation.expected or outcome.reset_at is None
    assert outcome.permission_denials == int(situation.expected.get("denials", "0"))
    assert outcome.detail.isprintable()


@pytest.mark.parametrize("agent", KNOWN, ids=lambda agent: agent.name)
def test_each_agent_has_its_main_situations(agent: KnownAgent) -> None:
    names = {each.name for each in SITUATIONS if each.agent == agent.name}
    assert {"fixed", "401", "quoted words"} <= names


TORN = (
    '{"type":"result","subtype":"success","is_error":false,"resu',
    "\ufffd\ufffd\0\x1b[31m",
    "null",
    "[1]",
    '"result"',
    "{}",
    '{"type":' + "[" * 50_000,
    '{"type":"result","usage":' + "9" * 5000 + "}",
    "x" * 1_000_000,
)


@pytest.mark.parametrize("agent", KNOWN, ids=lambda agent: agent.name)
def test_no_line_is_too_odd(agent: KnownAgent) -> None:
    lines = [line.removeprefix("! ") for each in SITUATIONS if each.agent == agent.name for line in each.lines]
    seen = Seen()
    for line in (*TORN, *lines):
        for error in (False, True):
            seen = agent.read(seen, line, error=error)
        for cut in (len(line) // 3, len(line) // 2, len(line) - 1):
            seen = agent.read(seen, line[:cut])
    assert agent.outcome(seen, Finished(0), NOW).detail.isprintable()
