"""Protected files are put back or reported, whatever an agent does to them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.protected import DEFAULTS, ProtectedFiles, ProtectedPaths, Violation

AGENTS = "".join(f"rule {number}\n" for number in range(10))
FILES = {
    "AGENTS.md": AGENTS,
    "CLAUDE.md": "one\ntwo\n",
    ".ralphrc": "x=1\n",
    "specs/deep/a.md": "a\n",
    ".claude/settings.json": "{}\n",
    ".fireloop/skills/s.md": "skill\n",
    "memory/m.txt": "",
    "src/AGENTS.md": "not at the top\n",
    "src/a.py": "A = 1\n",
    "secret.env": "KEY=1\n",
    "conf/deep/b.env": "KEY=2\n",
    ".gitignore": "*.env\nmemory/\nCLAUDE.md\n",
    ".fireloop/loop.md": "a view\n",
}
PROTECTED = {
    ".claude/settings.json",
    ".fireloop/skills/s.md",
    ".ralphrc",
    "AGENTS.md",
    "CLAUDE.md",
    "memory/m.txt",
    "specs/deep/a.md",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    for name, text in FILES.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    (tree / ".ralphrc").chmod(0o600)
    subprocess.run(["git", "init", "--quiet", str(tree)], check=True)
    return tree


def kept(tree: Path, *globs: str) -> ProtectedFiles:
    files = Checkpoints.open(tree.parent / "state" / "checkpoints.git", tree).protected(globs)
    files.keep()
    return files


def behind_a_link(path: Path) -> None:
    """Move the folder of a file away, and let a link lead to it."""
    moved = path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.symlink_to(moved.name)


def in_place_of(path: Path, what: Path) -> None:
    """Put a folder in the place of a file, with a file in it, or with nothing but an empty folder."""
    path.unlink()
    what.parent.mkdir(parents=True)
    what.mkdir() if what.name == "empty" else what.write_text("x")


def rewrite(path: Path, text: str) -> None:
    """Write as most editors do: a new file in the place of the old one."""
    temporary = path.with_name("temporary")
    temporary.write_text(text)
    os.replace(temporary, path)


def linked(path: Path) -> None:
    path.unlink()
    path.symlink_to("src/a.py")


def test_what_is_protected(tree: Path) -> None:
    assert {path for path, _, _ in ProtectedPaths().files(tree)} == PROTECTED
    found = {path for path, _, _ in ProtectedPaths(["*.env", "/src/"]).files(tree)}
    assert found == PROTECTED | {"secret.env", "conf/deep/b.env", "src/a.py", "src/AGENTS.md"}
    assert all(glob.startswith("/") for glob in DEFAULTS)


@pytest.mark.parametrize(
    ("path", "act", "what", "restored"),
    [
        ("AGENTS.md", Path.unlink, "deleted", True),
        ("CLAUDE.md", Path.unlink, "deleted", True),
        ("specs/deep/a.md", Path.unlink, "deleted", True),
        (".ralphrc", lambda path: path.write_text(""), "emptied", True),
        (".ralphrc", lambda path: path.write_text(" \n\n"), "emptied", True),
        ("AGENTS.md", lambda path: rewrite(path, "something else\n"), "deleted and made again", True),
        ("AGENTS.md", linked, "replaced by a link", True),
        ("AGENTS.md", lambda path: rewrite(path, AGENTS + "one more rule\n"), "changed", None),
        ("AGENTS.md", lambda path: path.write_text("written in place\n"), "changed", None),
        ("AGENTS.md", lambda path: path.chmod(0o755), "changed", None),
        ("secret.env", lambda path: path.write_text("KEY=stolen\n"), "changed", True),
        ("secret.env", lambda path: path.chmod(0o666), "changed", True),
        ("conf/deep/b.env", Path.unlink, "deleted", True),
        ("conf/deep/b.env", behind_a_link, "moved behind a link", True),
        ("specs/deep/a.md", behind_a_link, "moved behind a link", None),
        ("AGENTS.md", lambda path: in_place_of(path, path / "empty"), "replaced by a folder", True),
        ("AGENTS.md", lambda path: in_place_of(path, path / "__pycache__" / "x.pyc"), "replaced by a folder", True),
    ],
)
def test_what_happens_to_a_file_is_told_and_undone(
    tree: Path, path: str, act: Callable[[Path], object], what: str, restored: bool | None
) -> None:
    files = kept(tree, "*.env")
    mode = (tree / path).stat().st_mode
    act(tree / path)
    left = (tree / path).read_bytes() if restored is None else FILES[path].encode()
    assert files.verify() == (Violation(path, what, restored),)
    assert not (tree / path).is_symlink()
    assert (tree / path).parent.is_symlink() == (what == "moved behind a link" and not restored)
    assert (tree / path).read_bytes() == left
    if restored:
        assert (tree / path).stat().st_mode == mode
        assert files.verify() == ()


@pytest.mark.parametrize(
    "act",
    [
        lambda path: None,
        lambda path: os.utime(path, (1, 1)),
        lambda path: rewrite(path, AGENTS),
        lambda path: (path.parent / "specs" / "new.md").write_text("of the agent's own"),
        lambda path: (path.parent / "src" / "AGENTS.md").unlink(),
    ],
)
def test_what_harms_nothing_is_not_told(tree: Path, act: Callable[[Path], object]) -> None:
    files = kept(tree)
    act(tree / "AGENTS.md")
    assert files.verify() == ()


def test_all_at_once_and_an_empty_file(tree: Path) -> None:
    files = kept(tree)
    subprocess.run("rm -rf .claude .fireloop .ralphrc *", shell=True, cwd=tree, check=True)
    assert {each.path for each in files.verify() if each.restored} == PROTECTED
    assert {path: (tree / path).read_text() for path in PROTECTED} == {path: FILES[path] for path in PROTECTED}


def test_what_cannot_be_put_back_is_told(tree: Path) -> None:
    files = kept(tree)
    in_place_of(tree / "AGENTS.md", tree / "AGENTS.md" / "notes.txt")
    assert files.verify() == (Violation("AGENTS.md", "replaced by a folder", False),)
    assert (tree / "AGENTS.md" / "notes.txt").exists()


def test_what_is_gone_behind_a_link_is_put_back_in_its_own_place(tree: Path) -> None:
    files = kept(tree)
    (tree / "specs").rename(tree / "moved")
    (tree / "specs").symlink_to("moved")
    (tree / "moved" / "deep" / "a.md").unlink()
    assert files.verify() == (Violation("specs/deep/a.md", "deleted", True),)
    assert (tree / "specs" / "deep" / "a.md").read_text() == "a\n"
    assert not (tree / "specs").is_symlink()
    assert not (tree / "moved" / "deep" / "a.md").exists()


def test_a_link_that_is_protected_is_put_back_as_one(tree: Path) -> None:
    (tree / "specs" / "link").symlink_to("deep/a.md")
    files = kept(tree)
    (tree / "specs" / "link").unlink()
    assert files.verify() == (Violation("specs/link", "deleted", True),)
    assert os.readlink(tree / "specs" / "link") == "deep/a.md"


def test_what_was_kept_outlives_the_runner(tree: Path) -> None:
    kept(tree)
    (tree / "AGENTS.md").unlink()
    (tree / "CLAUDE.md").write_text("the user's own edit meanwhile\n")
    again = Checkpoints.open(tree.parent / "state" / "checkpoints.git", tree).protected(())
    again.take_up()
    assert again.verify() == (Violation("AGENTS.md", "deleted", True), Violation("CLAUDE.md", "changed", None))
    assert (tree / "AGENTS.md").read_text() == AGENTS


def test_a_large_file_is_named(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fireloop.act.protected.SIZE_LIMIT", 50)
    assert kept(tree).left_out == ("AGENTS.md",)
