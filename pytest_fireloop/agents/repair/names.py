"""Edits to names, attributes and texts."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import cache

from pytest_fireloop.agents.repair.source import Project, SourceFile, Span

_NEAR = 0.6
_MOST = 8


@cache
def _likeness(name: str, other: str) -> float:
    one, two = name.strip("_").lower(), other.strip("_").lower()
    return 0.0 if min(len(one), len(two)) < 2 else SequenceMatcher(None, one, two).ratio()


def near(name: str, others: Iterable[str]) -> list[str]:
    """Return the names that are spelled much alike, the nearest first."""
    rated = [(_likeness(name, other), other) for other in dict.fromkeys(others) if other != name]
    return [other for ratio, other in sorted(rated, key=lambda pair: -pair[0]) if ratio >= _NEAR][:_MOST]


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)


def _is_annotation(node: ast.AST, source: SourceFile) -> bool:
    child = node
    for parent in source.ancestors(node):
        if isinstance(parent, (ast.arg, ast.AnnAssign)) and parent.annotation is child:
            return True
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) and parent.returns is child:
            return True
        child = parent
    return False


def near_name(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Take another name in scope that is spelled alike."""
    if isinstance(node, ast.Name) and _is_read(node) and not _is_annotation(node, source):
        for other in near(node.id, [*source.scope(node), *source.module_names]):
            yield source.replace(node, other)


def other_local(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Take another parameter or local name."""
    if isinstance(node, ast.Name) and _is_read(node) and node.id not in {"self", "cls"}:
        parent = source.parents.get(node)
        called = isinstance(parent, ast.Call) and parent.func is node
        scope = source.scope(node)
        if not called and (node.id in scope or node.id not in source.module_names):
            for other in scope:
                if other not in {node.id, "self", "cls"}:
                    yield source.replace(node, other)


def other_constant(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Take another named constant."""
    if isinstance(node, ast.Name) and _is_read(node) and node.id.isupper():
        for other in source.module_names:
            if other.isupper() and other != node.id:
                yield source.replace(node, other)


def self_added(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `name` into `self.name` where the class has that attribute."""
    if isinstance(node, ast.Name) and _is_read(node) and "self" in source.scope(node):
        owner = source.class_of(node)
        for attribute in source.attributes.get(owner.name, []) if owner is not None else []:
            if attribute.lstrip("_") == node.id.lstrip("_"):
                yield source.replace(node, f"self.{attribute}")


def self_dropped(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Turn `self.name` into `name` where that is in scope."""
    if isinstance(node, ast.Attribute) and _is_read(node) and isinstance(node.value, ast.Name):
        for other in source.scope(node):
            if node.value.id == "self" and other.strip("_") == node.attr.strip("_"):
                yield source.replace(node, other)


def _attribute(node: ast.Attribute, source: SourceFile, other: str) -> Span:
    end = source.end(node)
    return Span(end - len(node.attr), end, other)


def near_attribute(node: ast.AST, source: SourceFile, project: Project) -> Iterator[Span]:
    """Take an attribute of the project's classes that is spelled alike."""
    if isinstance(node, ast.Attribute):
        every = [attribute for found in project.attributes.values() for attribute in found]
        own = source.class_of(node)
        if own is not None and isinstance(node.value, ast.Name) and node.value.id == "self":
            every = source.attributes[own.name]
        for other in near(node.attr, every):
            yield _attribute(node, source, other)


def sibling_attribute(node: ast.AST, source: SourceFile, project: Project) -> Iterator[Span]:
    """Take another attribute of the same class and kind."""
    if isinstance(node, ast.Attribute):
        parent = source.parents.get(node)
        called = isinstance(parent, ast.Call) and parent.func is node
        for attributes, methods in project.classes:
            if node.attr in attributes:
                for other in attributes:
                    if other != node.attr and (other in methods) == (node.attr in methods or called):
                        yield _attribute(node, source, other)


def other_exception(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Raise or catch another exception that the module knows."""
    named = None
    if isinstance(node, ast.Raise):
        named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    elif isinstance(node, ast.ExceptHandler):
        named = node.type
    if isinstance(named, ast.Name):
        for other in _exceptions(source):
            if other != named.id:
                yield source.replace(named, other)


def _exceptions(source: SourceFile) -> list[str]:
    names: list[str] = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and "error" in (node.module or "") + "exception":
            names += [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, ast.Raise):
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            names += [raised.id] if isinstance(raised, ast.Name) else []
    names += [name for name in source.module_names if name.endswith(("Error", "Exception"))]
    return list(dict.fromkeys([*names, "ValueError", "TypeError", "KeyError"]))


def near_text(node: ast.AST, source: SourceFile, project: Project) -> Iterator[Span]:
    """Take a text of the project that is spelled alike."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_quoted(node, source):
        for other in near(node.value, project.texts):
            yield source.replace(node, _quoted(source.segment(node), other))


def other_text(node: ast.AST, source: SourceFile, _project: Project) -> Iterator[Span]:
    """Take another short text of the module."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_quoted(node, source):
        for other in source.texts:
            if other != node.value and len(other) < 20:
                yield source.replace(node, _quoted(source.segment(node), other))


def _is_quoted(node: ast.Constant, source: SourceFile) -> bool:
    in_format = isinstance(source.parents.get(node), ast.JoinedStr)
    return node not in source.docstrings and not in_format and source.segment(node)[:1] in {"'", '"'}


def _quoted(model: str, text: str) -> str:
    plain = repr(text)
    if model[0] == '"' and plain[0] == "'" and '"' not in text:
        return f'"{plain[1:-1]}"'
    return plain
