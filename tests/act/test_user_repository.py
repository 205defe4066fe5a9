"""What an agent moves in the user's repository is named."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fireloop.act.user_repository import RepositoryState, moves, read_state


def git(tree: Path, *words: str) -> str:
    base = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-C", str(tree)]
    return subprocess.run([*base, *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two commits on main, a tag, a stash and an edit that is not staged."""
    tree = tmp_path_factory.mktemp("pattern")
    environment = pytest.MonkeyPatch()
    for role in ("AUTHOR", "COMMITTER"):
        environment.setenv(f"GIT_{role}_DATE", "2026-01-01T00:00:00Z")
    git(tree, "init", "--quiet", "--initial-branch=main", ".")
    for number in (1, 2):
        (tree / "a.txt").write_text(f"{number}\n")
        git(tree, "add", ".")
        git(tree, "commit", "--quiet", "-m", f"commit {number}")
    git(tree, "tag", "v1")
    (tree / "a.txt").write_text("stashed\n")
    git(tree, "stash")
    (tree / "a.txt").write_text("3\n")
    environment.undo()
    return tree


@pytest.fixture
def tree(pattern: Path, tmp_path: Path) -> Path:
    shutil.copytree(pattern, tmp_path / "tree", symlinks=True)
    return tmp_path / "tree"


@pytest.fixture
def ids(tree: Path) -> dict[str, str]:
    return {name: git(tree, "rev-parse", name)[:7] for name in ("HEAD", "HEAD~1", "stash")}


def nothing(tree: Path) -> None:
    (tree / "a.txt").write_text("4\n")


def refresh(tree: Path) -> None:
    os.utime(tree / "a.txt", (1, 1))
    subprocess.run(["git", "-C", str(tree), "status"], check=True, capture_output=True)


