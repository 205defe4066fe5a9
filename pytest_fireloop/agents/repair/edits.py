"""The table of typed edits, and the edits that a line of source allows."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pytest_fireloop.agents.repair import calls, names, operators, statements
from pytest_fireloop.agents.repair.source import FUNCTIONS, Project, SourceFile, Span

Row = Callable[[ast.AST, SourceFile, Project], Iterator[Span]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One row of the table; `prior` says how likely such a mistake is, against the likeliest."""

    name: str
    prior: float
    reason: str
    spans: Row


@dataclass(frozen=True, slots=True)
class Edit:
    """One small change of one file; `line` is the line that it is ranked by."""

    path: str
    line: int
    kind: Kind
    span: Span
    weight: float

    def apply(self, text: str) -> str:
        """Return the file's text with the edit made."""
        return text[: self.span.start] + self.span.text + text[self.span.end :]


TABLE = (
    Kind("boundary", 1.0, "a bound is in or out by mistake", operators.boundary),
    Kind("boolean", 0.95, "and, or: taken for each other", operators.boolean),
    Kind("not_dropped", 0.85, "a condition is the wrong way round", operators.not_dropped),
    Kind("opposite", 0.8, "a comparison is the wrong way round", operators.opposite),
    Kind("arguments_swapped", 0.8, "arguments are in the wrong order", calls.arguments_swapped),
    Kind("raise_added", 0.8, "an exception is made but not raised", statements.raise_added),
    Kind("sibling_method", 0.8, "a value is not normalised as elsewhere", calls.sibling_method),
    Kind("truth_flipped", 0.75, "a flag has the wrong value", operators.truth_flipped),
    Kind("arithmetic", 0.75, "a wrong operator", operators.arithmetic),
    Kind("one_more_or_less", 0.7, "a number is off by one", operators.one_more_or_less),
    Kind("near_attribute", 0.7, "an attribute is misspelled or mistaken for a like one", names.near_attribute),
    Kind("near_name", 0.7, "a name is misspelled or mistaken for a like one", names.near_name),
    Kind("near_text", 0.65, "a text is misspelled", names.near_text),
    Kind("counterpart", 0.65, "a function is mistaken for its counterpart", calls.counterpart),
    Kind("negated", 0.6, "a condition lacks its not", operators.negated),
    Kind("self_added", 0.6, "an attribute is written as a plain name", names.self_added),
    Kind("offset_dropped", 0.55, "one is added or taken away in vain", operators.offset_dropped),
    Kind("accumulated", 0.5, "a sum is overwritten", statements.accumulated),
    Kind("operands_swapped", 0.5, "operands are in the wrong order", operators.operands_swapped),
    Kind("return_added", 0.5, "a result is not returned", statements.return_added),
    Kind("method_called", 0.5, "a method is named but not called", calls.method_called),
    Kind("other_exception", 0.5, "the wrong exception", names.other_exception),
    Kind("awaited", 0.5, "a coroutine is not awaited", calls.awaited),
    Kind("fallback_dropped", 0.5, "the two cases are the wrong way round", statements.fallback_dropped),
    Kind("other_constant", 0.45, "the wrong constant", names.other_constant),
    Kind("jump_swapped", 0.45, "a loop ends too early or too late", statements.jump_swapped),
    Kind("offset_by_one", 0.4, "a bound or index is off by one", operators.offset_by_one),
    Kind("sibling_attribute", 0.4, "another attribute of the same class is meant", names.sibling_attribute),
    Kind("moved_out", 0.4, "a statement is in a block by mistake", statements.moved_out),
    Kind("self_dropped", 0.4, "a plain name is written as an attribute", names.self_dropped),
    Kind("operand_dropped", 0.35, "a condition is too much", operators.operand_dropped),
    Kind("guard_added", 0.35, "a check is missing that other functions make", statements.guard_added),
    Kind("method_dropped", 0.35, "a value is changed in vain", calls.method_dropped),
    Kind("moved_in", 0.3, "a statement is left out of its block", statements.moved_in),
    Kind("other_local", 0.3, "another name in scope is meant", names.other_local),
    Kind("lookup_softened", 0.3, "a missing key is an error", calls.lookup_softened),
    Kind("other_number", 0.25, "the wrong number", operators.other_number),
    Kind("any_method", 0.2, "a value is not normalised", calls.any_method),
    Kind("other_text", 0.2, "the wrong text", names.other_text),
)
# A statement that could destroy something outside the copy of the tree is left as it is.
_DANGEROUS = (
    "rmtree",
    "unlink",
    "rmdir",
    "os.remove",
    "os.kill",
    "os.system",
    "subprocess",
    "truncate",
    "DROP ",
    "DELETE ",
)


def edits_of(source: SourceFile, project: Project, scores: Mapping[int, float]) -> list[Edit]:
    """Return the edits at the lines that have a score, the likeliest first."""
    found: dict[tuple[int, int, str], Edit] = {}
    dangerous = {node for node in ast.walk(source.tree) if isinstance(node, ast.stmt) and _is_dangerous(node, source)}
    for node in ast.walk(source.tree):
        statement = source.statement(node)
        line = _ranked_line(node, statement, scores) if statement is not None else None
        if line is None or statement in dangerous or not _is_placed(node, source):
            continue
        for kind in TABLE:
            for span in kind.spans(node, source, project):
                edit = Edit(source.path, line, kind, span, scores[line] * kind.prior)
                if edit.apply(source.text) != source.text:
                    found.setdefault((span.start, span.end, span.text), edit)
    return sorted(found.values(), key=lambda edit: -edit.weight)


def _ranked_line(node: ast.AST, statement: ast.stmt, scores: Mapping[int, float]) -> int | None:
    """Return the line that a part of a statement ranks by: its own, else the statement's first one."""
    line = getattr(node, "lineno", statement.lineno)
    first = min([statement.lineno, *(item.lineno for item in getattr(statement, "decorator_list", []))])
    return next((number for number in (line, statement.lineno, first) if number in scores), None)


def _is_placed(node: ast.AST, source: SourceFile) -> bool:
    """Tell whether a node is where it says: within formatted texts older Pythons are wrong about that."""
    if not isinstance(node, ast.expr) or not any(isinstance(item, ast.JoinedStr) for item in source.ancestors(node)):
        return True
    try:
        found = ast.parse(source.segment(node), mode="eval").body
    except (SyntaxError, ValueError, IndexError):
        return False
    return ast.dump(found) == ast.dump(node)


def _is_dangerous(statement: ast.stmt, source: SourceFile) -> bool:
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return False
    body = getattr(statement, "body", None)
    end = source.start(body[0]) if isinstance(body, list) and body else source.end(statement)
    own = source.text[source.start(statement) : end]
    return any(word in own for word in _DANGEROUS)
