"""One child and all that descends from it: how it ends, and that nothing is left."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

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
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
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


def test_another_process_with_the_same_command_line_is_left_alone(tmp_path: Path) -> None:
    import subprocess

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