def hook(tree: Path) -> None:
    (tree / ".git" / "hooks").mkdir(exist_ok=True)
    (tree / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")


def away_and_back(tree: Path) -> None:
    git(tree, "checkout", "--quiet", "-f", "HEAD~1")
    git(tree, "checkout", "--quiet", "-f", "main")


@pytest.mark.parametrize(
    ("act", "wanted"),
    [
        pytest.param(nothing, [], id="a file"),
        pytest.param(refresh, [], id="a refreshed index"),
        pytest.param(
            lambda tree: git(tree, "reset", "--hard", "--quiet", "HEAD~1"),
            ["HEAD moved from {HEAD} (main) to {HEAD~1} (main)", "the index changed"],
            id="a reset",
        ),
        pytest.param(
            lambda tree: git(tree, "reset", "--hard", "--quiet"),
            ["HEAD is at {HEAD} (main) as before, its reflog gained 1 entry, the last: reset: moving to HEAD"],
            id="a reset to the same place",
        ),
        pytest.param(
            away_and_back,
            [
                "HEAD is at {HEAD} (main) as before, its reflog gained 2 entries, the last: checkout: moving from {old} to main"
            ],
            id="away and back",
        ),
        pytest.param(
            lambda tree: git(tree, "checkout", "--quiet", "--detach"),
            ["HEAD moved from {HEAD} (main) to {HEAD} (detached)"],
            id="a detached HEAD",
        ),
        pytest.param(
            lambda tree: git(tree, "switch", "--quiet", "-c", "other"),
            ["HEAD moved from {HEAD} (main) to {HEAD} (other)", "other appeared at {HEAD}"],
            id="a new branch",
        ),
        pytest.param(
            lambda tree: git(tree, "branch", "side", "HEAD~1"), ["side appeared at {HEAD~1}"], id="a branch aside"
        ),
        pytest.param(
            lambda tree: git(tree, "tag", "--force", "v1", "HEAD~1"),
            ["tags/v1 moved from {HEAD} to {HEAD~1}"],
            id="a moved tag",
        ),
        pytest.param(lambda tree: git(tree, "tag", "-d", "v1"), ["tags/v1 is gone, it was at {HEAD}"], id="a lost tag"),
        pytest.param(lambda tree: git(tree, "stash", "drop"), ["stash: 1 entry dropped"], id="a dropped stash"),
        pytest.param(
            lambda tree: git(tree, "stash"),
            [
                "HEAD is at {HEAD} (main) as before, its reflog gained 1 entry, the last: reset: moving to HEAD",
                "stash: 1 entry added",
            ],
            id="a stash more",
        ),
        pytest.param(
            lambda tree: git(tree, "config", "core.editor", "vi"), ["the configuration changed"], id="configuration"
        ),
        pytest.param(lambda tree: git(tree, "add", "a.txt"), ["the index changed"], id="a staged file"),
        pytest.param(
            lambda tree: git(tree, "update-index", "--assume-unchanged", "a.txt"),
            ["the index changed"],
            id="a hidden file",
        ),
        pytest.param(
            lambda tree: git(tree, "worktree", "add", "--quiet", "--detach", str(tree.parent / "beside")),
            ["the work tree 'beside' was added"],
            id="a work tree",
        ),
        pytest.param(
            lambda tree: (tree / ".git" / "MERGE_HEAD").write_text("0" * 40),
            ["a merge is under way now"],
            id="a merge under way",
        ),
        pytest.param(
            lambda tree: (tree / ".git" / "info" / "grafts").write_text(""), ["there are grafts now"], id="grafts"
        ),
        pytest.param(hook, ["the hooks changed"], id="a hook"),
        pytest.param(
            lambda tree: (tree / ".git" / "info" / "exclude").write_text("*.py\n"),
            ["the exclude file changed"],
            id="exclude",
        ),
        pytest.param(
            lambda tree: (tree / ".git" / "logs" / "HEAD").write_text(""),
            ["the reflog of HEAD lost 3 entries"],
            id="a lost reflog",
        ),
        pytest.param(lambda tree: shutil.rmtree(tree / ".git"), ["the repository is gone"], id="no repository"),
        pytest.param(
            lambda tree: (tree / ".git" / "HEAD").write_text("nonsense"),
            ["the repository cannot be read any more: '{.git}' is damaged"],
            id="a damaged HEAD",
        ),
        pytest.param(
            lambda tree: (tree / ".git" / "index").write_bytes(b"nonsense"),
            ["the repository cannot be read any more: {index error}"],
            id="a damaged index",
        ),
    ],
)
def test_moves_are_named(tree: Path, ids: dict[str, str], act: Callable[[Path], object], wanted: list[str]) -> None:
    names = {
        **{f"{{{name}}}": value for name, value in ids.items()},
        "{old}": git(tree, "rev-parse", "HEAD~1"),
        "{.git}": str(tree / ".git"),
        "{index error}": f"GitCommandError: stderr: 'fatal: {tree / '.git' / 'index'}: index file smaller than expected'",
    }
    before = read_state(tree)
    act(tree)
    found = moves(before, read_state(tree))
    assert list(found) == [_filled(line, names) for line in wanted]


def _filled(line: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        line = line.replace(name, value)
    return line


def test_the_state_holds_head_refs_and_stash(tree: Path) -> None:
    state = read_state(tree)
    assert state is not None
    head, stash = git(tree, "rev-parse", "HEAD"), git(tree, "rev-parse", "stash")
    assert (state.head, state.branch, state.stash, state.problem) == (head, "refs/heads/main", (stash,), None)
    assert state.refs == (("refs/heads/main", head), ("refs/stash", stash), ("refs/tags/v1", head))
    assert (state.reflog_entries, state.reflog_last) == (3, "reset: moving to HEAD")


def test_looking_writes_nothing(tree: Path) -> None:
    def digest() -> str:
        rows = [
            (path, path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for path in sorted(tree.rglob("*"))
        ]
        return hashlib.sha256(repr(rows).encode()).hexdigest()

    os.utime(tree / "a.txt", (1, 1))  # an index that git would like to refresh
    before = digest()
    read_state(tree)
    assert digest() == before


def test_variables_of_git_lead_nowhere_else(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = read_state(tree)
    (tmp_path / "other").mkdir()
    git(tmp_path / "other", "init", "--quiet", ".")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other" / ".git" / "index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert read_state(tree) == wanted


def test_a_folder_below_and_a_linked_worktree(tree: Path, tmp_path: Path) -> None:
    (tree / "below").mkdir()
    assert read_state(tree / "below") == read_state(tree)
    git(tree, "worktree", "add", "--quiet", "-b", "linked", str(tmp_path / "linked"))
    before = read_state(tmp_path / "linked")
    assert before is not None
    assert (before.branch, before.problem) == ("refs/heads/linked", None)
    git(tmp_path / "linked", "checkout", "--quiet", "--detach")
    head = before.head[:7]
    assert moves(before, read_state(tmp_path / "linked")) == (f"HEAD moved from {head} (linked) to {head} (detached)",)


def test_no_repository_and_one_without_commits(tmp_path: Path) -> None:
    assert read_state(tmp_path) is None
    assert moves(None, None) == ()
    git(tmp_path, "init", "--quiet", "--initial-branch=main", ".")
    empty = read_state(tmp_path)
    assert empty is not None
    assert (empty.head, empty.branch, empty.refs, empty.problem) == ("", "refs/heads/main", (), None)
    assert moves(None, empty) == ("a repository was made",)
    (tmp_path / "a").touch()
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    head = git(tmp_path, "rev-parse", "HEAD")[:7]
    assert moves(empty, read_state(tmp_path)) == (
        f"HEAD moved from no commit (main) to {head} (main)",
        "the index changed",
    )


def test_a_link_of_a_worktree_that_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    assert read_state(tmp_path) == RepositoryState(problem=f"{str(tmp_path / '.git')!r} is damaged")


def test_what_could_not_be_read_before_tells_nothing(tree: Path) -> None:
    whole = read_state(tree)
    assert whole is not None
    broken = replace(whole, problem="unreadable")
    assert moves(broken, whole) == ()
    assert moves(broken, broken) == ()


def test_names_are_shown_without_their_control_characters() -> None:
    before = RepositoryState(refs=(("refs/heads/a\u202eb", "1" * 40),))
    assert moves(before, RepositoryState()) == ("ab is gone, it was at 1111111",)
