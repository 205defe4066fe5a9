"""Loops that nobody watches: services, scheduled jobs, CI runners, containers; what scripts read stays whole."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parents[2]
WRONG = "def add(a, b):\n    return a - b\n"
TEST = "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5, 'caf\\xe9 \\u263a'\n"
FIX = "import pathlib; p = pathlib.Path('calc.py'); p.write_text(p.read_text().replace('a - b', 'a + b'))"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    tree.mkdir()
    (tree / "calc.py").write_text(WRONG)
    (tree / "test_calc.py").write_text(TEST)
    return tree


def command(code: str, *words: str) -> list[str]:
    agent = ("--agent", shlex.join([sys.executable, "-c", code]))
    return [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", "fix it", *agent, "--json", *words]


def run(
    tree: Path, argv: list[str], environment: dict[str, str], redirections: str = "</dev/null"
) -> subprocess.CompletedProcess[bytes]:
    """Run a command in an environment that holds nothing else, its streams as a shell redirects them."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirections}', "sh", *argv],
        cwd=tree,
        env={"PYTHONPATH": str(CHECKOUT), **environment},
        capture_output=True,
        check=False,
        timeout=120,
    )


def summary_of(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    """Read standard output, which is one line with one object and says the exit code."""
    assert done.stdout.count(b"\n") == 1, (done.stdout, done.stderr)
    summary: dict[str, Any] = json.loads(done.stdout)
    assert summary["exit_code"] == done.returncode
    assert summary["schema"] == "fireloop.loop/1"
    assert b"Traceback" not in done.stderr
    return summary


CRON = {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "LOGNAME": "nobody"}
SERVICE = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "INVOCATION_ID": "0" * 32}
CI = {"PATH": "/usr/bin:/bin", "CI": "true", "TERM": "dumb", "GITHUB_ACTIONS": "true"}
NARROW = {**CRON, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


@pytest.mark.parametrize(
    ("environment", "home", "redirections", "code"),
    [
        (CRON, "home", "</dev/null", 0),
        (CRON, None, "<&-", 1),
        (SERVICE, None, "<&- 2>&-", 1),
        (SERVICE, "a file", "</dev/null >&-", 1),
        (CI, "home", "<&- >&- 2>&-", 0),
        (NARROW, "a file/below", "</dev/null", 1),
    ],
    ids=["cron", "no home", "no errors", "home is a file", "no stream", "narrow"],
)
def test_a_loop_runs_to_its_end(
    project: Path, environment: dict[str, str], home: str | None, redirections: str, code: int
) -> None:
    (project.parent / "home").mkdir()
    (project.parent / "a file").write_text("")
    places = {"TMPDIR": str(project.parent), **({"HOME": str(project.parent / home)} if home else {})}
    argv = command(FIX if code == 0 else "pass", "--max-iterations=1")
    done = run(project, argv, {**environment, **places}, redirections)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert ("a + b" in (project / "calc.py").read_text()) is (code == 0)
    closed = {word for word in redirections.split() if word.endswith(">&-")}
    verdict = {0: "green", 1: "limit"}[code]
    if ">&-" in closed:
        assert done.stdout == b""
    else:
        assert summary_of(done)["verdict"] == verdict
    if "2>&-" in closed:
        assert done.stderr == b""
    else:
        assert f"verdict: {verdict} (exit {code})".encode() in done.stderr
    expected = "home/.local/state/fireloop" if home == "home" else f"fireloop-{os.getuid()}"
    (state,) = (project.parent / expected).glob("project-*")
    assert state.stat().st_mode & 0o777 == 0o700
    # nothing was written where a stream should have been
    assert sqlite3.connect(state / "journal.sqlite").execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full here")
@pytest.mark.parametrize("buffered", ["", "1"])
def test_what_cannot_be_written_changes_no_verdict_and_a_summary_that_is_lost_is_never_green(
    project: Path, buffered: str
) -> None:
    environment = {**CRON, "HOME": str(project.parent), "PYTHONUNBUFFERED": buffered}
    words = command("pass", "--max-iterations=1")
    people = [word for word in words if word != "--json"]
    status = [sys.executable, "-m", "pytest_fireloop.cli.fireloop", "status"]

    def lost(argv: list[str], redirections: str = ">/dev/full") -> tuple[int, bytes]:
        done = run(project, argv, environment, redirections)
        assert b"Traceback" not in done.stderr
        assert b"Exception ignored" not in done.stderr
        return done.returncode, done.stderr.splitlines()[-1] if done.stderr else b""

    assert lost(people)[0] == 1
    code, said = lost(words)
    assert (code, b"standard output cannot be written: No space left on device" in said) == (1, True)
    code, said = lost(status)
    assert (code, said.count(b"standard output"), said.count(b"No space left")) == (3, 1, 1)
    for option in ("--help", "--version"):
        assert lost([*words[:3], option])[0] in {0, 3}  # argparse swallows what it cannot write
    (project / "calc.py").write_text(WRONG.replace("-", "+"))
    assert lost(people)[0] == 0
    assert lost(people, ">/dev/full 2>&1")[0] == 0
    code, said = lost(words)
    assert (code, said.endswith(b"the loop ended with exit code 0")) == (3, True)
    assert summary_of(run(project, words, environment, "2>/dev/full"))["verdict"] == "green"
    assert lost([*words[:3], ""], "2>/dev/full")[0] == 4


def test_words_that_the_locale_has_no_characters_for(project: Path) -> None:
    argv = command("import sys; sys.stdout.buffer.write(b'\\xff\\xe9\\n'); print(1)")
    argv[3] = "fix caf\udce9 and \u263a"
    done = run(project, [*argv, "--dry-run"], {**NARROW, "HOME": str(project.parent)})
    assert done.returncode == 0, done.stderr
    assert b"fix caf\\ufffd and \\u263a" in done.stdout
    done = run(project, [*argv, "--max-iterations=1"], {**NARROW, "HOME": str(project.parent)})
    assert summary_of(done)["verdict"] == "limit"


def test_a_shallow_checkout_without_a_branch(project: Path) -> None:
    def git(tree: Path, *words: str) -> str:
        base = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-C", str(tree)]
        return subprocess.run([*base, *words], check=True, capture_output=True, text=True).stdout

    for words in (("init", "-q", "."), ("add", "."), ("commit", "-qm", "1"), ("commit", "-qm", "2", "--allow-empty")):
        git(project, *words)
    clone = project.parent / "clone"
    git(project.parent, "clone", "-q", "--depth=1", project.as_uri(), str(clone))
    git(clone, "checkout", "-q", "--detach")
    before = [
        git(clone, *words) for words in (("rev-parse", "HEAD"), ("for-each-ref",), ("reflog",), ("stash", "list"))
    ]
    wrong = FIX.replace("a + b", "a * b")
    done = run(clone, command(wrong, "--max-iterations=1"), {**CI, "HOME": str(project.parent)})
    assert summary_of(done)["verdict"] == "limit"
    assert before == [
        git(clone, *words) for words in (("rev-parse", "HEAD"), ("for-each-ref",), ("reflog",), ("stash", "list"))
    ]
    assert git(clone, "status", "--porcelain") == " M calc.py\n"


@pytest.mark.parametrize("place", ["root", "gone"])
def test_a_folder_that_is_no_project(tmp_path: Path, place: str) -> None:
    enter = "cd /" if place == "root" else 'rmdir "$PWD"'
    gone = tmp_path / "gone"
    gone.mkdir()
    for module, words in (("fireloop_test", ["fix it"]), ("fireloop", ["resume"])):
        argv = [sys.executable, "-m", f"pytest_fireloop.cli.{module}", *words, "--json"]
        done = subprocess.run(
            ["/bin/sh", "-c", f'{enter}; exec "$@" </dev/null', "sh", *argv],
            cwd=gone,
            env={"PYTHONPATH": str(CHECKOUT), **CRON},
            capture_output=True,
            check=False,
        )
        gone.mkdir(exist_ok=True)
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (4, b"", 1), done.stderr


#: Where the runner is when signals come: who sends them, and where.
MOMENTS = {
    "the first run": ("calc.py", "'a - b' in open('calc.py').read()"),
    "the agent": ("agent", "True"),
    "the run after it": ("calc.py", "'a + b' in open('calc.py').read() and os.path.exists('.fireloop')"),
    "the clean room": ("calc.py", "'a + b' in open('calc.py').read() and not os.path.exists('.fireloop')"),
}
SEND = """
import os, pathlib, signal, subprocess, sys, time
if {when}:
    subprocess.Popen(["sleep", "300"], start_new_session=True)
    for _ in range({times}):
        os.kill(os.getppid(), signal.{name})
        time.sleep(0.05)
    time.sleep(300)
"""


def left(mark: str) -> list[str]:
    """Return the processes that carry a mark in their environment, once they had the time to be gone."""
    deadline = time.monotonic() + 5
    while found := [pid for pid in os.listdir("/proc") if pid.isdigit() and _carries(pid, mark)]:
        if time.monotonic() > deadline:
            return found
        time.sleep(0.05)
    return []


def _carries(pid: str, mark: str) -> bool:
    try:
        return mark.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="descendants are only seen on Linux")
