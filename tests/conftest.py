"""Fixtures that all rooms share."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from pytest_fireloop.observe.record import RunRecord

pytest_plugins = ["pytester"]
#: No part of what the other tests need: the plugin of hypothesis imports all of it at the end of each run that they start.
collect_ignore_glob = [] if find_spec("hypothesis") else ["properties/*"]

# started in the background of a shell, or by nohup: what the tests start has to hear these all the same
for _number, _handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)


@pytest.fixture(autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the state of loops, the user's home and the developer's own plugins out of every test."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("FIRELOOP", "GIT_", "PYTEST_XDIST", "COV_CORE", "TOX_")):
            monkeypatch.delenv(name)
    # at the end of each run it imports all of its library, which takes as long as the rest of a small run
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def checkout() -> Path:
    """The folder of this repository."""
    return Path(__file__).parents[1]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one, which neither the state nor the record nor the output of a run lies in."""
    folder = pytester.path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def write(project: Path) -> Callable[[dict[str, str]], None]:
    """Write files of the project, by their path in it."""

    def write(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")

    return write


@pytest.fixture
def run(project: Path, pytester: pytest.Pytester) -> Callable[..., tuple[int, str, dict[str, Any]]]:
    """Run pytest with a record; return its exit code, its output, and the record, empty where none was written."""
    path = pytester.path / "record.json"

    def run(*args: str) -> tuple[int, str, dict[str, Any]]:
        path.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", f"--fire-loop-record={path}"]
        # pytester.runpytest_subprocess refuses output that is no utf-8, which some tests print on purpose
        done = subprocess.run([*command, *args], capture_output=True, timeout=120, check=False)
        text = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace")
        print(text)
        if not path.exists():
            return done.returncode, text, {}
        record: dict[str, Any] = json.loads(path.read_bytes().decode("utf-8"))
        assert RunRecord.from_json(record).run_id == record["run_id"]
        return done.returncode, text, record

    return run


@pytest.fixture
def judged(
    run: Callable[..., tuple[int, str, dict[str, Any]]], pytester: pytest.Pytester
) -> Callable[..., tuple[int, str, dict[str, Any]]]:
    """Run pytest as one iteration of the loop in the project."""

    def judged(*args: str) -> tuple[int, str, dict[str, Any]]:
        return run("--fire-loop", f"--fire-loop-dir={pytester.path / 'state'}", *args)

    return judged
