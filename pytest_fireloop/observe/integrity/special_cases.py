"""Finds values of the tests in the product: conditions, tables and data files that know what is asked."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import Any

from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.syntax import nodes, shared, text

#: Whole numbers that stand in any program, so that they tell nothing by themselves.
COMMON = range(-100, 101)
#: How much of a data file is looked into.
DATA_LIMIT = 200_000
#: Shorter words are found in any program.
WORD = 3
DIGEST = re.compile(r"^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56,128})$")


def compare_data(path: str, new: bytes, literals: Collection[str]) -> Iterator[Finding]:
    """Look into a new data file of the product for the values that the tests use."""
    words = set(re.findall(r"[\w.-]+", new[:DATA_LIMIT].decode("latin-1")))
    values = {ast.literal_eval(literal) for literal in literals}
    telling = {str(each) for each in values if isinstance(each, str) or each not in COMMON}
    found = sorted(words & telling)
    if len(found) >= WORD:
        yield Finding.of("special_case", path, 0, f"no such file -> data with values that the tests use: {found[:5]}")


def literals_of(source: bytes | None) -> frozenset[str]:
    """Return the constants of a test file, as source."""
    tree = shared(source)
    constants = (node for node in nodes(tree) if isinstance(node, ast.Constant)) if tree is not None else ()
    return frozenset(text(node) for node in constants if _is_number(node) or _is_word(node))


def special_cases(tree: ast.Module, literals: Collection[str]) -> Iterator[tuple[str, int, str]]:
    """Yield conditions that compare with a value which the tests use: a word, a large number, several values at once."""
    for node in nodes(tree):
        if isinstance(node, ast.Dict | ast.match_case):
            yield from _table(node, literals)
        if not isinstance(node, ast.Compare):
            continue
        for each in (each for side in (node.left, *node.comparators) for each in ast.walk(side)):
            if isinstance(each, ast.Tuple | ast.List | ast.Set | ast.Dict):
                inner = [part for part in ast.walk(each) if isinstance(part, ast.Constant)]
                telling = len(inner) > 1 and all(text(part) in literals for part in inner)
            else:
                telling = (_is_word(each) or (_is_number(each) and _value(each) not in COMMON)) and text(
                    each
                ) in literals
            said = _value(each)
            if telling or (isinstance(said, str) and DIGEST.match(said)):
                yield text(each), node.lineno, text(node)[:120]
                break


def _table(node: ast.Dict | ast.match_case, literals: Collection[str]) -> Iterator[tuple[str, int, str]]:
    """Yield a table or a case that holds values which the tests use, on the side of the question and of the answer."""
    sides: list[tuple[ast.AST, ast.AST]] = []
    if isinstance(node, ast.Dict):
        sides = [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None]
    else:
        sides = [(node.pattern, ast.Module(node.body, []))]
    for question, answer in sides:
        asked, said = (
            [part for part in ast.walk(each) if _is_number(part) or _is_word(part)] for each in (question, answer)
        )
        telling = any(_is_word(part) or _value(part) not in COMMON for part in asked) or len(asked) > 1
        if asked and said and telling and all(text(part) in literals for part in (*asked, *said)):
            yield text(question), getattr(question, "lineno", 0), f"a table with {text(question)[:60]}"


def _value(node: ast.AST) -> Any:
    return node.value if isinstance(node, ast.Constant) else None


def _is_word(node: ast.AST) -> bool:
    value = _value(node)
    return isinstance(value, str) and len(value) >= WORD


def _is_number(node: ast.AST) -> bool:
    return isinstance(_value(node), int | float) and not isinstance(_value(node), bool)
