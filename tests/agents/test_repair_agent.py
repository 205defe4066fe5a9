from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fireloop.agents.repair.agent import Job, repair
from pytest_fireloop.observe.record import RunRecord, TestResult

RIGHT = {
    "auth/tokens.py": 'if self._clock() >= claims["expires"]:',
    "auth/lockout.py": "return self.attempts_left(account) <= 0",
    "auth/sessions.py": "return not self.revoked and now < self.expires",
    "auth/users.py": "        email = email.strip().lower()\n        if email not in self._users:",
    "auth/service.py": "if not verify_password(old, user.password_hash):",
}


@pytest.fixture(autouse=True)
def _no_other_plugins(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start pytest quickly, but where plugins are what is tested."""
    if "plugins" not in request.node.name:
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def content(tree: Path) -> dict[str, bytes]:
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in tree.rglob("*") if path.is_file()}


def project(tmp_path: Path, **files: str) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name, text in files.items():
        (tree / f"{name}.py").write_bytes(text.encode())
    return tree


def run(tree: Path, tmp_path: Path, *arguments: str, record: RunRecord | None = None) -> tuple[int, list[str]]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    log: list[str] = []
    return repair(Job(tree, Path(sys.executable), scratch, arguments, 60, record), log.append), log


def test_the_example_is_repaired_in_one_call_of_the_command(tmp_path: Path, checkout: Path) -> None:
    tree, scratch = tmp_path / "auth", tmp_path / "scratch"
    shutil.copytree(checkout / "examples" / "auth", tree, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    scratch.mkdir()
    before = content(tree)
    environment = {
        **os.environ,
        "FIRELOOP_PYTHON": sys.executable,
        "FIRELOOP_CALL": str(scratch),
        "FIRELOOP_RECORD": str(tmp_path / "missing.json"),
        "FIRELOOP_PYTEST_ARGS": "[]",
        "FIRELOOP_TIME_S": "60",
    }
    command = [sys.executable, "-P", "-m", "pytest_fireloop.agents.repair"]
    done = subprocess.run(command, cwd=tree, env=environment, input=b"fix it", capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines()[-1] == "repair: all 9 tests pass now"
    after = content(tree)
    assert after.keys() == before.keys()
    assert {path for path in after if after[path] != before[path]} == set(RIGHT)
    for path, text in RIGHT.items():
        assert text in after[path].decode()
    tests = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=tree, capture_output=True, check=False)
    assert tests.stdout.decode().splitlines()[-1].startswith("40 passed")


def test_it_gives_up_honestly_and_leaves_the_tree_as_it_was(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        oracle="def answer(question):\n    return 'never ' + question\n",
        test_oracle="import oracle\n\n\ndef test_answer():\n    assert oracle.answer('a') == 'sphinx of black quartz'\n",
    )
    before = content(tree)
    kept, log = run(tree, tmp_path)
    assert kept == 0
    assert content(tree) == before
    assert log[0] == "1 of 1 tests fail; they depend on 2 lines of 1 files"
    assert "gives up: no small edit helps; 1 of 1 tests still fail; the most suspicious lines:" in log
    assert log[-2] == "  oracle.py:2: return 'never ' + question  (1.00)"


def test_an_edit_that_never_ends_is_stopped(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        count="def digits(number):\n    found = 0\n    while number > 0:\n        number = number * 10\n        found += 1\n"
        "    return found\n",
        test_count="import count\n\n\ndef test_zero():\n    assert count.digits(0) == 0\n\n\n"
        "def test_none_below_zero():\n    assert count.digits(-1) == 1\n",
    )
    kept, log = run(tree, tmp_path)
    assert kept == 0
    assert "ran out of time" in "\n".join(log)


def test_what_an_edit_starts_does_not_outlive_it(tmp_path: Path) -> None:
    mark = tmp_path / "marks"
    mark.mkdir()
    tree = project(
        tmp_path,
        job="import subprocess\nimport sys\n\n\ndef start(mark):\n"
        "    code = f'import os, time; open(os.path.join({mark!r}, str(os.getpid())), \"w\"); time.sleep(600)'\n"
        "    return subprocess.Popen([sys.executable, '-c', code])\n\n\ndef more(number):\n    return number - 1\n",
        test_job=f"import os\nimport job\n\n\ndef test_more():\n    child = job.start({str(mark)!r})\n"
        f"    while not os.path.exists(os.path.join({str(mark)!r}, str(child.pid))):\n        pass\n"
        "    assert job.more(1) == 2\n",
    )
    kept, _ = run(tree, tmp_path)
    assert kept == 1
    started = [int(path.name) for path in mark.iterdir()]
    assert len(started) >= 3
    assert [pid for pid in started if is_running(pid)] == []


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_tests_and_conftest_are_never_edited(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        conftest="import pytest\n\n\n@pytest.fixture\ndef limit():\n    return 1 < 0\n",
        test_limit="def test_limit(limit):\n    assert limit\n",
    )
    before = content(tree)
    kept, log = run(tree, tmp_path)
    assert (kept, content(tree)) == (0, before)
    assert log[0] == "1 of 1 tests fail; they depend on 0 lines of 0 files"


def test_mode_line_ends_and_comments_stay(tmp_path: Path) -> None:
    text = "#!/usr/bin/env python\r\ndef adult(age):  # é\r\n    return (age >  18)   # of age\r\n"
    tree = project(tmp_path, age=text, test_age="import age\n\n\ndef test_age():\n    assert age.adult(18)\n")
    (tree / "age.py").chmod(0o751)
    kept, log = run(tree, tmp_path)
    assert kept == 1
    assert (tree / "age.py").read_bytes() == text.replace(">", ">=").encode()
    assert (tree / "age.py").stat().st_mode & 0o777 == 0o751
    assert log[1:4] == [
        "age.py:3: a bound is in or out by mistake; 1 test passes now",
        "  - return (age >  18)   # of age",
        "  + return (age >=  18)   # of age",
    ]


TWO = {
    "two": "def one(a):\n    return a > 1\n\n\ndef other(a):\n    return a > 2\n",
    "test_two": "import two\n\n\ndef test_one():\n    assert two.one(1)\n\n\ndef test_other():\n    assert two.other(2)\n",
}


def test_only_failures_of_the_record_are_worked_on(tmp_path: Path) -> None:
    tree = project(tmp_path, **TWO)
    record = RunRecord("1", tests=(TestResult("test_two.py::test_other", "failed"),))
    kept, log = run(tree, tmp_path, record=record)
    assert (kept, log[-1]) == (1, "all 1 tests pass now")
    assert (tree / "two.py").read_text() == TWO["two"].replace("a > 2", "a >= 2")


def test_arguments_of_the_user_and_plugins_do_not_disturb(tmp_path: Path) -> None:
    tree = project(tmp_path, **TWO)
    kept, log = run(tree, tmp_path, "-x", "-p", "no:randomly", "test_two.py", "-k", "one", "-n2")
    assert (kept, log[-1]) == (1, "all 1 tests pass now")
    assert (tree / "two.py").read_text() == TWO["two"].replace("a > 1", "a >= 1")


def test_a_package_that_was_installed_from_the_tree_is_tried_in_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = project(tmp_path, test_age="import age\n\n\ndef test_age():\n    assert age.adult(18)\n")
    (tree / "src").mkdir()
    (tree / "src" / "age.py").write_text("def adult(age):\n    return age > 18\n")
    monkeypatch.setenv("PYTHONPATH", str(tree / "src"))
    assert run(tree, tmp_path)[0] == 1
    assert (tree / "src" / "age.py").read_text() == "def adult(age):\n    return age >= 18\n"


def test_a_file_that_fails_to_import_is_repaired(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        rates="DAY = 24\nWEEK = 7 * DAYS\n",
        test_rates="import rates\n\n\ndef test_week():\n    assert rates.WEEK == 168\n",
    )
    kept, log = run(tree, tmp_path)
    assert kept == 1
    assert (tree / "rates.py").read_text() == "DAY = 24\nWEEK = 7 * DAY\n"
    assert log[-1] == "all 1 tests pass now"


def test_a_suite_that_cannot_run_is_reported(tmp_path: Path) -> None:
    tree = project(tmp_path, conftest="import os\nos._exit(3)\n", test_a="def test_a():\n    assert False\n")
    kept, log = run(tree, tmp_path)
    assert kept == 0
    assert log[-1].startswith("gives up: the tests did not come to an end in a copy of the tree; last line: ")


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_fireloop.agents.repair import workspace

    file = tmp_path / "a.py"
    file.write_bytes(b"x = 2\n")
    with pytest.raises(workspace.WorkspaceError, match="changed while it was repaired"):
        workspace.replace_file(file, b"x = 1\n", b"x = 3\n", tmp_path)
    assert file.read_bytes() == b"x = 2\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("auth/service.py", True),
        ("latest.py", True),
        ("auth/contest.py", True),
        ("tests/helpers.py", False),
        ("auth/tests/data.py", False),
        ("auth/test_service.py", False),
        ("auth/service_test.py", False),
        ("auth/conftest.py", False),
        ("setup.py", False),
        ("checks/collected.py", False),
        ("pyproject.toml", False),
    ],
)
def test_what_is_product(path: str, expected: bool) -> None:
    from pytest_fireloop.agents.repair.workspace import is_product

    assert is_product(path, {"checks/collected.py"}) is expected


def test_a_damaged_record_is_like_none(tmp_path: Path) -> None:
    from pytest_fireloop.agents.repair.agent import job_from

    (tmp_path / "record.json").write_text(json.dumps(["no", "record"]))
    environment = {
        "FIRELOOP_PYTHON": sys.executable,
        "FIRELOOP_CALL": str(tmp_path),
        "FIRELOOP_RECORD": str(tmp_path / "record.json"),
    }
    assert job_from(environment, tmp_path) == Job(tmp_path, Path(sys.executable), tmp_path, (), 600.0, None)
