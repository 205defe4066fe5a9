"""Untrusted text, made fit to show."""

from __future__ import annotations

import pytest

from pytest_fireloop.observe.text import clean, fenced, one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("nul\x00 bell\x07 del\x7f c1\x9b", "nul bell del c1"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("surrogate \udcff", "surrogate \\udcff"),
        ("bidi \u202eevil", "bidi evil"),
        ("tab\tand \u00e9", "tab\tand \u00e9"),
    ],
)
def test_clean(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_limits() -> None:
    assert clean("x" * 30, 10) == "x" * 10 + "... [20 more characters]"
    assert one_line(" a\n  b\t c ") == "a b c"


@pytest.mark.parametrize("text", ["no fence", "```\ninside\n```", "`````"])
def test_nothing_closes_the_fence(text: str) -> None:
    lines = fenced(text).split("\n")
    fence = lines[-1]
    assert lines[0] == f"{fence}text"
    assert fence not in text
