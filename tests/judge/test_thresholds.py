"""Every threshold has a name, a profile and a sensible range."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pytest_fireloop
from pytest_fireloop.judge.recovery import ADVICE, ESCALATE, KIND, STRATEGIES, strategy
from pytest_fireloop.judge.rules.table import RULES
from pytest_fireloop.judge.settings import THRESHOLDS, Settings, admitted_for


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("balanced", {"no_progress": 3, "identical_errors": 5, "output_decline": 0.7, "no_net_progress": 8}),
        ("aggressive", {"no_progress": 2, "identical_errors": 3, "output_decline": 0.4, "no_net_progress": 6}),
        ("strict", {"no_progress": 3, "identical_errors": 5, "output_decline": 0.7, "permission_denials": 3}),
    ],
)
def test_the_profiles(profile: str, expected: dict[str, float]) -> None:
    settings = Settings.for_profile(profile)
    assert {name: settings[name] for name in expected} == expected
    assert (settings["cooldown_s"], settings["cooldown_cap_s"]) == (1800, 28800)


def test_aggressive_is_nowhere_more_patient() -> None:
    assert [each.name for each in THRESHOLDS.values() if each.aggressive > each.balanced] == []


def test_each_rule_has_a_reason_of_its_own_and_a_source() -> None:
    reasons = [rule.reason for rule in RULES]
    assert len({*reasons}) == len({rule.order for rule in RULES}) == len(RULES) >= 12
    # an agent that crashes shows nothing of the work, and what only a person can mend comes before what a loop can
    assert reasons[:3] == ["agent_unavailable", "blocked", "integrity"]
    assert all(rule.source for rule in RULES)


def test_each_rule_that_warns_has_something_to_try_next() -> None:
    for rule in RULES:
        assert strategy(rule.reason, 0) in ADVICE
        assert strategy(rule.reason, 99) == ESCALATE
    assert set(KIND) | set(STRATEGIES) <= {rule.reason for rule in RULES}
    assert set(KIND.values()) <= set(STRATEGIES)


@pytest.mark.parametrize(
    ("profile", "overrides", "message"),
    [
        ("lenient", {}, "unknown profile 'lenient'; known are balanced, strict, aggressive"),
        ("balanced", {"idle": 3}, "unknown threshold 'idle' in profile balanced; known are agent_crashes, "),
        ("strict", {"no_net_progress": 3}, "unknown threshold 'no_net_progress' in profile strict; "),
        ("balanced", {"no_progress": 0}, "threshold no_progress is 0, must be a whole number from 1"),
        ("balanced", {"no_progress": 2.5}, "threshold no_progress is 2.5, must be a whole number from 1"),
        ("balanced", {"test_share": 80}, "threshold test_share is 80, must be a number above 0 and up to 1"),
        ("balanced", {"cooldown_s": float("nan")}, "threshold cooldown_s is nan, must be a number above 0"),
        ("balanced", {"cooldown_s": True}, "threshold cooldown_s is True, must be a number above 0"),
        ("balanced", {"cooldown_s": 60, "cooldown_cap_s": 30}, "threshold cooldown_s is above cooldown_cap_s"),
    ],
)
def test_a_wrong_threshold_is_named(profile: str, overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"threshold|profile") as caught:
        Settings.for_profile(profile, **overrides)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_long_cooldown_lifts_the_cap() -> None:
    assert Settings.for_profile("balanced", cooldown_s=36_000)["cooldown_cap_s"] == 36_000


def test_what_a_recording_holds_beside_thresholds_is_left_out() -> None:
    held = {"no_progress": 4, "max_iterations": 50, "no_net_progress": 9, "window": "three"}
    assert admitted_for("balanced", held) == {"no_progress": 4, "no_net_progress": 9}
    assert admitted_for("strict", held) == {"no_progress": 4}


def test_a_rule_in_a_file_of_its_own_is_found(tmp_path: Path) -> None:
    package = Path(pytest_fireloop.__path__[0])
    copy = tmp_path / "pytest_fireloop"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "judge" / "rules" / "too_many_files.py").write_text(
        "from pytest_fireloop.judge.evidence import Evidence\n"
        "from pytest_fireloop.judge.rules.rule import OURS, Rule, Threshold\n"
        "RULE = Rule(\n"
        "    5, 'too_many_files', '{value:g} files at once', (Threshold('too_many_files', 9, None, 5),),\n"
        "    lambda view: Evidence('too_many_files', view.now.files, view.count('too_many_files')), OURS)\n"
    )
    code = (
        "from pytest_fireloop.judge.facts import Facts\n"
        "from pytest_fireloop.judge.judge import begin, decide\n"
        "from pytest_fireloop.judge.settings import Settings\n"
        "from pytest_fireloop.show.evidence import reason\n"
        "for profile in ('balanced', 'aggressive'):\n"
        "    state = begin(Facts(0, outcomes={'a': 'failed'}), Settings.for_profile(profile))\n"
        "    changed = {f'{n}.py': (1, 0) for n in range(7)}\n"
        "    _, found = decide(state, Facts(1, agent='ok', outcomes={'a': 'failed'}, changed=changed, tree='t'))\n"
        "    print(found.stop, reason(found.evidence))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["None no further evidence", "too_many_files 7 files at once"]
