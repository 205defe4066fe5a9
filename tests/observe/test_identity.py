"""Which test is which in another run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fireloop.observe.delta import Delta, compare
from pytest_fireloop.observe.identity import pair, rebased, stable_ids
from pytest_fireloop.observe.record import RunRecord, TestResult


def record(outcomes: dict[str, str], **changes: object) -> RunRecord:
    tests = tuple(TestResult(node, said) for node, said in outcomes.items())
    made = RunRecord("r", exit_code=1, complete=True, collected=len(tests), tests=tests, rootdir="/p")
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("t.py::f[<O object at 0x7f3a5c0d1e80>]", "t.py::f[<O object at 0x7f3a5c0d2000>]"),
        ("t.py::f[6f1c2a9e-0b7d-4a52-9f3e-2d1c0b9a8f7e]", "t.py::f[11111111-0b7d-4a52-9f3e-2d1c0b9a8f7e]"),
        ("t.py::f[/tmp/pytest-of-ann/pytest-12/a]", "t.py::f[/var/tmp/pytest-of-bob/pytest-3/a]"),
        ("t.py::f[/tmp/tmpab12cd_x]", "t.py::f[/tmp/tmpzz12cd_y]"),
    ],
)
def test_what_differs_in_each_run_is_no_part_of_an_id(first: str, second: str) -> None:
    assert stable_ids([first])[first] == stable_ids([second])[second]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("t.py::f[0x10000]", "t.py::f[0x20000]"),
        ("t.py::f[6f1c2a9e0b7d4a529f3e2d1c0b9a8f7e]", "t.py::f[00000a9e0b7d4a529f3e2d1c0b9a8f7e]"),
        ("t.py::f[1]", "t.py::f[2]"),
        ("t.py::f_0x7f3a5c0d1e80", "t.py::f_0x7f3a5c0d1e81"),
        ("a[0x7f3a5c0d1e80]/t.py::f", "a[0x7f3a5c0d1e81]/t.py::f"),
        ("t.py::f[ab]", "t.py::f[abc]"),
    ],
)
def test_other_parameters_are_other_tests(first: str, second: str) -> None:
    assert stable_ids([first])[first] != stable_ids([second])[second]


def test_equal_ids_are_numbered_in_their_order() -> None:
    ids = [f"t.py::f[<O object at 0x7f3a5c0d1e8{number}>]" for number in range(3)]
    stable = "t.py::f[<O object at 0x?>]"
    assert list(stable_ids(ids).values()) == [stable, f"{stable}#2", f"{stable}#3"]


def test_a_moved_file_holds_the_same_tests() -> None:
    before = record(
        {"tests/test_a.py::one": "failed", "tests/test_a.py::two": "passed", "tests/test_b.py::x": "passed"}
    )
    after = record({"unit/test_a.py::one": "passed", "unit/test_a.py::two": "failed", "tests/test_b.py::x": "passed"})
    assert compare(before, after) == Delta(
        newly_passing=("unit/test_a.py::one",), newly_failing=("unit/test_a.py::two",)
    )


def test_a_moved_and_edited_file_keeps_what_it_shares() -> None:
    before = record({f"a/test_a.py::{name}": "failed" for name in ("one", "two", "three")})
    after = record({f"b/test_z.py::{name}": "failed" for name in ("one", "two", "four")})
    assert compare(before, after) == Delta(
        still_failing=("b/test_z.py::one", "b/test_z.py::two"),
        added=("b/test_z.py::four",),
        removed=("a/test_a.py::three",),
    )


@pytest.mark.parametrize(
    "after",
    [
        {"tests/test_a.py::two": "passed", "tests/test_new.py::one": "passed"},  # the old file stays
        {"tests/test_new.py::other": "passed"},  # another name
    ],
)
def test_another_file_with_other_tests_is_not_the_same(after: dict[str, str]) -> None:
    before = record({"tests/test_a.py::one": "failed", "tests/test_a.py::two": "passed"})
    found = compare(before, record(after))
    assert "tests/test_a.py::one" in found.removed
    assert found.newly_passing == ()


def test_a_part_moves_no_file() -> None:
    before = record({"a/test_a.py::one": "failed", "b/test_b.py::two": "passed"})
    after = record({"b/test_c.py::one": "passed"}, partial=True)
    assert compare(before, after) == Delta(added=("b/test_c.py::one",))


def test_a_function_whose_ids_all_change_is_compared_by_its_outcomes() -> None:
    before = record({f"t.py::f[0.12345{number}]": "failed" if number == 1 else "passed" for number in range(1, 5)})
    after = record({f"t.py::f[0.12345{number}]": "passed" for number in range(5, 9)})
    found = compare(before, after)
    assert (found.added, found.removed, len(found.newly_passing)) == ((), (), 1)
    fewer = record({f"t.py::f[0.12345{number}]": "passed" for number in range(5, 8)})
    assert len(compare(before, fewer).removed) == 4


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # a failing parameter is taken away, its neighbours stay
        (
            {"t.py::f[0x7f3a5c0d1e80]": "failed", "t.py::f[0x7f3a5c0d1e81]": "passed"},
            {"t.py::f[0x7f3a5c0d1e81]": "passed"},
            Delta(removed=("t.py::f[0x7f3a5c0d1e80]",)),
        ),
        # chosen values are replaced by others
        (
            {"t.py::f[2]": "failed", "t.py::f[4]": "failed"},
            {"t.py::f[1]": "passed", "t.py::f[3]": "passed"},
            Delta(added=("t.py::f[1]", "t.py::f[3]"), removed=("t.py::f[2]", "t.py::f[4]")),
        ),
        # a file goes, another with a test of that name comes
        (
            {"old.py::basic": "failed", "x.py::x": "passed"},
            {"unrelated.py::basic": "passed", "unrelated.py::more": "passed", "x.py::x": "passed"},
            Delta(added=("unrelated.py::basic", "unrelated.py::more"), removed=("old.py::basic",)),
        ),
    ],
    ids=["neighbour", "chosen", "unrelated"],
)
def test_what_was_deleted_is_never_called_mended(
    before: dict[str, str], after: dict[str, str], expected: Delta
) -> None:
    assert compare(record(before), record(after)) == expected


def test_one_changed_parameter_is_another_test() -> None:
    found = compare(record({"t.py::f[2-5]": "failed"}), record({"t.py::f[2-4]": "passed"}))
    assert found == Delta(added=("t.py::f[2-4]",), removed=("t.py::f[2-5]",))


@pytest.mark.parametrize(
    ("root", "onto", "expected"),
    [
        ("/p/sub", "/p", {"t.py::f": "sub/t.py::f"}),
        ("/p", "/p/sub", {"t.py::f": "t.py::f"}),
        ("/one/checkout", "/another/checkout", {"t.py::f": "t.py::f"}),
    ],
)
def test_ids_are_seen_from_one_root(root: str, onto: str, expected: dict[str, str]) -> None:
    assert rebased(["t.py::f"], root, onto) == expected


def test_runs_of_two_roots_compare_the_tests_that_both_show() -> None:
    before = record({"sub/t.py::f": "failed", "u.py::g": "passed"})
    after = record({"t.py::f": "passed"}, rootdir="/p/sub", scope="other")
    assert compare(before, after) == Delta(newly_passing=("t.py::f",))


def test_the_order_of_tests_never_matters() -> None:
    before = {f"a/test_{name}.py::{name}[{number}]": "failed" for name in "xyz" for number in range(3)}
    after = {f"b/test_{name}.py::{name}[{number}]": "passed" for name in "xyz" for number in range(3)}
    forward = pair(before, after, whole=True)
    backward = pair(dict(reversed(before.items())), dict(reversed(after.items())), whole=True)
    assert forward == backward
    assert len(forward.same) == 9
