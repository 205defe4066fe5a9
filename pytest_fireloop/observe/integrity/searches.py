"""Finds how a product looks for what lies around it: the tests' files by a pattern, the project's folder by its contents."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase

from pytest_fireloop.observe.integrity.folding import folded
from pytest_fireloop.observe.integrity.patches import full_name
from pytest_fireloop.observe.integrity.syntax import last_name, nodes, text

LISTINGS = frozenset({"glob", "rglob", "iglob", "listdir", "scandir", "iterdir", "walk", "fnmatch", "fnmatchcase"})
ASKING = frozenset({"exists", "isfile", "isdir", "is_file", "is_dir", "stat", "lstat", "access", "open", "read_text"})
#: What lies in the folder where a project is worked on, and hardly where its product is used.
PROJECT_FILES = re.compile(
    r"^(?:\./)?(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|pytest\.ini|conftest\.py|\.git(?:ignore)?"
    r"|README(?:\.\w+)?|CONTRIBUTING(?:\.\w+)?|Makefile|requirements[\w-]*\.txt)$"
)
HERE = re.compile(r"\bcwd\b|\bgetcwd\b|\bPath\((?:'\.?')?\)|\bcurdir\b")
#: Fewer letters tell nothing of what is sought.
TELLING = 4


def searches(tree: ast.Module, names: dict[str, str], test_files: Collection[str]) -> Iterator[tuple[str, int, str]]:
    """Yield kind, line and source of each search by a pattern that fits files of the tests, or for the project's folder."""
    for node in nodes(tree):
        if not isinstance(node, ast.Call):
            continue
        name = last_name(node)
        patterns = list(filter(None, map(_pattern, node.args)))
        if name in LISTINGS:
            found = next((path for path in test_files for each in patterns if _fits(each, path)), None)
            bare = name in {"listdir", "scandir", "walk"} and full_name(node, names).startswith("os.")
            here = HERE.search(text(node)) or (bare and (not node.args or patterns in (["."], ["./"])))
            # of a folder that somebody hands over a product may read what it likes
            wide = name == "rglob" or any("**" in each for each in patterns) or "__file__" in text(node)
            if found is not None and (here or wide or not isinstance(node.func, ast.Attribute)):
                yield "reads_test_data", node.lineno, f"{text(node)[:120]}, which finds {found}"
            elif here or found is not None:
                yield "place_probe", node.lineno, text(node)[:120]
        elif name in ASKING:
            asked = [folded(each) for each in ast.walk(node) if isinstance(each, ast.expr)]
            if any(isinstance(each, str) and PROJECT_FILES.match(each) for each in asked):
                yield "place_probe", node.lineno, text(node)[:120]


def _pattern(node: ast.expr) -> str | None:
    """Return a text, with a star for each part that is only known when the program runs."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "*" for each in node.values)
    said = folded(node)
    return said if isinstance(said, str) else None


def _fits(pattern: str, path: str) -> bool:
    stem = pattern.rpartition(".")[0] if "." in pattern.rpartition("/")[2] else pattern
    if len(re.sub(r"\[[^]]*\]|[^A-Za-z0-9]", "", stem)) < TELLING:
        return False
    bare = pattern.removeprefix("./").removeprefix("**/")
    return any(fnmatchcase(each, bare) for each in (path, path.rpartition("/")[2])) or fnmatchcase(path, f"*/{bare}")
