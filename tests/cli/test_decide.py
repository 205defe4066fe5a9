"""One decision from the reports of a matrix."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from pytest_fireloop.cli.fireloop import main

CASE = '<testcase classname="tests.test_a" name="{name}" time="0.1">{inner}</testcase>'
RED = '<failure message="assert 1 == 2">E assert 1 == 2</failure>'


def report(path: Path, *inner: str, claims: int | None = None) -> str:
    cases = "".join(CASE.format(name=f"test_{number}", inner=each) for number, each in enumerate(inner))
    claimed = len(inner) if claims is None else claims
    path.write_text(f'<testsuites><testsuite name="pytest" tests="{claimed}">{cases}</testsuite></testsuites>')
    return str(path)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (["", ""], [""], 0),
        (["", RED], [""], 1),
        (["<skipped/>"], [""], 5),
        (["<skipped/>", ""], [""], 0),
        ([], [""], 5),
        (["<error>fixture</error>"], [""], 1),
    ],
)
def test_green_only_if_each_is(tmp_path: Path, first: list[str], second: list[str], expected: int) -> None:
    reports = [report(tmp_path / "junit.py311.xml", *first), report(tmp_path / "junit.py312.xml", *second)]
    assert main(["decide", *reports]) == expected


def test_the_decision_names_the_environments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reports = [report(tmp_path / "junit.py311.xml", ""), report(tmp_path / "junit.py312.xml", RED, "")]
    assert main(["decide", "--json", *reports]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "schema": "fireloop.decision/1",
        "verdict": "red",
        "exit_code": 1,
        "environments": [
            {"environment": "py311", "verdict": "green", "reason": "1 tests"},
            {"environment": "py312", "verdict": "red", "reason": "1 of 2 tests are red"},
        ],
    }


def test_a_report_that_claims_more_than_it_holds_is_13(tmp_path: Path) -> None:
    assert main(["decide", report(tmp_path / "a.xml", "", claims=3)]) == 13


@pytest.mark.parametrize(
    "content",
    [None, b"", b"<testsuite", b"no xml", b"<html/>", b'<!DOCTYPE x [<!ENTITY a "b">]><testsuites/>', b"\xff\xfe\x00"],
)
def test_an_unreadable_report_is_one_line_and_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    path = tmp_path / "report.xml"
    if content is not None:
        path.write_bytes(content)
    assert main(["decide", str(path)]) == 4
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "report.xml" in captured.err


def test_damaged_reports_are_never_green(tmp_path: Path) -> None:
    whole = Path(report(tmp_path / "whole.xml", *([RED] + [""] * 5))).read_bytes()
    draw = random.Random(0)
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(draw.randrange(1, 4)):
            start = draw.randrange(len(content))
            content[start : start + draw.randrange(1, 40)] = draw.randbytes(draw.randrange(3))
        path = tmp_path / "damaged.xml"
        path.write_bytes(content)
        assert main(["decide", str(path)]) != 0
