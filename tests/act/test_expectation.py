"""What a run with the tests of the start must show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fireloop.act.expectation import Expectation
from pytest_fireloop.observe.record import CollectionError, Failure, RunRecord, TestResult


def run(outcomes: dict[str, str], **more: object) -> RunRecord:
    tests = tuple(TestResult(f"t.py::{name}", said, cause=name[0]) for name, said in outcomes.items())
    made = RunRecord("1", exit_code=0, complete=True, collected=len(tests), tests=tests)
    return replace(made, **more)  # type: ignore[arg-type]


START = {"a1": "passed", "b1": "failed", "b2": "failed", "c1": "error", "s1": "skipped", "x1": "xfailed"}
GREEN = {"a1": "passed", "b1": "passed", "b2": "passed", "c1": "passed", "s1": "skipped", "x1": "xfailed"}
STRICT = Failure("1", "1", ("t.py::x1",), "Failed", "[XPASS(strict)] later", "t.py:1")
EXPECTED = Expectation(run(START, exit_code=1), lambda _: True)


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        (run(GREEN), None),
        (run({**GREEN, "s1": "passed", "x1": "xpassed", "new": "passed"}), None),
        (run({**GREEN, "x1": "failed"}, exit_code=1, failures=(STRICT,)), None),
        (run({**GREEN, "x1": "failed"}, exit_code=1), "t.py::x1 fails"),
        (run({**GREEN, "new": "failed"}, exit_code=1), "t.py::new fails"),
        (run({**GREEN, "b1": "skipped"}), "with the tests of the start, t.py::b1 must pass; it is skipped"),
        (run({**GREEN, "b1": "xfailed", "b2": "failed"}), "with the tests of the start, t.py::b1 and 1 more must pass; the first is xfailed"),
        (run({k: v for k, v in GREEN.items() if k != "a1"}), "with the tests of the start, t.py::a1 must pass; it is not run"),
        (run({**GREEN, "x1": "skipped"}), "t.py::x1 is skipped now, which it was not at the start"),
        (run({k: v for k, v in GREEN.items() if k != "x1"}), "t.py::x1, which failed as expected at the start, is not run"),
        (run(GREEN, exit_code=1), "every test passes and the exit code is 1"),
        (run(GREEN, complete=False, incomplete_reason="it ended"), "the run is not complete: it ended"),
        (run(GREEN, collected=9), "9 tests were collected and 6 reported"),
        (run(GREEN, extra={"modules_outside": ["shop"]}), "the run loaded code from the tree itself: shop"),
        (
            run(GREEN, collection_errors=(CollectionError("u.py", "1", "?"),)),
            "with the tests of the start, u.py cannot be collected",
        ),
    ],
)  # fmt: skip
def test_why_a_run_is_not_green(record: RunRecord, fault: str | None) -> None:
    assert EXPECTED.fault(record) == fault


def test_one_a_cause_comes_first() -> None:
    assert EXPECTED.failed_before == ("t.py::b1", "t.py::c1", "t.py::b2")


def test_a_file_that_could_not_be_collected_must_show_a_passing_test() -> None:
    broken = (CollectionError("u.py", "1", "no module"),)
    expected = Expectation(run({"a1": "passed"}, exit_code=2, collection_errors=broken), lambda _: True)
    assert (
        expected.fault(run({"a1": "passed"}))
        == "no test of u.py passes, a file that could not be collected at the start"
    )
    whole = run({"a1": "passed"})
    assert expected.fault(replace(whole, tests=(*whole.tests, TestResult("u.py::u", "passed")), collected=2)) is None


def test_a_flaky_test_may_be_left_out_of_account() -> None:
    record = run({**GREEN, "a1": "failed"}, exit_code=1)
    assert EXPECTED.fault(record, apart_from={"t.py::a1"}) is None
    assert EXPECTED.fault(record) == "with the tests of the start, t.py::a1 must pass; it is failed"


def test_tests_that_the_user_opened_are_not_asked_for() -> None:
    expected = Expectation(run(START), lambda path: path != "t.py")
    assert expected.failed_before == ()
    assert expected.fault(run({"a1": "passed"})) is None
    assert expected.fault(run({"s1": "skipped"})) == "no test passes"


def test_only_a_strict_pass_is_forgiven_in_place() -> None:
    strict = EXPECTED.discounted(run({**GREEN, "x1": "failed"}, exit_code=1, failures=(STRICT,)))
    assert (strict.sound, strict.outcomes["t.py::x1"], strict.failures) == (True, "xpassed", ())
    assert not EXPECTED.discounted(run({**GREEN, "x1": "failed"}, exit_code=1)).sound
    assert not EXPECTED.discounted(run(GREEN, exit_code=1)).sound
    other = EXPECTED.discounted(run({**GREEN, "x1": "failed", "a1": "failed"}, exit_code=1, failures=(STRICT,)))
    assert (other.exit_code, other.red) == (1, frozenset({"t.py::a1"}))


def test_what_passed_at_the_start_and_is_red_now_may_be_flaky() -> None:
    assert EXPECTED.turned(run({**GREEN, "a1": "failed", "b1": "failed", "n1": "failed"})) == ["t.py::a1"]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (run(START), None),
        (run({**START, "a1": "failed"}), "the baseline gives other results elsewhere: t.py::a1 passed -> failed"),
        (run({**START, "new": "passed"}), "the baseline gives other results elsewhere: t.py::new None -> passed"),
        (run({**START, "b1": "passed"}), None),
        (run(START, extra={"modules_outside": ["shop"]}), "code of the tree itself is loaded elsewhere too: shop"),
        (run(START, collection_errors=(CollectionError("u.py", "1", "?"),)), "other files can be collected elsewhere"),
    ],
)
def test_whether_the_room_reproduces_the_baseline(record: RunRecord, said: str | None) -> None:
    assert EXPECTED.not_reproduced(record, {"t.py::b1"}) == said
