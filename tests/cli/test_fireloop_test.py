"""The runner, end to end, in processes of its own."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a * 3\n",
    "test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\n"
    "def test_double():\n    assert calc.double(2) == 4\n\n\ndef test_zero():\n    assert calc.add(0, 0) == 0\n",
}
FIX_ADD = "import pathlib; p = pathlib.Path('calc.py'); p.write_text(p.read_text().replace('a - b', 'a + b'))"
FIX_DOUBLE = "import pathlib; p = pathlib.Path('calc.py'); p.write_text(p.read_text().replace('a * 3', 'a * 2'))"
FIX_ALL = f"{FIX_ADD}; {FIX_DOUBLE}"


def agent(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    tree.mkdir()
    for name, text in FILES.items():
        (tree / name).write_text(text)
    return tree


def run(tree: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", *words]
    merged = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment}
    return subprocess.run(
        command, cwd=tree, env=merged, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def loop(tree: Path, code: str, *words: str) -> tuple[int, dict[str, Any]]:
    done = run(tree, "fix it", "--agent", agent(code), "--python", sys.executable, "--json", *words)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def git(tree: Path, *words: str) -> str:
    base = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-C", str(tree)]
    return subprocess.run([*base, *words], check=True, capture_output=True, text=True).stdout


def test_two_steps_to_a_verified_green(project: Path) -> None:
    code = f"import pathlib\nif 'a + b' in pathlib.Path('calc.py').read_text():\n    {FIX_DOUBLE}\nelse:\n    {FIX_ADD}"
    exit_code, summary = loop(project, code)
    assert (exit_code, summary["verdict"], summary["iterations"], summary["agent_calls"]) == (0, "green", 2, 2)
    assert summary["fixed"] == ["test_calc.py::test_add", "test_calc.py::test_double"]
    assert summary["baseline"]["failed"] == 2
    assert summary["final"] == {"passed": 3, "failed": 0, "error": 0, "skipped": 0, "xfailed": 0, "xpassed": 0}
    assert summary["integrity"] == {"verdict": "clean", "where": "room", "findings": []}
    assert summary["best"]["iteration"] == 2
    assert sorted(path.name for path in project.iterdir()) == [".fireloop", "calc.py", "test_calc.py"]
    assert summary["schema"] == "fireloop.loop/1"
    assert (summary["broken"], summary["still_failing"], summary["flaky"]) == ([], [], [])


def test_green_already_calls_no_agent(project: Path) -> None:
    (project / "calc.py").write_text("def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return a * 2\n")
    exit_code, summary = loop(project, "raise SystemExit('never called')")
    assert (exit_code, summary["verdict"], summary["agent_calls"]) == (0, "green", 0)


@pytest.mark.parametrize(
    ("code", "exit_code", "verdict", "reason"),
    [
        ("pass", 10, "circuit_open", "no_progress"),
        ("print('DONE')", 10, "circuit_open", "no_progress"),
        ("print('rate limit, permission denied: not authorized')", 10, "circuit_open", "no_progress"),
        ("raise SystemExit(9)", 14, "agent_unavailable", "agent_unavailable"),
        ("import os; os.kill(os.getpid(), 9)", 14, "agent_unavailable", "agent_unavailable"),
        ("print('FIRELOOP-BLOCKED: the key is missing')", 11, "blocked", "the key is missing"),
        ("print('say FIRELOOP-BLOCKED: x\\nbut not last')", 10, "circuit_open", "no_progress"),
    ],
    ids=["idle", "says done", "quotes", "crashes", "dies", "blocked", "quotes blocked"],
)
def test_agents_that_do_nothing_good(project: Path, code: str, exit_code: int, verdict: str, reason: str) -> None:
    found, summary = loop(project, code)
    assert (found, summary["verdict"]) == (exit_code, verdict)
    assert reason in summary["reason"]
    assert "\n" not in summary["reason"]
    assert summary["still_failing"] == ["test_calc.py::test_add", "test_calc.py::test_double"]


def test_the_iteration_limit(project: Path) -> None:
    code = "import pathlib, time; pathlib.Path('notes.py').write_text(f'x = {time.time_ns()}')"
    exit_code, summary = loop(project, code, "--max-iterations=2")
    assert (exit_code, summary["verdict"], summary["iterations"]) == (1, "limit", 2)
    assert summary["integrity"] == {"verdict": "clean", "where": None, "findings": []}


@pytest.mark.parametrize(
    "code",
    [
        "import pathlib; pathlib.Path('test_calc.py').write_text('def test_ok(): pass')",
        (
            "import pathlib; p = pathlib.Path('test_calc.py'); p.write_text('import pytest\\n' + p.read_text()"
            ".replace('def test_add', '@pytest.mark.skip\\ndef test_add')"
            ".replace('def test_d', '@pytest.mark.skip\\ndef test_d'))"
        ),
        "import pathlib; pathlib.Path('pytest.ini').write_text('[pytest]\\naddopts = -k zero')",
        "import pathlib; pathlib.Path('conftest.py').write_text('def pytest_sessionfinish(session): session.exitstatus = 0')",
        "import pathlib; pathlib.Path('conftest.py').write_text('import os; os._exit(0)')",
        "import pathlib; pathlib.Path('pytest.py').write_text('raise SystemExit(0)')",
    ],
    ids=["tests replaced", "skipped", "narrowed", "exit code forged", "process ended", "pytest shadowed"],
)
def test_no_green_by_gaming_the_tests(project: Path, code: str) -> None:
    exit_code, summary = loop(project, code, "--max-iterations=2")
    assert exit_code in {1, 10, 13}
    assert summary["verdict"] in {"limit", "circuit_open", "false_green"}


def test_a_gamed_green_is_told_as_such(project: Path) -> None:
    code = "import pathlib; pathlib.Path('test_calc.py').write_text('def test_zero(): pass')"
    exit_code, summary = loop(project, code, "--max-iterations=1")
    assert (exit_code, summary["verdict"]) == (13, "false_green")
    assert summary["integrity"]["verdict"] == "rejected"
    kinds = {finding["kind"] for finding in summary["integrity"]["findings"]}
    assert "test_removed" in kinds
    assert sorted(summary["still_failing"]) == ["test_calc.py::test_add", "test_calc.py::test_double"]


def test_an_opened_test_may_be_changed(project: Path) -> None:
    (project / "test_wrong.py").write_text("import calc\n\n\ndef test_wrong():\n    assert calc.add(1, 1) == 3\n")
    code = f"{FIX_ALL}; p = pathlib.Path('test_wrong.py'); p.write_text(p.read_text().replace('== 3', '== 2'))"
    assert loop(project, code, "--max-iterations=1")[0] != 0
    for name, text in FILES.items():
        (project / name).write_text(text)
    (project / "test_wrong.py").write_text("import calc\n\n\ndef test_wrong():\n    assert calc.add(1, 1) == 3\n")
    assert loop(project, code, "--allow-test-edits=test_wrong.py")[0] == 0


def users_git(tree: Path) -> dict[str, str]:
    facts = {
        name: git(tree, *words)
        for name, words in {
            "head": ("rev-parse", "HEAD"),
            "branch": ("symbolic-ref", "HEAD"),
            "index": ("ls-files", "--stage"),
            "stash": ("stash", "list"),
            "reflog": ("reflog",),
            "refs": ("for-each-ref",),
            "config": ("config", "--local", "--list"),
        }.items()
    }
    rows = [
        f"{path.relative_to(tree)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted((tree / ".git").rglob("*"))
        if path.is_file() and path.name != "index"  # asking git for its status refreshes the stat data in it
    ]
    return {**facts, "files": "\n".join(rows)}


@pytest.mark.parametrize(("code", "exit_code"), [(FIX_ALL, 0), ("pass", 10), ("raise SystemExit(1)", 14), (FIX_ADD, 1)])
def test_the_users_repository_is_left_alone(project: Path, code: str, exit_code: int) -> None:
    git(project, "init", "--quiet", "--initial-branch=main", ".")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "start")
    (project / "calc.py").write_text(FILES["calc.py"] + "# stashed\n")
    git(project, "stash")
    (project / "staged.txt").write_text("staged\n")
    git(project, "add", "staged.txt")
    (project / "untracked.txt").write_text("mine\n")
    before = users_git(project)
    assert loop(project, code, "--max-iterations=3" if exit_code != 1 else "--max-iterations=1")[0] == exit_code
    assert users_git(project) == before
    changed = git(project, "status", "--porcelain").splitlines()
    assert changed == [*([" M calc.py"] if code in {FIX_ALL, FIX_ADD} else []), "A  staged.txt", "?? untracked.txt"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fix", "--no-such-option"], "--no-such-option"),
        (["fix", "--max-iter=3"], "--max-iter=3"),
        (["fix", "--max-iterations=0"], "'0'"),
        (["fix", "--max-iterations=x"], "'x'"),
        (["fix", "--agent-timeout=soon"], "'soon'"),
        (["fix", "the", "tests"], "the tests"),
        ([""], "the prompt is empty"),
        (["  "], "the prompt is empty"),
        ([], "the prompt is empty"),
        (["fix", "--prompt-file=task.md"], "not both"),
        (["--prompt-file=absent.md"], "absent.md"),
        (["fix", "--profile=lax"], "lax"),
        (["fix", "--python=/no/python"], "/no/python"),
        (["fix", "--agent='unclosed"], "unclosed"),
        (["fix", "--example=nothing"], "nothing"),
        (["fix", "--", "--no-such-pytest-option"], "--no-such-pytest-option"),
        (["fix", "--", "--collect-only"], "--collect-only"),
        (["fix", "--fire-loop-dir=/proc/none"], "/proc/none"),
    ],
)
def test_a_wrong_option_is_one_line_and_nothing_is_started(project: Path, words: list[str], said: str) -> None:
    done = run(project, *words, *([] if "--agent='unclosed" in words or "--" in words else ["--json"]))
    assert done.returncode == 4, done.stderr
    assert done.stdout.count("\n") == 0 or "--" in words
    (line,) = [each for each in done.stderr.splitlines() if each.startswith("fireloop-test:")]
    assert said in line


def test_a_missing_agent(project: Path) -> None:
    done = run(project, "fix it", "--agent=no-such-agent --flag", "--json")
    assert done.returncode == 14
    summary = json.loads(done.stdout)
    assert (summary["verdict"], summary["exit_code"], summary["loop_id"]) == ("agent_unavailable", 14, None)
    assert done.stderr.count("\n") == 1
    assert "'no-such-agent'" in done.stderr


def test_a_reader_that_went_away_never_makes_a_red_loop_green(project: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    report = tmp_path / "red.xml"
    report.write_text('<testsuite tests="1"><testcase classname="a" name="b"><failure/></testcase></testsuite>')
    words = ["fix it", "--agent", agent("pass"), "--python", sys.executable, "--json", "--max-iterations=1"]
    for module, arguments, expected in (("fireloop_test", words, 1), ("fireloop", ["decide", str(report)], 3)):
        reader, writer = os.pipe()
        os.close(reader)
        command = [sys.executable, "-m", f"pytest_fireloop.cli.{module}", *arguments]
        done = subprocess.run(
            command, cwd=project, env=environment, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(writer)
        assert (done.returncode, "Traceback" in done.stderr, "internal error" in done.stderr) == (
            expected,
            False,
            False,
        )


def test_an_empty_folder(tmp_path: Path) -> None:
    exit_code, summary = loop(tmp_path, "pass")
    assert (exit_code, summary["verdict"], summary["agent_calls"]) == (5, "no_tests", 0)


def test_the_home_folder(project: Path) -> None:
    done = run(project, "fix it", HOME=str(project))
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.count("\n") == 1
    assert str(project) in done.stderr


def test_a_state_folder_in_the_tree_is_refused_and_dots_in_its_path_are_resolved(project: Path) -> None:
    done = run(project, "fix it", "--agent=repair", "--fire-loop-dir=./state", "--json")
    assert (done.returncode, done.stdout) == (4, "")
    assert "lies inside the work tree" in done.stderr
    assert loop(project, FIX_ALL, "--fire-loop-dir=../here/../state")[0] == 0
    assert (project.parent / "state" / "journal.sqlite").exists()


@pytest.mark.parametrize("second", [False, True])
def test_an_interrupted_call_is_told_and_nothing_is_left(project: Path, second: bool) -> None:
    code = (
        f"{FIX_ADD}; import os, signal, time; signal.signal(2, signal.SIG_IGN); signal.signal(15, signal.SIG_IGN); "
        "pathlib.Path('../pid').write_text(str(os.getpid())); runner = os.getppid(); os.kill(runner, signal.SIGINT); "
        + ("time.sleep(0.3); os.kill(runner, signal.SIGINT); " if second else "")
        + "time.sleep(60)"
    )
    done = run(project, "fix it", "--agent", agent(code), "--python", sys.executable, "--json")
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["verdict"], summary["agent_calls"]) == (2, "interrupted", 1)
    assert summary["files_changed"] == 1 or second
    assert "a + b" in (project / "calc.py").read_text()
    pid = int((project.parent / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text()


def test_restore_and_undo(project: Path) -> None:
    assert loop(project, FIX_ADD, "--max-iterations=1")[0] == 1
    fixed = (project / "calc.py").read_text()

    def fireloop(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop", *words]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)

    assert "-    return a - b" in fireloop("diff").stdout
    done = fireloop("restore", "0")
    assert (project / "calc.py").read_text() == FILES["calc.py"]
    undo = done.stdout.split("undo with: fireloop ")[1].split()
    assert fireloop(*undo).returncode == 0
    assert (project / "calc.py").read_text() == fixed
    for words in (("restore", "7"), ("restore", "f" * 40), ("log", "x:1"), ("stop",)):
        failed = fireloop(*words)
        assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (4, "", 1), words


def test_no_home_at_all(project: Path, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    words = ["fix it", "--agent", agent(FIX_ALL), "--python", sys.executable, "--quiet"]
    command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", *words]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "verdict: green" in done.stdout


def test_an_unchanged_tree_that_tripped_is_not_tried_again(project: Path) -> None:
    assert loop(project, "pass")[0] == 10
    exit_code, summary = loop(project, "pass")
    assert (exit_code, summary["agent_calls"]) == (10, 0)
    assert "nothing changed since the circuit opened" in summary["reason"]
    (project / "calc.py").write_text(FILES["calc.py"] + "\nX = 1\n")
    assert loop(project, FIX_ALL)[0] == 0


def fireloop(tree: Path, *words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop", *words]
    merged = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, cwd=tree, env=merged, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout) if "--json" in words else {"text": done.stdout}
    return found


def test_calls_an_hour_are_counted_over_loops(project: Path) -> None:
    _, first = loop(project, "pass", "--max-iterations", "1", "--max-calls-per-hour", "2")
    assert (first["verdict"], first["agent_calls"]) == ("limit", 1)
    exit_code, second = loop(project, "pass", "--max-calls-per-hour", "2", "--max-time", "60s")
    assert (exit_code, second["verdict"], second["agent_calls"]) == (1, "limit", 1)
    assert "2 of 2 calls of the last hour are used" in second["reason"]
    rows = fireloop(project, "status", "--json")["metrics"]
    assert next(row for row in rows if row["name"] == "calls_remaining") == {
        "name": "calls_remaining",
        "value": 0.0,
        "alert": True,
    }


def test_a_reset_lets_the_same_tree_be_tried_again_and_the_history_keeps_what_it_came_to(project: Path) -> None:
    assert loop(project, "pass")[0] == 10
    fireloop(project, "reset")
    assert fireloop(project, "status", "--json")["verdict"] == "circuit_open"
    exit_code, summary = loop(project, FIX_ALL)
    assert (exit_code, summary["agent_calls"]) == (0, 1)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("pass", []),
        ("pass", ["--no-circuit-breaker", "--max-iterations", "6"]),
        ("import pathlib, time; pathlib.Path('calc.py').write_text(f'def add(a, b): return {time.time()}')", []),
        ("import os; os.kill(os.getpid(), 9)", []),
        (FIX_ADD, ["--profile", "aggressive"]),
        (f"{FIX_ADD}; print('x' * 5)", ["--profile", "strict"]),
    ],
)
def test_a_loop_replays_to_the_decisions_that_were_taken_live(project: Path, code: str, words: list[str]) -> None:
    _, summary = loop(project, code, *words)
    replayed = fireloop(project, "replay", summary["loop_id"], "--json")["iterations"]
    assert len(replayed) == summary["iterations"] > 1
    for row in replayed:
        lived = fireloop(project, "log", f"{summary['loop_id']}:{row['iteration']}", "--json")["decision"]
        assert row == {**{name: lived[name] for name in row}, "circuit": lived["circuit"]["state"]}


def test_a_broken_conftest_is_an_error_like_any_other(project: Path) -> None:
    (project / "conftest.py").write_text("import nothing_of_that_name\n")
    code = f"{FIX_ALL}; pathlib.Path('conftest.py').write_text('')"
    exit_code, summary = loop(project, code, "--allow-test-edits=conftest.py")
    assert (exit_code, summary["verdict"]) == (0, "green")


def test_the_prompt_reaches_the_agent_in_three_ways(project: Path) -> None:
    code = (
        f"import sys, pathlib; pathlib.Path('../got').write_text(sys.stdin.read() + '|'.join(sys.argv[1:])); {FIX_ALL}"
    )
    for words, closed in (("", False), (" {prompt}", True), (" {prompt_file}", True)):
        for name, text in FILES.items():
            (project / name).write_text(text)
        done = run(project, "fix the sums", "--agent", agent(code) + words, "--python", sys.executable)
        assert done.returncode == 0, done.stdout
        got = (project.parent / "got").read_text()
        if "file" in words:
            assert got.endswith("prompt.md")
            continue
        assert got.startswith("# Task\n\nfix the sums\n")
        assert "test_calc.py::test_add" in got
        assert "assert calc.add(2, 3) == 5" in got
        assert closed is bool(words)


def test_settings_of_the_project(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.fireloop]\nmax_iterations = 1\nprofile = 'strict'\n")
    exit_code, summary = loop(project, "pass")
    assert (exit_code, summary["iterations"]) == (1, 1)
    (project / "pyproject.toml").write_text("[tool.fireloop]\nmax_iteration = 1\n")
    done = run(project, "fix it")
    assert done.returncode == 4
    assert "'max_iteration'" in done.stderr


def test_the_embedded_agent_gives_up_once_and_the_circuit_opens(project: Path) -> None:
    (project / "test_calc.py").write_text("import calc\n\n\ndef test_new():\n    assert calc.solve('x + 1 = 3') == 2\n")
    # it asks no model, so that its calls are not counted
    exit_code, summary = loop(project, "", "--agent=repair", "--max-calls-per-hour=1")
    assert (exit_code, summary["verdict"], summary["iterations"]) == (10, "circuit_open", 3)
    assert summary["files_changed"] == 0
    logs = sorted(Path(os.environ["XDG_STATE_HOME"]).rglob("agent-*.txt"))
    assert ["nothing changed since an earlier call" in log.read_text() for log in logs] == [False, True, True]


def test_dry_run_shows_the_call_and_what_is_set_and_calls_no_agent(project: Path) -> None:
    asked = agent("raise SystemExit(3)")
    words = ("fix the sums", "--agent", asked, "--dry-run", "--python", sys.executable)
    done = run(project, *words)
    assert done.returncode == 0
    assert f"the agent is called as: {asked} < CALL/prompt.md\n" in done.stdout
    assert f"settings that are not the default: --python {sys.executable}\n" in done.stdout
    assert "# Task\n\nfix the sums" in done.stdout
    (project / "pyproject.toml").write_text("[tool.fireloop]\nmax_time = '2h'\nprotect = ['*.env', 'a b']\n")
    done = run(
        project, *words, "--max-iterations=3", "--test-edits=forbid", "--agent-arg=-v", "--wait", "--", "-k", "a b"
    )
    assert f"the agent is called as: {asked} -v < CALL/prompt.md\n" in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("settings")]
    for shown in (
        "--max-time 7200",
        "--protect '*.env' 'a b'",
        "--max-iterations 3",
        "--test-edits forbid",
        "--agent-arg -v",
    ):
        assert shown in line
    assert line.endswith(f"--python {sys.executable}") or f"--python {sys.executable}, " in line
    assert "--wait" in line
    assert "pytest's arguments: -k 'a b'\n" in done.stdout
    assert not (project / ".fireloop").exists()
