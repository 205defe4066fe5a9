"""Node ids as arguments of pytest."""

from __future__ import annotations

import pytest

from pytest_fireloop.act.test_run import absolute


@pytest.mark.parametrize(
    ("nodeids", "expected"),
    [
        (["t.py::a", "t.py::b[x#2]"], ["/p/t.py::a", "/p/t.py::b[x#2]"]),
        (["t.py::a#2"], ["/p/t.py::a"]),
        (["t.py::a", "t.py::a#2", "t.py::a#3"], ["/p/t.py::a"]),
        (["t.yaml::case #2"], ["/p/t.yaml::case #2"]),
    ],
)
def test_a_doubled_test_is_selected_by_the_id_that_pytest_knows(nodeids: list[str], expected: list[str]) -> None:
    assert absolute("/p", nodeids, {"t.py::a", "t.py::a#2", "t.py::a#3", "t.yaml::case #2"}) == expected
