"""The judge on labelled loops: where an engineer would stop, and where not."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_fireloop.judge.facts import Trace
from pytest_fireloop.judge.replay import replay
from pytest_fireloop.judge.settings import Settings

DATA = Path(__file__).parents[1] / "data" / "traces"
TRACES: list[dict[str, Any]] = [
    json.loads(line)
    for name in ("public", "further")
    for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()
]
NAMES = [trace["name"] for trace in TRACES]


def oracle() -> ModuleType:
    specification = importlib.util.spec_from_file_location("strict_oracle", DATA / "strict.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("data", TRACES, ids=NAMES)
def test_balanced_is_right(data: dict[str, Any]) -> None:
    expected = data["expect"]
    found = replay(Trace.from_json(data), Settings.for_profile("balanced")).to_json()
    if expected["stop"] is None:
        assert found["stop"] is None, data["why"]
        return
    assert found["stop"] is not None, data["why"]
    assert expected["stop"]["from"] <= found["stop"]["iteration"] <= expected["stop"]["to"]
    assert found["stop"]["reason"] in expected["stop"]["reasons"]
    rows = {row["iteration"]: row for row in found["iterations"]}
    assert {number: rows[int(number)]["circuit"] for number in expected.get("states", {})} == expected.get("states", {})
    if "refused" in expected:
        assert sorted(number for number, row in rows.items() if row["refused"]) == expected["refused"]


@pytest.mark.parametrize("data", TRACES, ids=NAMES)
def test_strict_is_the_letter(data: dict[str, Any]) -> None:
    stop = replay(Trace.from_json(data), Settings.for_profile("strict")).stop
    assert (stop.iteration if stop else None) == oracle().first_stop(data["iterations"])


@pytest.mark.parametrize("data", TRACES, ids=NAMES)
def test_aggressive_never_stops_later(data: dict[str, Any]) -> None:
    trace = Trace.from_json(data)
    balanced = replay(trace, Settings.for_profile("balanced")).stop
    aggressive = replay(trace, Settings.for_profile("aggressive")).stop
    if balanced is not None:
        assert aggressive is not None
        assert aggressive.iteration <= balanced.iteration
