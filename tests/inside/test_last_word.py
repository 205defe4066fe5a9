"""Who else may say that a run ended well: nobody."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

RED = {"test_a.py": "def test_good(): pass\ndef test_bad(): assert 0\n"}
GREEN = {"test_a.py": "def test_good(): pass\n"}
HEAD = "import atexit, os, sys, pytest\n"
#: Ways in which a conftest ends a run with 0.
ENDINGS = {
    "exit in configure": "def pytest_configure(): pytest.exit('x', returncode=0)\n",
    "exit in sessionstart": "def pytest_sessionstart(): pytest.exit('x', returncode=0)\n",
    "main answers": "def pytest_cmdline_main(config): return 0\n",
    "_exit at import": "os._exit(0)\n",
    "the system's own _exit": "import posix\nposix._exit(0)\n",
    "_exit in sessionfinish": "def pytest_sessionfinish(): os._exit(0)\n",
    "_exit in summary": "def pytest_terminal_summary(): os._exit(0)\n",
    "_exit in unconfigure": "def pytest_unconfigure(): os._exit(0)\n",
    "_exit at exit": "atexit.register(os._exit, 0)\n",
    "exit in sessionfinish": "@pytest.hookimpl(tryfirst=True)\ndef pytest_sessionfinish(): pytest.exit('x', returncode=0)\n",
    "sys.exit in unconfigure": "def pytest_unconfigure(): sys.exit(0)\n",
}
#: Those that come when the run has been judged: its own code stays.
LATE = frozenset({"_exit in unconfigure", "_exit at exit", "sys.exit in unconfigure"})


@pytest.mark.parametrize("name", ENDINGS)
def test_no_conftest_makes_a_red_run_end_with_0(write: Write, judged: Run, name: str) -> None:
    write({**RED, "conftest.py": HEAD + ENDINGS[name]})
    assert judged()[0] == (1 if name in LATE else 13)


@pytest.mark.parametrize("name", ["_exit in unconfigure", "_exit at exit", "_exit in summary"])
def test_a_green_run_may_end_in_a_hurry(write: Write, judged: Run, name: str) -> None:
    write({**GREEN, "conftest.py": HEAD + ENDINGS[name]})
    code, _, record = judged()
    # once the run is over an exit with 0 says no more than pytest itself would
    assert code == (13 if name == "_exit in summary" else 0)
    assert record["tests"][0]["outcome"] == "passed"


def test_os_exit_can_be_sent_to_another_process(write: Write, judged: Run) -> None:
    write({
        "test_a.py": """
            import multiprocessing, os, pickle
            def test_pool():
                process = multiprocessing.get_context("spawn").Process(target=os._exit, args=(3,))
                process.start()
                process.join()
                assert process.exitcode == 3
            def test_pickle(): assert callable(pickle.loads(pickle.dumps(os._exit)))
            def test_fork():
                child = os.fork()
                if child == 0: os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
        """
    })  # fmt: skip
    assert judged()[0] == 0


def test_a_program_that_calls_pytest_keeps_its_own_exit(write: Write, project: Path) -> None:
    write(RED)
    program = (
        "import os, pytest\n"
        f"print(int(pytest.main(['-q', '--fire-loop', '--fire-loop-dir={project.parent / 'state'}'])))\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-u", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1")


@pytest.mark.parametrize("name", ["resource", "fcntl", "hashlib", "select", "signal", "pathlib", "secrets", "git"])
def test_a_module_of_the_projects_own_by_a_known_name_is_the_projects(write: Write, judged: Run, name: str) -> None:
    # what pytest itself has imported by then is not the project's any more, with us or without
    write({f"{name}.py": "class Own: pass\n", "test_a.py": f"import {name}\ndef test_a(): assert {name}\n"})
    plain = subprocess.run([sys.executable, "-m", "pytest", "-q"], capture_output=True, check=False)
    code, text, record = judged()
    assert code == plain.returncode
    if code == 0:
        assert record["complete"] is True
        assert "not judged" not in text
    assert "switched off" not in text


def test_a_child_that_runs_on_to_the_end_is_no_run_of_its_own(write: Write, judged: Run) -> None:
    write({"test_a.py": "import os, time\ndef test_a():\n    if os.fork() == 0: time.sleep(0.5)\n    assert 0\n"})
    assert "a loop begins" in judged()[1]
    _, text, _ = judged()
    assert "iteration 1 of loop" in text


def test_what_the_run_itself_writes_is_no_change(write: Write, judged: Run) -> None:
    write(RED)
    for _ in range(2):
        _, _, record = judged("--junitxml=junit.xml")
    assert record["changes"] == {"files": [], "source_lines": 0, "test_lines": 0, "test_fix_ratio": None}
    assert record["score"] == -5


def test_a_record_never_replaces_what_is_no_file(write: Write, pytester: pytest.Pytester, project: Path) -> None:
    write(GREEN)
    (project / "link.json").symlink_to(project / "target.json")
    assert int(pytester.runpytest_subprocess("--fire-loop-record=link.json").ret) == 0
    assert (project / "link.json").is_symlink()
    assert "fireloop.run/1" in (project / "target.json").read_text()
    done = pytester.runpytest_subprocess("--fire-loop-record=/dev/null")
    assert int(done.ret) == 0
    assert Path("/dev/null").is_char_device()
    assert done.stderr.str().count("fire-loop: ") == 1
