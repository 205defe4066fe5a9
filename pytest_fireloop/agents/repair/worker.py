"""One copy of the tree, and the server process that runs its tests."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import coverage

from pytest_fireloop.agents.repair.observation import Observation, read_events

_SERVER = Path(__file__).with_name("server.py")
_GRACE_S = 5.0
_PRELOAD_S = 30.0


@dataclass(frozen=True, slots=True)
class Request:
    """One run of pytest: its arguments, and the seconds that it may take."""

    arguments: tuple[str, ...]
    limit_s: float
    trace: bool = False
    warm: bool = False


class Worker:
    """Runs tests in `folder/tree`; the server is started when it is needed and again after it died.

    Without `fork` every run has a server of its own.
    """

    def __init__(self, python: Path, origin: Path, folder: Path, *, fork: bool = hasattr(os, "fork")) -> None:
        self.tree = folder / "tree"
        self._python = python
        self._origin = origin
        self._folder = folder
        self._fork = fork
        self._modules: list[str] = []
        self._server: subprocess.Popen[str] | None = None
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._runs = 0
        self._stamp = 0
        for name in ("lent", "home", "tmp"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "lent" / "coverage").symlink_to(Path(coverage.__file__).parent, target_is_directory=True)

    def write(self, path: str, data: bytes) -> None:
        """Change a file of the copy; byte code of its former content never counts as fresh."""
        file = self.tree / path
        file.write_bytes(data)
        self._stamp += 1
        os.utime(file, (1_000_000_000 + self._stamp, 1_000_000_000 + self._stamp))

    def run(self, request: Request) -> Observation:
        """Run pytest once; what it showed is complete unless `timed_out` or the exit code is None."""
        self._runs += 1
        events = self._folder / f"events-{self._runs}"
        message = {
            "args": list(request.arguments),
            "limit": request.limit_s,
            "trace": request.trace,
            "warm": request.warm,
            "events": str(events),
        }
        answer = self._ask(message, request.limit_s + _GRACE_S)
        observation = read_events(events, self.tree, timed_out=answer is None or answer["timed_out"])
        events.unlink(missing_ok=True)
        return observation

    def preload(self, modules: Sequence[str]) -> None:
        """Start the server anew, with these modules imported once for all runs."""
        self.close()
        self._modules = list(modules)
        self._started()

    def last_words(self) -> str:
        """Return the last line that the server or the tests wrote."""
        try:
            lines = (self._folder / "log").read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            lines = []
        return next((line.strip() for line in reversed(lines) if line.strip()), "nothing")[:200]

    def close(self) -> None:
        """End the server and what it started."""
        if self._server is not None:
            _kill(self._server)
            self._server = None

    def _ask(self, message: Mapping[str, Any], limit_s: float) -> dict[str, Any] | None:
        server = self._started()
        try:
            assert server.stdin is not None
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            line = self._answers.get(timeout=limit_s)
        except (OSError, queue.Empty):
            line = ""
        if not line:
            self.close()
            return None
        if not self._fork:
            self.close()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _started(self) -> subprocess.Popen[str]:
        if self._server is not None and self._server.poll() is None:
            return self._server
        setup = {
            "tree": str(self.tree),
            "origin": os.path.realpath(self._origin),
            "lent": str(self._folder / "lent"),
            "log": str(self._folder / "log"),
            "fork": self._fork,
            "environment": {"HOME": str(self._folder / "home")},
        }
        file = self._folder / "setup.json"
        file.write_text(json.dumps(setup), encoding="utf-8")
        self._server = subprocess.Popen(
            [str(self._python), str(_SERVER), str(file)],
            cwd=self.tree,
            env=self._environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,
        )
        self._answers = queue.SimpleQueue()
        threading.Thread(target=_forward, args=(self._server, self._answers), daemon=True).start()
        if self._modules and self._fork:
            modules, self._modules = self._modules, []
            if self._ask({"preload": modules}, _PRELOAD_S) is not None:
                self._modules = modules
            return self._started()
        return self._server

    def _environment(self) -> dict[str, str]:
        left_out = ("PYTEST_CURRENT_TEST", "COVERAGE_", "COV_CORE_", "FIRELOOP")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        origin, tree = os.path.realpath(self._origin), str(self.tree)
        if "PYTHONPATH" in environment:
            entries = environment["PYTHONPATH"].split(os.pathsep)
            moved = [tree + entry[len(origin) :] if entry.startswith(origin) else entry for entry in entries]
            environment["PYTHONPATH"] = os.pathsep.join(moved)
        environment["TMPDIR"] = str(self._folder / "tmp")
        environment["FIRELOOP"] = "0"
        return environment


def _forward(server: subprocess.Popen[str], answers: queue.SimpleQueue[str]) -> None:
    assert server.stdout is not None
    for line in server.stdout:
        answers.put(line)
    answers.put("")


def _kill(server: subprocess.Popen[str]) -> None:
    if hasattr(os, "killpg"):
        try:
            os.killpg(server.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            server.kill()
    else:
        server.kill()
    server.wait()
    for stream in (server.stdin, server.stdout):
        if stream is not None:
            stream.close()
