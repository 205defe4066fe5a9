"""The run record on disk and in memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fireloop.observe.record import CollectionError, Failure, RecordError, RunRecord, TestResult, read_record

WHOLE = RunRecord(
    "r",
    exit_code=0,
    complete=True,
    collected=2,
    tests=(TestResult("a", "passed", 0.1), TestResult("b", "xfailed", 0.2, "s", "c", 1)),
    failures=(Failure("s", "c", ("a",), "ValueError", "text \udcff", "a.py:1", "x()", ("a.py:1 in f",)),),
)


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps(WHOLE.to_json()))
    assert read_record(path) == WHOLE


@pytest.mark.parametrize(
    ("changes", "sound", "green"),
    [
        ({}, True, True),
        ({"partial": True}, True, False),
        ({"exit_code": 1}, False, False),
        ({"exit_code": None}, False, False),
        ({"complete": False}, False, False),
        ({"tests": ()}, False, False),
        ({"tests": (TestResult("a", "skipped"),)}, False, False),
        ({"tests": (TestResult("a", "passed"), TestResult("b", "error"))}, False, False),
        ({"collection_errors": (CollectionError("a.py", "s", "m"),)}, False, False),
    ],
)
def test_green_needs_all_of_it(changes: dict[str, object], sound: bool, green: bool) -> None:
    made = replace(WHOLE, **changes)  # type: ignore[arg-type]
    assert (made.sound, made.green) == (sound, green)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"schema": "fireloop.run/2"}', '{"schema": "fireloop.run/1"}', "null"]
)
def test_what_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "record.json"
    path.write_text(text)
    with pytest.raises(RecordError):
        read_record(path)
    with pytest.raises(RecordError):
        read_record(tmp_path / "absent.json")