@pytest.mark.parametrize(
    ("moment", "name", "times"),
    [
        ("the first run", "SIGTERM", 1),
        ("the agent", "SIGTERM", 1),
        ("the agent", "SIGINT", 4),
        ("the run after it", "SIGHUP", 2),
        ("the clean room", "SIGTERM", 3),
    ],
)
def test_signals_end_a_loop_with_a_whole_summary_and_leave_nothing(
    project: Path, moment: str, name: str, times: int
) -> None:
    who, when = MOMENTS[moment]
    sends = SEND.format(when=when, times=times, name=name)
    if who != "agent":
        (project / who).write_text(f"{WRONG}\nif 'pytest' in __import__('sys').modules:\n" + _indented(sends))
    mark = uuid.uuid4().hex
    environment = {**CRON, "HOME": str(project.parent), "A_LOOP": mark}
    done = run(project, command(f"{FIX}\n{sends if who == 'agent' else ''}"), environment)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert summary_of(done)["verdict"] == "interrupted"
    assert left(f"A_LOOP={mark}") == []


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def test_what_the_caller_ignores_stays_ignored(project: Path) -> None:
    code = "import os, signal, time; os.kill(os.getppid(), signal.SIGHUP); time.sleep(0.5)"
    argv = ["/bin/sh", "-c", 'trap "" HUP; exec "$@"', "sh", *command(code, "--max-iterations=1")]
    assert summary_of(run(project, argv, {**CRON, "HOME": str(project.parent)}))["verdict"] == "limit"


