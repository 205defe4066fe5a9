"""Examples in the documentation of a product, before and after."""

from __future__ import annotations

import pytest

from pytest_fireloop.observe.integrity.doctests import compare_doctests

SOURCE = '''"""Sums.

>>> half(4)
2
"""


def half(n):
    """Halve.

    >>> half(6)
    3
    """
    return n // 2


def often():
    """Ask twice.

    >>> numbers = iter([1, 2])
    >>> next(numbers)
    1
    >>> next(numbers)
    2
    """


class Sum:
    def add(self, n):
        """Add.

        >>> Sum().add(1)
        1
        """
        return n
'''


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("    3\n", "    4\n", [("doctest_changed", "blocker", 8)]),
        ("    >>> half(6)\n    3\n", "", []),
        ("    >>> half(6)\n", "    >>> half(5)\n", [("doctest_changed", "blocker", 8)]),
        ("half(6)\n", "half(6)  # doctest: +ELLIPSIS\n", [("doctest_changed", "blocker", 8)]),
        ("half(6)\n", "half(6)  # doctest: +SKIP\n", [("doctest_changed", "blocker", 8)]),
        ("        1\n", "        2\n", [("doctest_edited", "warning", 29)]),
        ('    2\n    """\n', '    3\n    """\n', [("doctest_edited", "warning", 17)]),
        # more of it, other words, other code
        ("    3\n", "    3\n    >>> half(8)\n    4\n", []),
        ("Halve.", "Return a half.", []),
        ("return n // 2", "return int(n / 2)", []),
        ("def half", "def halve", []),
    ],
)
def test_examples(old: str, new: str, expected: list[tuple[str, str, int]]) -> None:
    assert old in SOURCE
    found = compare_doctests("sums.py", SOURCE.encode(), SOURCE.replace(old, new).encode(), {"sums.half"})
    assert [(each.kind, each.severity, each.line) for each in found] == expected
