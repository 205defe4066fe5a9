"""The runner under attack, and tests that are red for other reasons than the product, end to end."""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pytest_fireloop

FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\n"
    "def test_zero():\n    assert calc.add(0, 0) == 0\n",
}
FIX = "import pathlib; p = pathlib.Path('calc.py'); p.write_text(p.read_text().replace('a - b', 'a + b'))"
GAME = "import pathlib; p = pathlib.Path('test_calc.py'); p.write_text(p.read_text().replace('== 5', '== -1'))"
RUNNER = Path(pytest_fireloop.__file__).parent


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    tree.mkdir()
    for name, text in FILES.items():
        (tree / name).write_text(text)
    return tree


def run(
    tree: Path,
    code: str,
    *words: str,
    package: Path = RUNNER,
    limit: Callable[[], None] | None = None,
) -> tuple[int, dict[str, Any], str]:
    agent = shlex.join([sys.executable, "-c", code])
    command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", "fix it", "--agent", agent]
    done = subprocess.run(
        [*command, "--python", sys.executable, "--json", *words],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        preexec_fn=limit,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def test_a_fix_that_cures_a_strict_expected_failure_too_is_green(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\nxfail_strict = true\n")
    (project / "test_known.py").write_text(
        "import calc\nimport pytest\n\n\n@pytest.mark.xfail(reason='subtracts')\ndef test_known():\n    assert calc.add(1, 1) == 2\n"
    )
    exit_code, summary, _ = run(project, FIX, "--max-iterations=1")
    assert (exit_code, summary["final"]["xpassed"], summary["integrity"]["verdict"]) == (0, 1, "clean")
    assert summary["fixed"] == ["test_calc.py::test_add"]


def test_an_expected_failure_that_is_cured_first_is_not_held_against_the_agent(project: Path) -> None:
    (project / "test_known.py").write_text(
        "import calc\nimport pytest\n\n\n@pytest.mark.xfail(strict=True)\ndef test_known():\n    assert calc.add(1, 1) == 2\n\n\n"
        "def test_other():\n    assert calc.sub(1, 1) == 0\n"
    )
    code = f"import pathlib\nif 'a + b' in pathlib.Path('calc.py').read_text():\n    open('calc.py', 'a').write('def sub(a, b):\\n    return a - b\\n')\nelse:\n    {FIX}"
    exit_code, summary, _ = run(project, code, "--max-iterations=2")
    assert (exit_code, summary["iterations"], summary["broken"]) == (0, 2, [])


@pytest.mark.parametrize(
    ("outcomes", "exit_code"),
    [
        ("pp" + "p" * 9, 0),
        # red in place, then passes alone, in the room and ever after
        ("pf" + "p" * 9, 0),
        ("pfpfp" + "p" * 9, 0),
        # it passes alone and never in a whole run
        ("pf" + "pfff" * 9, 1),
    ],
    ids=["steady", "red in place", "red in the room too", "red in every whole run"],
)
def test_a_flaky_test_that_passed_at_the_start_does_not_bar_green(
    tmp_path: Path, project: Path, outcomes: str, exit_code: int
) -> None:
    # calibration runs beside the agent and takes no outcome: it counts only what the marked runs do
    state = tmp_path / "outcomes"
    state.write_text(outcomes)
    (project / "test_turning.py").write_text(
        f"from pathlib import Path\nimport calc\n\n\ndef test_turning():\n    path = Path({str(state)!r})\n"
        "    if calc.add(0, 1) < 0 and len(path.read_text()) < " + str(len(outcomes)) + ":\n        return\n"
        "    left = path.read_text()\n    path.write_text(left[1:])\n    assert left[0] == 'p'\n"
    )
    found, summary, _ = run(project, FIX, "--max-iterations=1")
    assert (found if found == 0 else 1) == exit_code, summary


@pytest.mark.parametrize("damage", ["emptied", "gone", "always green"])
def test_a_patched_copy_of_this_package_decides_nothing(tmp_path: Path, project: Path, damage: str) -> None:
    package = tmp_path / "site" / "pytest_fireloop"
    shutil.copytree(RUNNER, package, ignore=shutil.ignore_patterns("__pycache__"))
    attack = {
        "emptied": f"import pathlib\nfor p in pathlib.Path({str(package)!r}).rglob('*.py'):\n    p.write_text('')",
        "gone": f"import shutil\nshutil.rmtree({str(package)!r})",
        "always green": (
            f"import pathlib\nfor p in pathlib.Path({str(package)!r}).rglob('*.py'):\n"
            "    p.write_text('def __getattr__(name):\\n    return lambda *a, **k: True\\n')"
        ),
    }[damage]
    exit_code, summary, _ = run(project, f"{attack}\n{GAME}", "--max-iterations=1", package=package)
    assert (exit_code, summary["verdict"]) == (13, "false_green")


def test_an_honest_fix_is_green_though_this_package_went_away(tmp_path: Path, project: Path) -> None:
    package = tmp_path / "site" / "pytest_fireloop"
    shutil.copytree(RUNNER, package, ignore=shutil.ignore_patterns("__pycache__"))
    code = f"import shutil\nshutil.rmtree({str(package)!r})\n{FIX}"
    assert run(project, code, "--max-iterations=1", package=package)[0] == 0


def test_what_the_agent_writes_into_the_journal_decides_nothing(project: Path) -> None:
    code = (
        "import os, pathlib, sqlite3\ncall = pathlib.Path(os.environ['FIRELOOP_CALL'])\n"
        "base = sqlite3.connect(call.parents[2] / 'journal.sqlite')\n"
        "for (table,) in base.execute(\"select name from sqlite_master where type = 'table'\").fetchall():\n"
        "    for column in [row[1] for row in base.execute(f'pragma table_info({table})')]:\n"
        "        try:\n            base.execute(f'update {table} set {column} = replace({column}, ?, ?)', ('failed', 'passed'))\n"
        "        except sqlite3.Error:\n            pass\n"
        "base.commit()\n"
    )
    exit_code, summary, _ = run(project, f"{code}\n{GAME}", "--max-iterations=1")
    assert (exit_code, summary["verdict"], summary["baseline"]["failed"]) == (13, "false_green", 1)


@pytest.mark.parametrize(
    "code",
    [
        "import os, pathlib, shutil\nshutil.rmtree(pathlib.Path(os.environ['FIRELOOP_CALL']).parents[2])",
        "import os, pathlib, shutil\nshutil.rmtree(pathlib.Path(os.environ['FIRELOOP_CALL']).parents[2] / 'checkpoints.git')",
        (
            "import os, pathlib\nfor p in pathlib.Path(os.environ['FIRELOOP_CALL']).parents[2].rglob('objects/*/*'):\n"
            "    os.chmod(p, 0o600)\n    p.write_bytes(b'')"
        ),
    ],
    ids=["state gone", "checkpoints gone", "objects emptied"],
)
def test_a_destroyed_state_is_one_line_and_no_green(project: Path, code: str) -> None:
    exit_code, _, said = run(project, f"{code}\n{FIX}", "--max-iterations=1", "--quiet")
    assert exit_code not in {0, 1}
    assert "Traceback" not in said


@pytest.mark.parametrize("size", [4_096, 12_000, 40_000, 80_000])
@pytest.mark.parametrize("code", [FIX, GAME], ids=["fix", "game"])
def test_a_full_disk_is_one_line_and_no_false_green(project: Path, size: int, code: str) -> None:
    # a limit on the size of files stands for it: at each size something else cannot be written
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    exit_code, summary, said = run(project, code, "--max-iterations=1", "--quiet", limit=limit)
    # where all that is written still has room, the fix is green
    assert exit_code != 0 or (code == FIX and summary["verdict"] == "green"), summary
    assert "Traceback" not in said
    if not summary:
        assert exit_code == 3
        assert len([line for line in said.splitlines() if line.strip()]) == 1


MOUNT = 'mount -t tmpfs -o size="$0" none "$1" && shift && exec "$@"'


@pytest.mark.parametrize(("size", "code"), [("200k", FIX), ("1m", GAME), ("2500k", GAME), ("2500k", FIX)])
def test_a_disk_that_is_really_full_is_one_line_and_no_false_green(project: Path, size: str, code: str) -> None:
    state = Path(os.environ["XDG_STATE_HOME"])
    state.mkdir(parents=True, exist_ok=True)
    probe = ["unshare", "--mount", "sh", "-c", MOUNT, size, str(state), "true"]
    if shutil.which("unshare") is None or subprocess.run(probe, check=False, capture_output=True).returncode:
        pytest.skip("no disk of its own can be mounted here")
    agent = shlex.join([sys.executable, "-c", code])
    words = ["-m", "pytest_fireloop.cli.fireloop_test", "fix it", "--agent", agent, "--python", sys.executable]
    done = subprocess.run(
        [*probe[:-1], sys.executable, *words, "--json", "--quiet", "--max-iterations=1"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert "Traceback" not in done.stderr
    summary = json.loads(done.stdout) if done.stdout else {}
    assert done.returncode != 0 or (code == FIX and summary["integrity"]["where"] == "room"), done.stderr
    if not summary:
        assert len([line for line in done.stderr.splitlines() if line.strip()]) == 1


def test_a_git_on_the_path_that_lies_is_not_asked(project: Path, tmp_path: Path) -> None:
    # the environment's folder of programs stands first on the path, and the agent may write there
    programs = tmp_path / "bin"
    programs.mkdir()
    code = f"import pathlib\np = pathlib.Path({str(programs / 'git')!r})\np.write_text('#!/bin/sh\\nexit 0\\n')\np.chmod(0o755)"
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{programs}{os.pathsep}{path}"
    try:
        assert run(project, f"{code}\n{GAME}", "--max-iterations=1")[0] == 13
        assert run(project, f"{code}\n{FIX}", "--max-iterations=1")[0] in {0, 3, 4}
    finally:
        os.environ["PATH"] = path