@pytest.fixture
def state(project: Path) -> Path:
    folder = project.parent / "state"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("broken", "code", "verdict"),
    [
        ("the agent is missing", 14, "agent_unavailable"),
        ("the journal is damaged", 10, "circuit_open"),
        ("the journal is newer", 10, "circuit_open"),
        ("a folder cannot be made", 3, "error"),
        ("the agent crashes", 14, "agent_unavailable"),
        ("the agent is blocked", 11, "blocked"),
        ("no tests", 5, "no_tests"),
    ],
)
def test_every_end_but_wrong_usage_is_told_to_scripts(
    project: Path, state: Path, broken: str, code: int, verdict: str
) -> None:
    argv = command("raise SystemExit(9)", f"--fire-loop-dir={state}")
    if broken == "the agent is missing":
        argv[argv.index("--agent") + 1] = "no-such-agent"
    elif broken == "the journal is damaged":
        (state / "journal.sqlite").write_bytes(b"nothing of ours" * 1000)
    elif broken == "the journal is newer":
        with sqlite3.connect(state / "journal.sqlite") as database:
            database.execute("PRAGMA user_version = 99")
    elif broken == "a folder cannot be made":
        (state / "loops").write_text("")
    elif broken == "the agent is blocked":
        argv = command("print('FIRELOOP-BLOCKED: ask \\u263a')", f"--fire-loop-dir={state}")
    elif broken == "no tests":
        (project / "test_calc.py").unlink()
    done = run(project, argv, {**CRON, "HOME": str(project.parent), "PYTHONUTF8": "1"})
    summary = summary_of(done)
    assert (done.returncode, summary["verdict"]) == (code, verdict)
    assert "\n" not in summary["reason"]
    assert summary["reason"].split(";")[0].encode("ascii", "backslashreplace")[:40] in done.stderr.replace(
        "☺".encode(), b"\\u263a"
    )


def test_a_temporary_folder_of_somebody_else_is_not_used(project: Path) -> None:
    (project.parent / "theirs").mkdir()
    (project.parent / f"fireloop-{os.getuid()}").symlink_to(project.parent / "theirs")
    done = run(project, command(FIX), {**CRON, "TMPDIR": str(project.parent)})
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"belongs to somebody else" in done.stderr
    assert list((project.parent / "theirs").iterdir()) == []
