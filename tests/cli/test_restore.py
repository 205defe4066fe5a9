"""Agents that tear at the repository and the tree: named by the loop, undone by `fireloop restore`."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

FILES = {"calc.py": "A = 1\n", "test_calc.py": "import calc\n\n\ndef test_one():\n    assert calc.A == 2\n"}


def git(tree: Path, *words: str) -> str:
    base = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-C", str(tree)]
    return subprocess.run([*base, *words], check=True, capture_output=True, text=True).stdout


def run(tree: Path, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", f"pytest_fireloop.cli.{module}", *words]
    return subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def loop(tree: Path, command: str) -> dict[str, Any]:
    words = ("fix it", "--agent", shlex.join(["sh", "-c", command]), "--python", sys.executable, "--json")
    done = run(tree, "fireloop_test", *words, "--max-iterations", "1")
    assert done.stdout, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    for move in summary["moves"]:
        assert move["iteration"] == 1
        assert f"the agent touched the repository: {move['what']}" in done.stderr
    return {**summary, "said": done.stderr}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    tree.mkdir()
    for name, text in FILES.items():
        (tree / name).write_text(text)
    git(tree, "init", "--quiet", "--initial-branch=main", ".")
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "-m", "one")
    (tree / "notes.txt").write_text("untracked\n")
    return tree


def test_everything_is_gone_and_comes_back(tree: Path) -> None:
    head, index = git(tree, "rev-parse", "HEAD"), (tree / ".git" / "index").read_bytes()
    summary = loop(tree, f"cd / && rm -rf {shlex.quote(str(tree))}")
    assert [move["what"] for move in summary["moves"]] == [
        f"the folder {str(tree)!r} is gone with all that was in it",
        "the repository is gone",
    ]
    assert "puts back what was at the start" in summary["said"]
    assert summary["verdict"] == "limit"
    done = run(tree, "fireloop", "restore", "--git", "0")
    assert done.returncode == 0, done.stderr
    assert (git(tree, "rev-parse", "HEAD"), (tree / ".git" / "index").read_bytes()) == (head, index)
    assert "git: a repository was made\n" in done.stdout
    assert {path.name: path.read_text() for path in tree.iterdir() if path.is_file()} == {
        **FILES,
        "notes.txt": "untracked\n",
    }
    # there was no repository before, and none is taken away again
    undo = done.stdout.rpartition("undo with: ")[2].split()
    assert undo[:2] == ["fireloop", "restore"]
    assert "--git" not in undo


def test_without_git_asked_for_the_repository_stays_as_it_is(tree: Path) -> None:
    summary = loop(
        tree, "git -c user.name=a -c user.email=a@b commit -qam x --allow-empty; git tag t; rm -r .fireloop; rm calc.py"
    )
    what = [move["what"] for move in summary["moves"]]
    assert what[0] == "the folder '.fireloop' is gone; its files are written again"
    assert what[1].startswith("HEAD moved from ")
    assert what[2].startswith("tags/t appeared at ")
    assert Path(summary["loop_file"]).read_text("utf-8").count("\n| 1 |") == 1
    assert (tree / ".fireloop" / ".gitignore").exists()
    moved = git(tree, "rev-parse", "HEAD", "t")
    done = run(tree, "fireloop", "restore", "0")
    assert (done.returncode, (tree / "calc.py").read_text()) == (0, FILES["calc.py"])
    assert git(tree, "rev-parse", "HEAD", "t") == moved
    done = run(tree, "fireloop", "restore", "--git", "0")
    assert "git: tags/t is gone, it was at " in done.stdout
    assert git(tree, "tag") == ""
    undo = shlex.split(done.stdout.rpartition("undo with: ")[2])
    assert undo[:3] == ["fireloop", "restore", "--git"]
    assert run(tree, *undo).returncode == 0
    assert git(tree, "rev-parse", "HEAD", "t") == moved


def test_a_tree_without_a_repository_has_none_to_restore(tmp_path: Path) -> None:
    tree = tmp_path / "plain"
    tree.mkdir()
    for name, text in FILES.items():
        (tree / name).write_text(text)
    assert loop(tree, "true")["moves"] == []
    done = run(tree, "fireloop", "restore", "--git", "0")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
    assert "without a repository" in done.stderr


SHAPES = """
import os, pathlib, shutil
os.remove("gone.txt"); os.remove("kind")
os.makedirs("kind"); pathlib.Path("kind/in.txt").write_text("in")
os.rename("folder", "moved"); os.symlink("moved", "folder")
pathlib.Path("new.txt").write_text("new"); os.chmod("secret.env", 0o666)
"""


def listing(tree: Path) -> dict[str, str]:
    """Links, and files with their permissions, but for what is git's and ours."""
    found = {}
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if name.split("/")[0] not in {".git", ".fireloop", "__pycache__", ".pytest_cache"}:
            if path.is_symlink():
                found[name] = os.readlink(path)
            elif path.is_file():
                found[name] = f"{path.stat().st_mode & 0o777:o} {path.read_text()}"
    return found


