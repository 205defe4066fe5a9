"""Output as it comes: lines, what a carriage return overwrites, and agents that do not end."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_fireloop.act import output
from pytest_fireloop.act.output import Lines
from pytest_fireloop.act.process import Finished, run_process


def cut(*pieces: bytes) -> list[bytes]:
    found: list[bytes] = []
    lines = Lines(found.append)
    for piece in pieces:
        lines.feed(piece)
    lines.close()
    return found


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ((b"a\nb\n",), [b"a", b"b"]),
        ((b"a\nb",), [b"a", b"b"]),
        ((b"a", b"b\n\nc"), [b"ab", b"", b"c"]),
        ((b"a\r\nb\r\n",), [b"a", b"b"]),
        ((b"a\r", b"\nb\r\n"), [b"a", b"b"]),
        ((b"1 %\r2 %\r3 %\n",), [b"3 %"]),
        ((b"1 %\r", b"2 %", b"\r3 %\r\n"), [b"3 %"]),
        ((b"1 %", b"\r", b"\r", b"\n"), [b"1 %"]),
        ((b"",), []),
    ],
)
def test_lines(pieces: tuple[bytes, ...], lines: list[bytes]) -> None:
    assert cut(*pieces) == lines


def test_a_long_line_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "LINE_LIMIT", 10)
    assert cut(b"x" * 8, b"y" * 8, b"\nshort\n") == [b"xxxxxxxxyy [... 6 bytes left out ...]", b"short"]


@dataclass
class Watcher:
    """Notes every line; delivered after `done`, hopeless after the second `again`."""

    lines: list[tuple[str, bool]] = field(default_factory=list)

    @property
    def delivered(self) -> bool:
        return bool(self.lines) and self.lines[-1] == ("done", False)

    @property
    def hopeless(self) -> bool:
        return self.lines.count(("again", False)) > 1

    def line(self, text: str, *, error: bool) -> None:
        self.lines.append((text[:100], error))
        if text == "fault":
            raise ValueError(text)


def run(tmp_path: Path, code: str, *, grace_s: float = 30.0, timeout_s: float = 60.0) -> tuple[Finished, Watcher]:
    watcher = Watcher()
    finished = run_process(
        [sys.executable, "-u", "-c", code],
        cwd=tmp_path,
        environment={"PATH": os.environ["PATH"]},
        output=tmp_path / "output.txt",
        timeout_s=timeout_s,
        watch=watcher,
        grace_s=grace_s,
    )
    return finished, watcher


def test_output_and_error_output_are_told_apart_and_kept_together(tmp_path: Path) -> None:
    finished, watcher = run(tmp_path, "import sys; print('a'); print('b', file=sys.stderr); print('c', end='')")
    assert finished.exit_code == 0
    assert sorted(watcher.lines) == [("a", False), ("b", True), ("c", False)]
    assert sorted((tmp_path / "output.txt").read_text().splitlines()) == ["a", "b", "c"]


def test_who_stays_after_its_last_word_is_ended(tmp_path: Path) -> None:
    finished, _ = run(tmp_path, "import time; print('done'); time.sleep(60)", grace_s=0.2)
    assert (finished.lingered, finished.timed_out, finished.hopeless) == (True, False, False)


def test_who_goes_on_after_its_last_word_is_left_alone(tmp_path: Path) -> None:
    code = "import time; print('done'); print('more'); time.sleep(1.5)"
    finished, _ = run(tmp_path, code, grace_s=0.5)
    assert (finished.lingered, finished.exit_code) == (False, 0)


def test_who_only_repeats_itself_is_ended(tmp_path: Path) -> None:
    code = "import time\nwhile True:\n    print('again')\n    time.sleep(0.01)"
    finished, _ = run(tmp_path, code)
    assert (finished.hopeless, finished.timed_out, finished.lingered) == (True, False, False)


def test_a_fault_of_the_reader_stops_nothing(tmp_path: Path) -> None:
    finished, watcher = run(tmp_path, "print('fault'); print('x' * 1_000_000); print('last')")
    assert finished.exit_code == 0
    assert watcher.lines[-1] == ("last", False)


def test_much_output_costs_little_memory(tmp_path: Path) -> None:
    code = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from pathlib import Path
from pytest_fireloop.act.agent_call import call_agent
from pytest_fireloop.agents.agent import Call
from pytest_fireloop.agents.builtin import CODEX
from dataclasses import replace
agent = replace(CODEX, program=sys.executable, words=lambda call: ("agent.py",), stdin=False)
call = Call(Path.cwd(), Path.cwd(), "", {{"PATH": ""}}, 60.0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
outcome, _ = call_agent(agent, call, Path("output.txt"))
print(outcome.status, outcome.tokens, outcome.permission_denials, outcome.output_lines)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    declined = '{"type":"item.completed","item":{"type":"command_execution","status":"declined"}}'
    (tmp_path / "agent.py").write_text(
        f"print('{declined}')\n"
        'for _ in range(17_000):\n    print(\'{"type":"noise","text":"\' + \'x\' * 6_000 + \'"}\')\n'
        "print('x' * 50_000_000)\n"
        'print(\'{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":1}}\')\n'
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    said, grown = done.stdout.splitlines()
    assert said == "ok 6 1 17003"
    assert int(grown) < 50
    assert (tmp_path / "output.txt").stat().st_size < 21_000_000
