"""Compares the examples in the documentation of a product, which are tests where pytest collects them."""

from __future__ import annotations

import ast
import doctest
from collections.abc import Collection, Iterator

from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.syntax import parse

#: Options by which an example asks for less than it did.
LENIENT = frozenset(
    {doctest.ELLIPSIS, doctest.NORMALIZE_WHITESPACE, doctest.IGNORE_EXCEPTION_DETAIL, doctest.DONT_ACCEPT_TRUE_FOR_1}
)


def compare_doctests(path: str, old: bytes | None, new: bytes | None, failing: Collection[str]) -> Iterator[Finding]:
    """Find examples that are skipped, weakened or gone; `failing` are the items of this file that failed at the start."""
    before, after = _examples(old), _examples(new)
    for name, examples in before.items():
        if name not in after:
            continue
        line, come = after[name]
        failed = any(item == name or item.endswith(f".{name}") for item in failing) if name else bool(failing)
        for example, later in _pairs(examples[1], come):
            if later is None or later.want != example.want:
                kind = "doctest_changed" if failed else "doctest_edited"
                now = repr(later.want) if later is not None else "nothing"
                detail = f"{name or 'the module'}: {example.source.strip()} gives {example.want!r} -> {now}"
                yield Finding.of(kind, path, line, detail)
            elif doctest.SKIP in later.options and doctest.SKIP not in example.options:
                detail = f"{name or 'the module'}: {example.source.strip()} -> skipped"
                yield Finding.of("test_skipped", path, line, detail)
            elif failed and (later.options.keys() - example.options.keys()) & LENIENT:
                detail = f"{name or 'the module'}: {example.source.strip()} -> compared less strictly"
                yield Finding.of("doctest_changed", path, line, detail)


def _pairs(
    before: list[doctest.Example], after: list[doctest.Example]
) -> list[tuple[doctest.Example, doctest.Example | None]]:
    """Match examples that say the same first, and then those that only ask the same: one question may be asked often."""
    left = list(after)
    found: dict[int, doctest.Example | None] = {}
    for alike in (lambda a, b: (a.source, a.want) == (b.source, b.want), lambda a, b: a.source == b.source):
        for place, example in enumerate(before):
            if found.get(place) is None:
                found[place] = next((each for each in left if alike(example, each)), None)
                left = [each for each in left if each is not found[place]]
    return [(example, found[place]) for place, example in enumerate(before)]


def _examples(source: bytes | None) -> dict[str, tuple[int, list[doctest.Example]]]:
    """Return line and examples by the name of what is documented, nothing for what has none."""
    tree = parse(source)
    if tree is None:
        return {}
    return {name: (line, found) for name, line, text in _documented(tree, "") if (found := _parsed(text))}


def _documented(node: ast.AST, prefix: str) -> Iterator[tuple[str, int, str]]:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        text = ast.get_docstring(node, clean=False)
        if text:
            yield prefix, getattr(node, "lineno", 1), text
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _documented(child, f"{prefix}.{child.name}".lstrip("."))
        elif isinstance(child, ast.If | ast.Try):
            yield from _documented(child, prefix)


def _parsed(text: str) -> list[doctest.Example]:
    try:
        return doctest.DocTestParser().get_examples(text)
    except ValueError:
        return []
