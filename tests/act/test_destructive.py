"""What a command line takes away is told from its words, and nothing is run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pytest_fireloop.act.destructive import affected

BRACES = ("a.md", "a.txt", "b.md", "b.txt", "specs/x.md", "specs/y.md", "specs/z.md")
FILES = ("a.md", "b.txt", "specs/x.md", "specs/y.md", "src/m.py", "src/m.pyc", "ignored.log", "loose.txt")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("work") / "tree"
    for name in FILES:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("x\n")
    (tree / ".gitignore").write_text("*.log\n*.pyc\n")

    def git(*words: str) -> None:
        base = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-C", str(tree)]
        subprocess.run([*base, *words], check=True, capture_output=True)

    git("init", "--quiet")
    git("add", "a.md", "b.txt", "specs", "src/m.py", ".gitignore")
    git("commit", "--quiet", "-m", "one")
    (tree / "b.txt").write_text("edited\n")
    (tree / "specs" / "x.md").write_text("edited\n")
    return tree


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("ls -l; cat a.md | grep rm > /dev/null", []),
        ("echo 'rm a.md'", []),
        ("echo rm a.md", []),
        ("python -m pytest -x --rm a.md", []),
        ("rm a.md", ["a.md"]),
        ("rm -f -- -odd a.md", ["-odd", "a.md"]),
        ("rm -rf specs", ["specs"]),
        ("rm -rf ./specs/../src", ["src"]),
        ("rm {a,b}.{md,txt} specs/{x,{y,z}}.md {a} {}", [*BRACES, "{a}", "{}"]),
        ("rm -rf ~+/specs ~+x", ["specs", "~+x"]),
        ("git mv a.md specs/{x,y}.md elsewhere", ["a.md", "specs/x.md", "specs/y.md"]),
        ("git -C specs mv x.md z.md", ["specs/x.md"]),
        ("rm *.md specs/?.md", ["*.md", "a.md", "specs/?.md", "specs/x.md", "specs/y.md"]),
        ("true && rm a.md || unlink b.txt", ["a.md", "b.txt"]),
        ("(cd specs; rm x.md)", ["specs/x.md"]),
        ("cd specs && rm -r ../src", ["src"]),
        ("ls\nrm a.md", ["a.md"]),
        ("FOO=1 sudo -u root rm a.md", ["a.md"]),
        ("env -u X FOO=1 nice -n 5 timeout 10 /bin/rm a.md", ["a.md"]),
        ("bash -lc 'cd specs; rm y.md'", ["specs/y.md"]),
        ('sh -c "sh -c \\"rm a.md\\""', ["a.md"]),
        ("eval rm a.md", ["a.md"]),
        ("for f in 1; do rm a.md; done", ["a.md"]),
        ("mv a.md elsewhere.md", ["a.md", "elsewhere.md"]),
        ("truncate -s 0 a.md", ["a.md"]),
        ("echo x > a.md", ["a.md"]),
        ("echo x >> a.md", []),
        ("echo x | tee a.md", ["a.md"]),
        ("echo x | tee -a a.md", []),
        ("cp b.txt a.md", ["a.md"]),
        ("cp b.txt new.txt", []),
        ("rsync -a --delete src/ specs", ["specs"]),
        ("dd if=/dev/null of=a.md", ["a.md"]),
        ("find . -name '*.pyc' -delete", ["src/m.pyc"]),
        ("find specs -type f -exec rm {} +", ["specs/x.md", "specs/y.md"]),
        ("find specs -type f -exec cat {} ';'", []),
        ("find specs -name 'x*' -exec rm -f {} \\;", ["specs/x.md"]),
        ("git status; git diff; git log -n 1", []),
        ("git clean -fd", ["loose.txt"]),
        ("git clean -fdx", ["ignored.log", "loose.txt", "src/m.pyc"]),
        ("git clean --force -d -x specs", []),
        ("cd src && git clean -fX", ["src/m.pyc"]),
        ("sudo git clean -fdX", ["ignored.log", "src/m.pyc"]),
        ("git checkout .", ["b.txt", "specs/x.md"]),
        ("git checkout -- b.txt", ["b.txt"]),
        ("git checkout -b new", []),
        ("git checkout -f", ["b.txt", "specs/x.md"]),
        ("git restore specs", ["specs/x.md"]),
        ("git restore --staged specs", []),
        ("git reset --hard HEAD~1", ["b.txt", "specs/x.md"]),
        ("git reset b.txt", []),
        ("git -C specs rm -r .", ["specs/x.md", "specs/y.md"]),
        ("git rm --cached a.md", []),
        ("git stash", ["b.txt", "specs/x.md"]),
        ("git stash push -u", ["b.txt", "loose.txt", "specs/x.md"]),
        ("git stash list", []),
        ("cat <<EOF > new.txt\nrm a.md\nEOF\nls", ["new.txt"]),
    ],
)
def test_what_a_line_takes_away(tree: Path, line: str, paths: list[str]) -> None:
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    found = affected(line, tree, {})
    assert sorted(os.path.relpath(path, tree) for path in found.paths) == sorted(paths)
    assert found.unknown == []
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf $UNSET/specs",
        "rm $(ls)",
        "$(echo rm) a.md",
        "$REMOVE a.md",
        "`which rm` a.md",
        "rm `ls`",
        "ls | xargs rm",
        "ls | xargs -n 1 /bin/rm -f",
        "rm 'unclosed",
        "find . -delete -no-such-test",
    ],
)
def test_what_only_a_shell_could_tell_is_unknown(tree: Path, line: str) -> None:
    assert affected(line, tree, {}).unknown


def test_variables_that_are_known_are_filled_in(tree: Path) -> None:
    found = affected("rm -rf $PLACE/x.md ${PLACE}/y.md ~/z", tree, {"PLACE": "specs"})
    assert [str(path) for path in found.paths[:2]] == [str(tree / "specs" / "x.md"), str(tree / "specs" / "y.md")]
    assert found.paths[2] == Path(os.path.expanduser("~/z"))
