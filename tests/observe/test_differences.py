"""What differs within a group of failures."""

from __future__ import annotations

import pytest

from pytest_fireloop.observe.causes import group_by_cause
from pytest_fireloop.observe.differences import Difference, differences
from pytest_fireloop.observe.record import CollectionError, Failure, RunRecord


def failure(
    message: str = "no", location: str = "a.py:1", node: str = "a.py::t", exception: str = "E", cause: str = "c"
) -> Failure:
    return Failure(f"{message}{location}", cause, (node,), exception, message, location)


@pytest.mark.parametrize(
    ("messages", "values", "shape"),
    [
        (["port 1 is taken", "port 20 is taken"], ("1", "20"), "port {} is taken"),
        (["port 1 is taken", "port 2 is taken", "port 2 is taken"], ("2", "1"), "port {} is taken"),
        (["assert 1.5 == -2", "assert 2.5 == -3"], ("1.5 / -2", "2.5 / -3"), "assert {} == {}"),
        (["no a here", "no b or c here"], ("a", "b or c"), "no {} here"),
        (["x", "y"], ("x", "y"), "{}"),
        (["a b", "cd"], ("a b", "cd"), ""),
        (["1 2 3 4 5 end", "6 7 8 9 0 end"], ("1 2 3 4 5", "6 7 8 9 0"), "{} end"),
        (["a", "a b"], ("", " b"), "a{}"),
        (["first\nsecond", "first\nthird"], (), ""),
        (["same", "same"], (), ""),
    ],
)
def test_messages(messages: list[str], values: tuple[str, ...], shape: str) -> None:
    found = differences([failure(message) for message in messages])
    assert found == ((Difference("message", values, shape),) if values else ())


def test_places_exceptions_and_files() -> None:
    found = differences([failure(), failure(location="b.py:2", exception="F", node="b.py::t[x::y]"), failure()])
    assert found == (
        Difference("exception", ("E", "F")),
        Difference("place", ("a.py:1", "b.py:2")),
        Difference("file", ("a.py", "b.py")),
    )


def test_runs_are_grouped_together_and_told_apart() -> None:
    one = RunRecord(
        "1", environment="py311", failures=(failure(),), collection_errors=(CollectionError("x.py", "s", "m", "d"),)
    )
    two = RunRecord("2", environment="py312", failures=(failure(node="a.py::u"),))
    groups = group_by_cause(one, two)
    assert [(group.cause, group.nodeids, group.differs) for group in groups] == [
        ("c", ("a.py::t", "a.py::u"), (Difference("run", ("py311", "py312")),)),
        ("d", ("x.py",), ()),
    ]
    assert group_by_cause(one)[0].nodeids in {("a.py::t",), ("x.py",)}


def test_a_thousand_long_messages_are_cut() -> None:
    groups = group_by_cause(
        RunRecord("1", failures=tuple(failure(f"{n} " * 50_000, node=f"a.py::t{n}") for n in range(1_200)))
    )
    assert len(groups[0].nodeids) == 1_200
    assert all(len(value) <= 400 for each in groups[0].differs for value in each.values)
