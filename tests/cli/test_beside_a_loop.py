"""One loop a tree: what else is started there while it works is refused in one line, and disturbs nothing."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
RUNNER = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", "fix it", "--python", sys.executable, "--json"]
FIRELOOP = [sys.executable, "-m", "pytest_fireloop.cli.fireloop"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    tree.mkdir()
    (tree / "calc.py").write_text("A = 1\n")
    (tree / "test_calc.py").write_text("import calc\n\n\ndef test_one():\n    assert calc.A == 2\n")
    return tree


def agent(tree: Path) -> str:
    """Return an agent that says when it has begun, and works until it is let go."""
    code = (
        "import pathlib, time\npathlib.Path('../begun').touch()\n"
        "while not pathlib.Path('../go').exists(): time.sleep(0.02)\n"
        "pathlib.Path('calc.py').write_text('A = 2\\n')"
    )
    return shlex.join([sys.executable, "-c", code])


def run(tree: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=tree, env=environment(), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(CHECKOUT)}


def test_a_second_loop_and_what_would_change_the_tree_are_refused(tree: Path) -> None:
    with subprocess.Popen(
        [*RUNNER, "--agent", agent(tree)],
        cwd=tree,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as first:
        while not (tree.parent / "begun").exists():
            assert first.poll() is None
            time.sleep(0.02)
        for command in ([*RUNNER, "--agent", "true"], [*FIRELOOP, "resume"], [*FIRELOOP, "restore", "0"]):
            done = run(tree, *command)
            assert (done.returncode, done.stdout) == (4, "")
            # what is refused may have named its agent before it asked for the tree
            assert f"another loop works on this tree (pid {first.pid} on " in done.stderr.splitlines()[-1]
        status = run(tree, *FIRELOOP, "status", "--json")
        assert json.loads(status.stdout)["verdict"] == "running"
        (tree.parent / "go").touch()
        output, _ = first.communicate()
    assert (first.returncode, json.loads(output)["verdict"]) == (0, "green")


def test_an_agent_that_takes_the_journal_away_takes_no_checkpoint_with_it(tree: Path) -> None:
    code = (
        "import os, pathlib\n"
        f"for path in pathlib.Path({str(tree.parent / 'state')!r}).glob('journal.sqlite*'): path.unlink()\n"
        "pathlib.Path('calc.py').unlink()"
    )
    state = f"--fire-loop-dir={tree.parent / 'state'}"
    done = run(tree, *RUNNER, "--agent", shlex.join([sys.executable, "-c", code]), "--max-iterations=2", state)
    assert (done.returncode, done.stderr.count("was taken away during the loop")) == (1, 2), done.stderr
    loop_id = json.loads(done.stdout)["loop_id"]
    history = json.loads(run(tree, *FIRELOOP, "history", "--json", state).stdout)["loops"]
    assert [(row["loop_id"], row["verdict"], row["iterations"]) for row in history] == [(loop_id, "limit", 2)]
    assert run(tree, *FIRELOOP, "restore", "0", state).returncode == 0
    assert (tree / "calc.py").read_text() == "A = 1\n"
    assert f"going on with loop {loop_id}" in run(tree, *FIRELOOP, "resume", "--max-iterations=1", state).stdout


def test_a_damaged_journal_is_refused_kept_and_never_taken_for_a_closed_circuit(tree: Path) -> None:
    done = run(tree, *RUNNER, "--agent", "true", "--max-iterations", "1")
    state = Path(json.loads(run(tree, *FIRELOOP, "status", "--json").stdout)["state_folder"])
    assert done.returncode == 1
    journal = state / "journal.sqlite"
    for name in ("journal.sqlite-wal", "journal.sqlite-shm"):
        (state / name).unlink(missing_ok=True)
    journal.write_bytes(b"no database " * 500)
    done = run(tree, *RUNNER, "--agent", "true", "--max-iterations", "1")
    assert done.returncode == 10
    assert "cannot read the journal" in done.stderr.splitlines()[-1]
    assert json.loads(done.stdout)["verdict"] == "circuit_open"
    assert run(tree, *FIRELOOP, "resume").returncode == 4
    assert journal.read_bytes() == b"no database " * 500
