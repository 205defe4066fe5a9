"""A Python source file as text and as a syntax tree, with exact positions."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Span:
    """A piece of text to be replaced: from offset `start` up to `end`, in characters."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class SourceFile:
    """One file of the project; `path` is relative to the tree, with forward slashes."""

    path: str
    text: str
    encoding: str = "utf-8"

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return self.text.encode(self.encoding)

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; raises SyntaxError."""
        return ast.parse(self.text)

    @cached_property
    def _lines(self) -> list[tuple[int, str]]:
        starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        return [(start, self.text[start:end]) for start, end in zip(starts, [*starts[1:], len(self.text)], strict=True)]

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of each node."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a position as the syntax tree counts: lines from 1, columns in bytes of UTF-8."""
        start, text = self._lines[line - 1]
        return start + len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return the offset of the node's first character."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return the offset after the node's last character."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """Return the node's own text."""
        return self.text[self.start(node) : self.end(node)]

    def replace(self, node: ast.expr | ast.stmt, text: str) -> Span:
        """Return the span that puts a text in the node's place."""
        return Span(self.start(node), self.end(node), text)

    def line(self, number: int) -> str:
        """Return one line without its end."""
        return self._lines[number - 1][1].rstrip("\r\n") if 0 < number <= len(self._lines) else ""

    def line_at(self, offset: int) -> int:
        """Return the number of the line that holds an offset."""
        return len(_LINE_END.findall(self.text[:offset])) + 1

    def line_start(self, number: int) -> int:
        """Return the offset at which a line starts."""
        return self._lines[number - 1][0]

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around a node, the nearest first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """Return the innermost statement that holds the node, or the node itself."""
        return next((found for found in (node, *self.ancestors(node)) if isinstance(found, ast.stmt)), None)

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the innermost function around the node."""
        return next((found for found in self.ancestors(node) if isinstance(found, FUNCTIONS)), None)

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the innermost class around the node."""
        return next((found for found in self.ancestors(node) if isinstance(found, ast.ClassDef)), None)

    @cached_property
    def module_names(self) -> list[str]:
        """Names bound at module level, in order."""
        return list(dict.fromkeys(_bound(self.tree.body)))

    def scope(self, node: ast.AST) -> list[str]:
        """Return the parameters and local names of the functions around the node, the innermost first."""
        names = [name for found in self.ancestors(node) for name in self._locals.get(found, ())]
        return list(dict.fromkeys(names))

    @cached_property
    def _locals(self) -> dict[ast.AST, list[str]]:
        return {node: _local_names(node) for node in ast.walk(self.tree) if isinstance(node, FUNCTIONS)}

    @cached_property
    def attributes(self) -> dict[str, list[str]]:
        """Attributes by class: methods, annotated fields, and what methods assign to self."""
        return {node.name: _attributes(node) for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)}

    @cached_property
    def methods(self) -> dict[str, list[str]]:
        """Methods that are called without arguments, by the name that they are called on."""
        found: dict[str, list[str]] = {}
        for node in ast.walk(self.tree):
            call = bare_call(node)
            if call is not None and call[0] not in found.setdefault(root(call[1]), []):
                found[root(call[1])].append(call[0])
        return found

    @cached_property
    def texts(self) -> list[str]:
        """Texts in the code, without those that stand alone."""
        every = [node for node in ast.walk(self.tree) if isinstance(node, ast.Constant) and node not in self.docstrings]
        return list(dict.fromkeys(node.value for node in every if isinstance(node.value, str)))

    @cached_property
    def classes(self) -> list[tuple[list[str], frozenset[str]]]:
        """The attributes of each class, and which of them are methods."""
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]
        return [
            (self.attributes[node.name], frozenset(item.name for item in node.body if isinstance(item, FUNCTIONS)))
            for node in nodes
        ]

    @cached_property
    def docstrings(self) -> frozenset[ast.AST]:
        """Constants that are statements of their own."""
        return frozenset(node.value for node in ast.walk(self.tree) if isinstance(node, ast.Expr))


def _bound(body: Iterable[ast.AST]) -> Iterator[str]:
    for node in body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
            yield from _bound(node.body)
        elif not isinstance(node, ast.Lambda):
            yield from _bound(ast.iter_child_nodes(node))


def _local_names(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return [*(argument.arg for argument in every), *_bound(node.body)]


def _attributes(node: ast.ClassDef) -> list[str]:
    names = [
        item.target.id for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    ]
    names += _bound(node.body)
    names += [
        found.attr
        for found in ast.walk(node)
        if isinstance(found, ast.Attribute)
        and isinstance(found.ctx, ast.Store)
        and isinstance(found.value, ast.Name)
        and found.value.id == "self"
    ]
    return list(dict.fromkeys(name for name in names if not name.startswith("__")))


def root(node: ast.AST) -> str:
    """Return the nearest name at the heart of `a.b.name`, `name.strip()`, `name[0]`."""
    while True:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif isinstance(node, ast.Attribute):
            return node.attr
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            return ""


def bare_call(node: ast.AST) -> tuple[str, ast.expr] | None:
    """Return the method and the receiver of a call without arguments."""
    if isinstance(node, ast.Call) and not node.args and not node.keywords and isinstance(node.func, ast.Attribute):
        return node.func.attr, node.func.value
    return None


def read_source(path: str, data: bytes) -> SourceFile | None:
    """Return a file whose syntax tree can be had and whose bytes can be written again as they are, or None."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        source = SourceFile(path, data.decode(encoding), encoding)
        ast.parse(source.text)
        return source if source.data == data else None
    except (SyntaxError, ValueError, RecursionError):
        return None


@dataclass(frozen=True)
class Project:
    """All product files that can be parsed, by path."""

    files: dict[str, SourceFile]

    @cached_property
    def attributes(self) -> dict[str, list[str]]:
        """Attributes by class name, over all files."""
        return {name: found for source in self.files.values() for name, found in source.attributes.items()}

    @cached_property
    def methods(self) -> dict[str, list[str]]:
        """Methods that are called without arguments, by the name that they are called on, over all files."""
        found: dict[str, list[str]] = {}
        for source in self.files.values():
            for name, methods in source.methods.items():
                found[name] = list(dict.fromkeys([*found.get(name, ()), *methods]))
        return found

    @cached_property
    def texts(self) -> list[str]:
        """Texts of less than a line, over all files."""
        return list(dict.fromkeys(text for source in self.files.values() for text in source.texts if len(text) < 60))

    @cached_property
    def classes(self) -> list[tuple[list[str], frozenset[str]]]:
        """The attributes of each class, and which of them are methods, over all files."""
        return [found for source in self.files.values() for found in source.classes]
