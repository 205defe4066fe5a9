"""One child and all that descends from it: how it ends, and that nothing is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_fireloop.act.left_behind import SUFFIX, end_left_behind
from pytest_fireloop.act.process import Finished, run_process

KEPT = ("PATH", "HOME")
#: Each leaves a process behind that writes its pid and sleeps.
SLEEPER = "import os, time, pathlib; pathlib.Path({path!r}).write_text(str(os.getpid())); time.sleep(60)"
CHILDREN = {
    "ordinary": "import subprocess, sys; subprocess.Popen([sys.executable, '-c', {code!r}])",
    "own session": "import subprocess, sys; subprocess.Popen([sys.executable, '-c', {code!r}], start_new_session=True)",
    "double fork": "import os, sys\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
    "        os.execv(sys.executable, [sys.executable, '-c', {code!r}])\n    os._exit(0)\nos.wait()",
    "double fork, bare environment": "import os, sys\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
    "        os.execve(sys.executable, [sys.executable, '-c', {code!r}], {{}})\n    os._exit(0)\nos.wait()",
    "ignores TERM and INT": "import subprocess, sys; subprocess.Popen([sys.executable, '-c', "
    "'import signal; signal.signal(15, signal.SIG_IGN); signal.signal(2, signal.SIG_IGN)\\n' + {code!r}])",
}
#: Its first thread ends, so that the system calls it a zombie, and another one works on.
THREADS = (
    "import ctypes, os, pathlib, platform, threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); "
    "pathlib.Path({path!r}).write_text(str(os.getpid())); "
    "ctypes.CDLL(None).syscall(60 if platform.machine() == 'x86_64' else 93, 0)"
)
WAIT = "\nimport pathlib, time\nwhile not pathlib.Path({path!r}).exists(): time.sleep(0.01)\n"


def run(
    tmp_path: Path, code: str, *, timeout_s: float = 30.0, given: bytes | None = None, limit: int = 1000
) -> Finished:
    return run_process(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        environment={name: os.environ[name] for name in KEPT if name in os.environ},
        output=tmp_path / "output.txt",
        timeout_s=timeout_s,
        standard_input=given,
        output_limit=limit,
    )


def alive(pid: int) -> bool:
    try:
        return any(
            each.read_text().rpartition(")")[2].split()[0] != "Z" for each in Path(f"/proc/{pid}/task").glob("*/stat")
        )
    except OSError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="descendants are only seen on Linux")
@pytest.mark.parametrize("kind", CHILDREN)
@pytest.mark.parametrize("way", ["normal end", "time limit"])
def test_no_descendant_is_left(tmp_path: Path, kind: str, way: str) -> None:
    path = str(tmp_path / "pid")
    code = CHILDREN[kind].format(code=SLEEPER.format(path=path)) + WAIT.format(path=path)
    code += "time.sleep(60)" if way == "time limit" else ""
    done = run(tmp_path, code, timeout_s=1.5 if way == "time limit" else 30)
    assert done.timed_out is (way == "time limit")
    pid = int(Path(path).read_text())
    deadline = time.monotonic() + 5
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(pid)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="descendants are only seen on Linux")
@pytest.mark.parametrize("kind", ["itself", "ordinary", "own session"])
def test_a_process_whose_first_thread_has_ended_is_ended(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "pid")
    code = THREADS.format(path=path)
    if kind != "itself":
        code = CHILDREN[kind].format(code=code) + WAIT.format(path=path) + "time.sleep(1)"
    done = run(tmp_path, code, timeout_s=2.0 if kind == "itself" else 30)
    assert done.timed_out is (kind == "itself")
    assert done.exit_code is not None
    assert (done.exit_code < 0) is (kind == "itself")
    assert not alive(int(Path(path).read_text()))


def test_another_process_with_the_same_command_line_is_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"]) as other:
        run(tmp_path, "import time; time.sleep(30)", timeout_s=0.3)
        assert other.poll() is None
        other.kill()


def test_a_child_that_holds_the_pipe_open_does_not_block(tmp_path: Path) -> None:
    start = time.monotonic()
    done = run(tmp_path, "import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True); print('done')")
    assert (done.exit_code, done.timed_out) == (0, False)
    assert time.monotonic() - start < 20
    assert (tmp_path / "output.txt").read_text() == "done\n"


def test_long_output_keeps_head_and_tail(tmp_path: Path) -> None:
    done = run(tmp_path, "print('a' * 600 + 'b' * 5000 + 'c' * 600, end='')")
    text = (tmp_path / "output.txt").read_text()
    assert done.output_bytes == 6200
    assert text == "a" * 500 + "\n[... 5200 bytes left out ...]\n" + "c" * 500


def test_output_within_the_limit_is_whole(tmp_path: Path) -> None:
    run(tmp_path, "print('a' * 400 + 'b' * 400 + 'c' * 200, end='')")
    assert (tmp_path / "output.txt").read_text() == "a" * 400 + "b" * 400 + "c" * 200


def test_input_is_given_or_closed(tmp_path: Path) -> None:
    run(tmp_path, "import sys; print(len(sys.stdin.read()))", given=b"x" * 300_000)
    assert (tmp_path / "output.txt").read_text() == "300000\n"
    run(tmp_path, "import sys; print(repr(sys.stdin.read()))")
    assert (tmp_path / "output.txt").read_text() == "''\n"
    assert run(tmp_path, "pass", given=b"x" * 300_000).exit_code == 0


def test_what_cannot_start_is_told(tmp_path: Path) -> None:
    done = run_process(["/no/such/command"], cwd=tmp_path, environment={}, output=tmp_path / "output.txt", timeout_s=5)
    assert done.exit_code is None
    assert done.problem is not None
    assert "'/no/such/command'" in done.problem


def test_a_signal_is_a_negative_exit_code(tmp_path: Path) -> None:
    assert run(tmp_path, "import os; os.kill(os.getpid(), 9)").exit_code == -9


RUNNER = """
import sys
from pathlib import Path
from pytest_fireloop.act.process import run_process
folder = Path(sys.argv[1])
run_process(
    [sys.executable, "-c", sys.argv[2]], cwd=folder, environment={"PATH": sys.argv[3]},
    output=folder / "loops" / "one" / "agent-1.txt", timeout_s=60.0,
)
"""


def killed_runner(tmp_path: Path, kind: str) -> tuple[int, int]:
    """Kill a runner while its child sleeps, and return the ids of the child that it left and of what it had started."""
    path = tmp_path / "pid"
    code = CHILDREN[kind].format(code=SLEEPER.format(path=str(path))) + WAIT.format(path=str(path)) + "time.sleep(60)"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    argv = [sys.executable, "-c", RUNNER, str(tmp_path), code, os.environ["PATH"]]
    with subprocess.Popen(argv, env=environment) as runner:
        deadline = time.monotonic() + 20
        while not (path.exists() and path.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        (note,) = tmp_path.rglob(f"*{SUFFIX}")
        child = int(json.loads(note.read_text("utf-8"))["session"])
        runner.send_signal(signal.SIGKILL)
    return child, int(path.read_text())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="descendants are only seen on Linux")
@pytest.mark.parametrize("kind", [kind for kind in CHILDREN if "bare environment" not in kind])
def test_the_next_start_ends_what_a_killed_runner_left(tmp_path: Path, kind: str) -> None:
    child, grandchild = killed_runner(tmp_path, kind)
    assert alive(grandchild)
    assert end_left_behind(tmp_path) >= 1
    assert not alive(child)
    assert not alive(grandchild)
    assert list(tmp_path.rglob(f"*{SUFFIX}")) == []
    assert end_left_behind(tmp_path) == 0


def test_processes_of_others_and_of_an_earlier_boot_are_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True) as other:
        note = {"mark": "0" * 24, "session": other.pid, "boot": "an earlier one"}
        (tmp_path / f"a{SUFFIX}").write_text(json.dumps(note), encoding="utf-8")
        for number, text in enumerate(("", "{", "[]", '{"mark": 1}', json.dumps({**note, "session": "x"}))):
            (tmp_path / f"{number}{SUFFIX}").write_text(text, encoding="utf-8")
        assert end_left_behind(tmp_path) == 0
        assert other.poll() is None
        other.kill()
    assert list(tmp_path.iterdir()) == []


def test_a_child_that_ends_by_itself_leaves_no_note(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    argv = [sys.executable, "-c", RUNNER, str(tmp_path), "pass", os.environ["PATH"]]
    subprocess.run(argv, env=environment, check=True)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["agent-1.txt"]


INTERRUPTED = """
import os, signal, subprocess, sys
from pathlib import Path
from pytest_fireloop.act import process

class Popen(subprocess.Popen):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        print(self.pid, flush=True)
        os.kill(os.getpid(), signal.SIGINT)

process.subprocess.Popen = Popen
argv = [sys.executable, "-c", "import time; time.sleep(60)"]
try:
    process.run_process(argv, cwd=Path(), environment=dict(os.environ), output=Path("out"), timeout_s=60.0)
except KeyboardInterrupt:
    sys.exit(7)
"""


def test_an_interrupt_right_after_the_start_ends_what_was_started(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 7, done.stderr
    assert not Path("/proc", done.stdout.strip()).exists()
