"""What a loop may spend, with real waits of parts of a second."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest

from pytest_fireloop.act.budget import Budget
from pytest_fireloop.agents.agent import Outcome
from pytest_fireloop.judge.allowance import HOUR
from pytest_fireloop.remember.ledger import Ledger
from pytest_fireloop.show.display import Display


class Case:
    def __init__(
        self, folder: Path, calls: int = 10, usd: float | None = None, left: float = 60.0, *, quiet: bool = False
    ) -> None:
        self.said = io.StringIO()
        self.stopped = False
        self.ledger = Ledger(folder)
        display = Display(machine_output=False, quiet=quiet, stream=self.said)
        self.budget = Budget(
            self.ledger, "one", calls, usd, display, time_left=lambda: left, stopped=lambda: self.stopped
        )


def test_the_call_after_the_last_of_the_hour_waits_for_the_oldest_to_leave_it(tmp_path: Path) -> None:
    case = Case(tmp_path, calls=2)
    case.ledger.note(time.time() - HOUR + 0.5, "another loop")
    assert case.budget.before_call() is None
    case.budget.call()
    assert case.budget.last.left == 0
    started = time.monotonic()
    assert case.budget.before_call() is None
    assert time.monotonic() - started > 0.2
    assert "waiting until 2" in case.said.getvalue()
    assert "2 of 2 calls of the last hour are used (--max-calls-per-hour)" in case.said.getvalue()


def test_a_wait_is_told_in_one_line_where_quiet_was_asked_for(tmp_path: Path) -> None:
    case = Case(tmp_path, calls=1, quiet=True)
    case.ledger.note(time.time() - HOUR + 0.3, "another loop")
    assert case.budget.before_call() is None
    (line,) = case.said.getvalue().splitlines()
    assert line.startswith("waiting until 2")


def test_calls_that_ask_no_model_are_neither_counted_nor_waited_for(tmp_path: Path) -> None:
    case = Case(tmp_path, calls=1, left=0.1)
    case.budget.metered = False
    for _ in range(3):
        assert case.budget.before_call() is None
        case.budget.call()
    assert case.ledger.since(0.0, time.time()) == []
    case.ledger.note(time.time(), "another loop")
    assert case.budget.before_call() is None
    assert case.said.getvalue() == ""


def test_eighty_percent_is_told(tmp_path: Path) -> None:
    case = Case(tmp_path, calls=5)
    for _ in range(3):
        assert case.budget.before_call() is None
        case.budget.call()
    assert case.said.getvalue() == ""
    case.budget.call()
    assert case.budget.before_call() is None
    assert case.said.getvalue() == "warning: 4 of 5 calls of the last hour are used\n"


def test_a_wait_beyond_the_time_limit_ends_the_loop_at_once(tmp_path: Path) -> None:
    case = Case(tmp_path, left=30.0)
    case.budget.spent(Outcome("rate_limited", "You have hit your limit"))
    ending = case.budget.before_call()
    assert ending is not None
    assert (ending.verdict, ending.exit_code) == ("limit", 1)
    assert "rate_limited: You have hit your limit" in ending.reason
    assert "after the time limit of the loop" in ending.reason


def test_a_stop_ends_a_wait(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.budget.spent(Outcome("error", "no network"))
    case.stopped = True
    ending = case.budget.before_call()
    assert ending is not None
    assert ending.verdict == "interrupted"


def test_waits_grow_and_begin_anew_after_a_call_that_reached_the_model(tmp_path: Path) -> None:
    case = Case(tmp_path, left=1.0)
    said = []
    for status in ("rate_limited", "rate_limited", "ok", "rate_limited"):
        case.budget.spent(Outcome(status))
        said.append(case.budget.in_a_row)
    assert said == [1, 2, 0, 1]


def test_the_cost_limit(tmp_path: Path) -> None:
    case = Case(tmp_path, usd=1.0)
    case.budget.spent(Outcome("ok", usd=0.75))
    assert case.budget.before_call() is None
    case.budget.spent(Outcome("ok", usd=0.5))
    ending = case.budget.before_call()
    assert ending is not None
    assert ending.verdict == "limit"
    assert ending.reason.startswith("the cost limit of 1 USD was reached: 1.25 USD are spent; ")


@pytest.mark.parametrize(("usd", "warned"), [(None, True), (0.0, False)])
def test_an_agent_that_does_not_tell_its_cost_is_told_once(tmp_path: Path, usd: float | None, warned: bool) -> None:
    case = Case(tmp_path, usd=1.0)
    for _ in range(3):
        case.budget.spent(Outcome("ok", usd=usd))
    assert case.said.getvalue().count("--max-cost cannot hold it") == int(warned)
