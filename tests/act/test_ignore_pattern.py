"""Ignore patterns mean what they mean to git."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from pytest_fireloop.act.ignore_pattern import IgnorePatterns, Pattern, parse


def ignores(lines: list[str], path: str, *, folder: bool = False) -> bool:
    parsed = [pattern for line in lines if (pattern := parse(line)) is not None]
    return IgnorePatterns(parsed).ignores(path, folder=folder)


@pytest.mark.parametrize(
    ("line", "path", "wanted"),
    [
        ("*.log", "a.log", True),
        ("*.log", "deep/a.log", True),
        ("/a.log", "deep/a.log", False),
        ("deep/*.log", "deep/a.log", True),
        ("deep/*.log", "deep/more/a.log", False),
        ("**/a", "a", True),
        ("**/a", "x/y/a", True),
        ("x/**", "x/y/a", True),
        ("x/**/a", "x/a", True),
        ("x/**/a", "x/y/z/a", True),
        ("x**a", "x/a", False),
        ("x/y**/a", "x/ya", True),
        ("/x**", "x", True),
        ("a?c", "abc", True),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[[:digit:]]x", "7x", True),
        ("[]-]x", "]x", True),
        ("[z-a]x", "zx", False),
        ("[ax", "ax", False),
        (r"\#a", "#a", True),
        ("#a", "#a", False),
        (r"\!a", "!a", True),
        ("a  ", "a", True),
        (r"a\ ", "a ", True),
        ("a\r\n", "a", True),
        ("a/", "a", False),
        ("", "a", False),
        ("/", "a", False),
        ("a\\", "a", False),
        ("\udcff*", "\udcffx", True),
    ],
)
def test_one_pattern(line: str, path: str, wanted: bool) -> None:
    assert ignores([line], path) is wanted


def test_the_last_pattern_that_matches_decides() -> None:
    lines = ["*.log", "!keep.log", "/x/keep.log"]
    assert [ignores(lines, path) for path in ("a.log", "keep.log", "x/keep.log")] == [True, False, True]


def test_a_pattern_for_folders_and_one_of_a_nested_file() -> None:
    assert ignores(["a/"], "a", folder=True)
    assert not ignores(["a/*"], "a", folder=True)
    assert not ignores(["a/**"], "a", folder=True)
    nested = parse("/b", "sub/")
    assert isinstance(nested, Pattern)
    found = IgnorePatterns([nested])
    assert [found.ignores(path, folder=False) for path in ("sub/b", "b", "sub/c/b")] == [True, False, False]


PIECES = [
    "a",
    "b",
    "ab",
    "*",
    "**",
    "?",
    "/",
    "/",
    "[ab]",
    "[!a]",
    "[a-b]",
    r"\a",
    r"\*",
    ".",
    "*a",
    "b*",
    " ",
    "-",
    "[[:alpha:]]",
]
NAMES = ["a", "b", "ab", "ba", ".a", "a.b", "*", "a b", "a-", "-"]


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_git(tmp_path: Path, seed: int) -> None:
    """Compare with git on random trees and patterns, many patterns a tree, each alone."""
    source = random.Random(seed)
    files = {"/".join(source.choice(NAMES) for _ in range(source.randrange(1, 4))) for _ in range(60)}
    for file in sorted(files):
        path = tmp_path / "tree" / file
        if not any(parent.is_file() for parent in path.parents) and not path.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    present = sorted(
        os.path.relpath(os.path.join(base, name), tmp_path / "tree")
        for base, _, names in os.walk(tmp_path / "tree")
        for name in names
    )
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "tree")], check=True)
    for number in range(25):
        lines = [
            "!" * (source.random() < 0.3) + "".join(source.choice(PIECES) for _ in range(source.randrange(1, 6)))
            for _ in range(source.choice((1, 1, 3)))
        ]
        rules = tmp_path / f"rules-{number}"
        rules.write_text("".join(f"{line}\n" for line in lines))
        words = ["git", "-C", str(tmp_path / "tree"), "ls-files", "--others", "-z", f"--exclude-from={rules}"]
        listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\0")
        assert [path for path in present if not _hidden(lines, path)] == sorted(filter(None, listed)), lines


def _hidden(lines: list[str], path: str) -> bool:
    parts = path.split("/")
    folders = ("/".join(parts[:end]) for end in range(1, len(parts)))
    return any(ignores(lines, folder, folder=True) for folder in folders) or ignores(lines, path)
