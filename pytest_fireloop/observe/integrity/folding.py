"""Works out text that a program puts together from constants, so that a name cannot be hidden by being split."""

from __future__ import annotations

import ast
import base64
import binascii
import codecs

from pytest_fireloop.observe.integrity.syntax import dotted

#: Longer texts are not worked out.
LIMIT = 10_000
Text = str | bytes


def folded(node: ast.AST) -> Text | None:
    """Return what an expression of constants comes to; None for everything else."""
    try:
        found = _fold(node)
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, binascii.Error):
        return None
    return found if found is None or len(found) <= LIMIT else None


def _fold(node: ast.AST) -> Text | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str | bytes) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _fold(node.left), _fold(node.right)
        if isinstance(left, str) and isinstance(right, str):
            return left + right
        return left + right if isinstance(left, bytes) and isinstance(right, bytes) else None
    if isinstance(node, ast.JoinedStr):
        parts = [_fold(each.value if isinstance(each, ast.FormattedValue) else each) for each in node.values]
        return "".join(each for each in parts if isinstance(each, str)) if all(parts) else None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return _sliced(node)
    return _called(node) if isinstance(node, ast.Call) else None


def _sliced(node: ast.Subscript) -> Text | None:
    whole = _fold(node.value)
    assert isinstance(node.slice, ast.Slice)
    bounds = [
        ast.literal_eval(each) if each else None for each in (node.slice.lower, node.slice.upper, node.slice.step)
    ]
    return whole[slice(*bounds)] if whole is not None else None


def _called(node: ast.Call) -> Text | None:
    name = dotted(node).rpartition(".")[2]
    if name == "chr" and node.args:
        return chr(int(ast.literal_eval(node.args[0])))
    if name == "bytes" and node.args:
        return bytes(ast.literal_eval(node.args[0]))
    on = _fold(node.func.value) if isinstance(node.func, ast.Attribute) else None
    first = node.args[0] if node.args else None
    if name == "join" and isinstance(on, str) and isinstance(first, ast.List | ast.Tuple):
        parts = [_fold(each) for each in first.elts]
        return on.join(each for each in parts if isinstance(each, str)) if all(parts) else None
    if name == "decode" and isinstance(on, bytes):
        return on.decode()
    if name in {"lower", "upper", "swapcase"} and isinstance(on, str):
        return str(getattr(on, name)())
    if name == "replace" and isinstance(on, str) and len(node.args) == 2:
        old, new = map(_fold, node.args)
        return on.replace(old, new) if isinstance(old, str) and isinstance(new, str) else None
    content = _fold(first) if first is not None else None
    if content is None:
        return None
    if name == "b64decode":
        return base64.b64decode(content)
    if name == "fromhex" and isinstance(content, str):
        return bytes.fromhex(content)
    if name == "decode" and isinstance(content, str) and len(node.args) > 1 and "rot" in str(_fold(node.args[1])):
        return codecs.decode(content, "rot13")
    return None
