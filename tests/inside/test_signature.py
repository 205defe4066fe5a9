"""Signatures: the same for the same failure, another for another."""

from __future__ import annotations

import pytest

from pytest_fireloop.inside.known_facts import named_values
from pytest_fireloop.inside.masks import MASKS
from pytest_fireloop.inside.signature import FailureFacts, cause, signature

FACTS = FailureFacts(
    "call", "ValueError", "ValueError: no cart at 0x7f3a5c0d1e80", "raise ValueError(x)", (("shop/a.py", "f"),)
)


@pytest.mark.parametrize("row", MASKS, ids=lambda row: row.name)
def test_each_mask_covers_its_example(row: object) -> None:
    assert isinstance(row, type(MASKS[0]))
    assert row.reason
    assert row.pattern.sub(row.replacement, row.example) != row.example


@pytest.mark.parametrize(
    "changes",
    [
        {"message": "ValueError: no cart at 0x55d0aa00ff10"},
        {"message": "ValueError: no  cart\n at 0x7f3a5c0d1e80"},
        {"message": "\x1b[31mValueError: no cart at 0x7f3a5c0d1e80\x1b[0m"},
        {"statement": "  raise ValueError(x)  "},
    ],
)
def test_noise_does_not_count(changes: dict[str, object]) -> None:
    assert signature(FACTS._replace(**changes)) == signature(FACTS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [
        {"phase": "setup"},
        {"exception": "KeyError"},
        {"message": "ValueError: no basket at 0x7f3a5c0d1e80"},
        {"statement": "raise ValueError(y)"},
        {"frames": (("shop/b.py", "f"),)},
        {"chain": (("KeyError", "'x'"),)},
    ],
)
def test_what_an_engineer_would_call_another_failure(changes: dict[str, object]) -> None:
    assert signature(FACTS._replace(**changes)) != signature(FACTS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "said", ["process {} has no store", "worker died (pid {})", "pid={}: gone", "demo[pid {}]: gone", "PID: {}"]
)
def test_the_number_of_the_own_process_is_replaced_however_small(said: str) -> None:
    # in a container it is small, as counts are
    small, large = (FACTS._replace(message=said.format(pid), known=named_values(pid=pid)) for pid in (57, 31_417))
    assert signature(small) == signature(large)


def test_a_small_number_that_is_none_of_a_process_counts() -> None:
    one, other = (FACTS._replace(message=f"expected {n} rows, got 3", known=named_values(pid=57)) for n in (57, 58))
    assert signature(one) != signature(other)


def test_known_facts_of_the_machine_are_replaced() -> None:
    here = FACTS._replace(message="no file /home/ann/shop/x", known=(("/home/ann/shop", "<root>"),))
    there = FACTS._replace(message="no file /srv/ci/shop/x", known=(("/srv/ci/shop", "<root>"),))
    assert signature(here) == signature(there)


def test_a_cause_is_coarser() -> None:
    one = FACTS._replace(exception="AssertionError", message="assert 1 == 2")
    other = FACTS._replace(exception="AssertionError", message="assert 3 == 4")
    assert signature(one) != signature(other)
    assert cause(one) == cause(other)
    assert cause(one) != cause(one._replace(frames=(("shop/b.py", "g"),)))
