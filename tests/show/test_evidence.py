"""Every rule has a sentence."""

from __future__ import annotations

from pytest_fireloop.judge.evidence import Evidence
from pytest_fireloop.judge.rules.table import RULES
from pytest_fireloop.show.evidence import SENTENCES, reason, sentence


def test_every_rule_has_a_sentence() -> None:
    assert set(SENTENCES) == {rule.reason for rule in RULES}
    for rule in SENTENCES:
        assert "{" not in sentence(Evidence(rule, 3, 2, (1, 3), ("t::a",)))


def test_what_it_says() -> None:
    found = Evidence("no_progress", 3, 3, (2, 3, 4))
    expected = "3 iterations in a row in which nothing meaningful changed and no test got better (iterations 2 to 4)"
    assert reason([found]) == sentence(found) == expected
    share = Evidence("test_fix_loop", 0.914, 0.8, (1,), ())
    assert sentence(share) == "91% of the changed lines are in tests, more than 80%, and tests still fail"
