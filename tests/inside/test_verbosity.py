"""The signature of an assertion does not depend on how much of it pytest shows, nor on the order of hashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

ASSERTIONS = """
    import collections, dataclasses, unittest
    WORDS = [f"word{number}" for number in range(30)]
    @dataclasses.dataclass
    class Point:
        name: str
        tags: set
        inner: object = None
    Pair = collections.namedtuple("Pair", "a b")
    class Thing:
        def __repr__(self): return f"<Thing id={id(self)} open=False>"
    def test_list(): assert list(range(40)) == [*range(20), 99, *range(21, 40)]
    def test_tuple(): assert tuple(WORDS) == (*WORDS[:9], "x", *WORDS[10:])
    def test_dict(): assert dict.fromkeys(WORDS, 1) == {**dict.fromkeys(WORDS, 1), "word7": 2}
    def test_missing(): assert {"a": 1, "b": 2, "c": {"x", "y", "z"}} == {"a": 1}
    def test_nested(): assert [{"n": n, "tags": {"a", "b", WORDS[n]}} for n in range(9)] == [{"n": 4}] * 9
    def test_set(): assert set(WORDS) == {*WORDS[:25], "q", "r"}
    def test_subset(): assert set(WORDS) <= set(WORDS[2:])
    def test_member(): assert "zz" in set(WORDS[:5])
    def test_text(): assert "\\n".join(WORDS) == "\\n".join([*WORDS[:12], "changed", *WORDS[13:]])
    def test_hunks(): assert "\\n".join(WORDS) == "\\n".join(["start", *WORDS[1:12], "changed", *WORDS[13:]])
    def test_dataclass(): assert Point("a", {"x", "y", "zz"}, {"k": 1}) == Point("b", {"x", "y", "q"}, {"k": 2})
    def test_namedtuple(): assert Pair(1, 2) == Pair(1, 3)
    def test_counter(): assert collections.Counter("hello") == collections.Counter("help")
    def test_thing(): assert [Thing()] == [Thing()]
    def test_message(): raise ValueError(f"unknown {set(WORDS[:5])}")
    class TestUnit(unittest.TestCase):
        def test_sets(self): self.assertEqual(set(WORDS), {*WORDS[2:], "p", "q"})
        def test_in(self): self.assertIn("x", set(WORDS[:4]))
"""


def signatures(record: dict[str, Any]) -> dict[str, str]:
    return {test["nodeid"]: test["signature"] for test in record["tests"]}


@pytest.mark.parametrize(
    ("options", "environment"),
    [("-vv", {}), ("-vv", {"COLUMNS": "200"}), ("", {"CI": "1"}), ("--tb=short --color=yes -l", {"BUILD_NUMBER": "3"})],
)
def test_what_is_shown_makes_no_difference(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch, options: str, environment: dict[str, str]
) -> None:
    write({"test_a.py": ASSERTIONS})
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    plain = signatures(run()[2])
    assert len(plain) == len(set(plain.values())) == 17
    monkeypatch.setenv("PYTHONHASHSEED", "2")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    shown = signatures(run(*options.split())[2])
    assert [nodeid for nodeid in plain if shown[nodeid] != plain[nodeid]] == []