def test_any_state_leads_to_any_other(tree: Path) -> None:
    for name in ("gone.txt", "kind", "folder/in.txt", "secret.env"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(name)
    (tree / "secret.env").chmod(0o600)
    start = listing(tree)
    loop(tree, shlex.join([sys.executable, "-c", SHAPES]))
    end = listing(tree)
    assert (start["secret.env"][:3], end["secret.env"][:3]) == ("600", "666")
    assert end.keys() ^ start.keys() == {"gone.txt", "kind", "kind/in.txt", "folder", "folder/in.txt", *NEW}
    done = run(tree, "fireloop", "restore", "0")
    assert (done.returncode, listing(tree)) == (0, start), done.stdout
    undo = shlex.split(done.stdout.rpartition("undo with: ")[2])
    for words, wanted in ((undo[1:], end), (["restore", "0"], start), (["restore", "1"], end), (["restore"], end)):
        done = run(tree, "fireloop", *words)
        assert (done.returncode, listing(tree)) == (0, wanted), (words, done.stdout)
    assert "left" not in done.stdout


NEW = {"new.txt", "moved/in.txt"}


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_a_call_that_was_cut_off_did(tree: Path, how: int) -> None:
    code = "printf new > new.txt; printf edited > calc.py; touch ready; sleep 60"
    words = ("fix it", "--agent", shlex.join(["sh", "-c", code]), "--python", sys.executable)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    start = listing(tree)
    command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", *words]
    with subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as runner:
        while not (tree / "ready").exists():
            assert runner.poll() is None
            time.sleep(0.05)
        runner.send_signal(how)
        runner.wait()
    done = run(tree, "fireloop", "restore", "0")
    assert done.returncode == 0, done.stderr
    if how == signal.SIGKILL:
        # nobody saw what came of it: it may be the user's
        assert " processes of a loop that was killed were still running, and are ended" in done.stdout
        assert "left, for no checkpoint of the loop holds it: 'new.txt', 'ready'" in done.stdout
        for name in ("new.txt", "ready"):
            (tree / name).unlink()
    assert listing(tree) == start


@pytest.mark.parametrize("place", ["by the agent", "before the loop"])
def test_no_view_is_written_through_a_link(tree: Path, place: str) -> None:
    elsewhere = tree.parent / "elsewhere"
    elsewhere.mkdir()
    link = f"rm -rf .fireloop; ln -s {shlex.quote(str(elsewhere))} .fireloop"
    if place == "before the loop":
        subprocess.run(link, shell=True, cwd=tree, check=True)
    summary = loop(tree, link if place == "by the agent" else "true")
    assert os.listdir(elsewhere) == []
    assert (tree / ".fireloop").is_symlink()
    told = ["'.fireloop' is a link now, so that no loop file is written any more"]
    assert [move["what"] for move in summary["moves"]] == (told if place == "by the agent" else [])
