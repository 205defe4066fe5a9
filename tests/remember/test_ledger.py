"""The calls of all loops of a user."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

from pytest_fireloop.judge.allowance import HOUR
from pytest_fireloop.remember.ledger import KEPT_S, NAME, Ledger

NOW = 1_000_000.0


def test_calls_of_several_loops_count_together_and_survive(tmp_path: Path) -> None:
    first, second = Ledger(tmp_path), Ledger(tmp_path)
    first.note(NOW - 10, "one")
    second.note(NOW - 5, "two")
    second.note(NOW - 2 * HOUR, "two")
    assert sorted(Ledger(tmp_path).since(NOW - HOUR, NOW)) == [NOW - 10, NOW - 5]
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


def test_a_clock_that_went_back_costs_an_hour_and_no_more(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.note(NOW, "one")
    before = NOW - 30 * 86_400
    assert ledger.since(before - HOUR, before) == [before]
    assert ledger.since(before + 1 - HOUR, before + HOUR + 1) == [before]
    assert ledger.since(before + 1, before + HOUR + 1) == []


def test_old_calls_are_forgotten(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.note(NOW - KEPT_S - 1, "one")
    ledger.note(NOW, "one")
    assert ledger.since(0, NOW) == [NOW]


def test_many_at_once_lose_none(tmp_path: Path) -> None:
    def work(name: str) -> None:
        ledger = Ledger(tmp_path)
        for number in range(20):
            ledger.note(NOW - number, name)

    threads = [threading.Thread(target=work, args=(str(number),)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Ledger(tmp_path).since(NOW - HOUR, NOW)) == 100


def test_a_file_that_cannot_be_used_leaves_the_loop_its_own_calls(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"no database " * 100)
    ledger = Ledger(tmp_path)
    assert ledger.problem is not None
    assert NAME in ledger.problem
    ledger.note(NOW - 5, "one")
    assert ledger.since(NOW - HOUR, NOW) == [NOW - 5]
    assert (tmp_path / NAME).read_bytes() == b"no database " * 100
    (tmp_path / "file").write_text("")
    assert Ledger(tmp_path / "file").problem is not None
