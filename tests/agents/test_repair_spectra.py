from __future__ import annotations

from math import sqrt

import pytest

from pytest_fireloop.agents.repair.observation import Observation
from pytest_fireloop.agents.repair.spectra import ochiai, rank


@pytest.mark.parametrize(
    ("failing_here", "passing_here", "failing", "expected"),
    [(2, 0, 2, 1.0), (1, 0, 4, 0.5), (1, 3, 1, 0.5), (0, 5, 2, 0.0), (0, 0, 0, 0.0)],
)
def test_ochiai(failing_here: int, passing_here: int, failing: int, expected: float) -> None:
    assert ochiai(failing_here, passing_here, failing) == expected


def seen(**changes: object) -> Observation:
    values: dict[str, object] = {
        "outcomes": {"t::red": "failed", "t::green": "passed", "t::other": "passed"},
        "lines": {
            ("a.py", 1): frozenset({""}),
            ("a.py", 2): frozenset({"t::red"}),
            ("a.py", 3): frozenset({"t::red", "t::green"}),
            ("a.py", 4): frozenset({"t::green", "t::other"}),
            ("t.py", 1): frozenset({"t::red"}),
        },
    }
    return Observation(**(values | changes))  # type: ignore[arg-type]


def test_lines_of_failing_tests_only_come_first() -> None:
    ranked = [(suspect.line, suspect.score) for suspect in rank(seen(), ["t::red"], {"a.py"})]
    assert ranked == [(2, 1.0), (3, 1 / sqrt(2)), (1, 0.6 * (1 / sqrt(3)))]


def test_each_suspect_names_the_failing_tests_that_depend_on_it() -> None:
    assert {suspect.failing for suspect in rank(seen(), ["t::red"], {"a.py"})} == {frozenset({"t::red"})}


def test_a_line_that_the_exception_passed_by_counts_more() -> None:
    ranked = rank(seen(frames={"t::red": (("a.py", 3),)}), ["t::red"], {"a.py"})
    assert [(suspect.line, suspect.score) for suspect in ranked[:2]] == [(3, 1.5 / sqrt(2)), (2, 1.0)]


def test_a_failure_while_importing_is_ranked_by_its_traceback() -> None:
    broken = Observation(outcomes={"t.py": "error"}, frames={"t.py": (("t.py", 1), ("a.py", 7))})
    ranked = [(suspect.path, suspect.line, suspect.failing) for suspect in rank(broken, ["t.py"], {"a.py"})]
    assert ranked == [("a.py", 7, frozenset({"t.py"}))]


def test_nothing_is_suspicious_when_nothing_fails() -> None:
    assert rank(seen(), [], {"a.py"}) == []
