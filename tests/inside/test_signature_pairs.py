"""Signatures on labelled pairs of failures, and on text that nobody would write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_fireloop.inside.printed import broken_source, chained_places, doctest_lines, leaves, own_places
from pytest_fireloop.inside.signature import FailureFacts, cause, signature
from pytest_fireloop.observe.failure_text import facts_of

DATA = Path(__file__).parents[1] / "data" / "signatures"
PAIRS = [json.loads(line) for line in (DATA / "pairs.jsonl").read_text("utf-8").splitlines()]
LENGTH = 100_000
#: Beginnings of what the rules look for, without the end that they look for.
ADVERSARIAL: list[str] = json.loads((DATA / "adversarial.json").read_text("utf-8"))
KNOWN = (("/home/ann/shop", "<root>"), ("/home/ann", "<home>"), ("ann", "<user>"), ("1796000000.5", "<start>"))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["id"])
def test_labelled_pairs(pair: dict[str, Any]) -> None:
    one, other = (signature(facts_of(pair[side])) for side in "ab")
    assert (one == other) == (pair["label"] == "same"), pair["why"]


def test_there_are_pairs_of_many_kinds() -> None:
    assert len({pair["kind"] for pair in PAIRS}) >= 40
    assert {pair["label"] for pair in PAIRS} == {"same", "different"}


def test_a_cause_never_tells_apart_what_the_signature_takes_as_one() -> None:
    for pair in PAIRS:
        one, other = (facts_of(pair[side]) for side in "ab")
        if signature(one) == signature(other):
            assert cause(one) == cause(other), pair["id"]


@pytest.mark.parametrize("piece", ADVERSARIAL, ids=ascii)
def test_text_that_nobody_would_write_gets_a_signature(piece: str) -> None:
    for text in (piece * (LENGTH // len(piece)), f"assert {piece * 2000} == 1\n  {piece * 20_000}"[:LENGTH]):
        for exception in ("AssertionError", "ValueError"):
            facts = FailureFacts("call", exception, text, "assert elapsed < 1", (), ((exception, text),), KNOWN)
            assert len(signature(facts)) == len(cause(facts)) == 16
        own_places(text, "/home/ann/shop")
        chained_places(text, "/home/ann/shop")
        broken_source(text, "/home/ann/shop")
        leaves(text)
        doctest_lines(text)
