"""`fireloop signature` on records, reports and failure records."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fireloop.cli.signature import main

Run = Callable[..., tuple[int, str, dict[str, Any]]]
Write = Callable[[dict[str, str]], None]

FILES = {
    "shop.py": """
        PRICES = {}

        def price(name):
            return PRICES[name]

        def tax(amount):
            return amount
        """,
    "conftest.py": """
        import pytest

        @pytest.fixture
        def database():
            raise ConnectionError("refused by 127.0.0.1:5432")
        """,
    "tests/test_shop.py": """
        import pytest
        from shop import price, tax

        @pytest.mark.parametrize("n", range(20))
        def test_tax(n):
            assert tax(n) == n + 1

        @pytest.mark.parametrize("name", ["plum", "fig", "lime"])
        def test_price(name):
            price(name)

        class TestStore:
            def test_query(self, database):
                pass

            def test_count(self, database):
                pass
        """,
    "pytest.ini": "[pytest]\npythonpath = .\n",
}
STYLES = ["auto", "long", "short", "native"]


def heads(text: str) -> list[tuple[str, str]]:
    """Return number and exception of each cause, in the order in which they are printed."""
    rows = (line.split() for line in text.splitlines() if line.endswith("]") and " at " in line)
    return [(row[0], row[1]) for row in rows]


EXPECTED = [("20", "AssertionError"), ("3", "KeyError"), ("2", "ConnectionError")]


def test_a_record(run: Run, write: Write, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    write(FILES)
    run()
    capsys.readouterr()
    assert main([str(pytester.path / "record.json")]) == 0
    text = capsys.readouterr().out
    assert text.startswith("25 failures, 3 causes\n")
    assert heads(text) == EXPECTED
    assert "differs in message: assert {} == ({} + 1)  with  0 / 0, 1 / 1, 10 / 10, 11 / 11 and 16 more" in text
    assert "tests/test_shop.py::test_tax[0]\n" in text
    assert "and 17 more" in text
    assert "differs in message: '{}'  with  fig, lime, plum" in text


@pytest.mark.parametrize("style", STYLES)
def test_a_report(run: Run, write: Write, project: Path, capsys: pytest.CaptureFixture[str], style: str) -> None:
    write(FILES)
    run("--junitxml=report.xml", f"--tb={style}")
    capsys.readouterr()
    assert main(["report.xml"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("25 failures, 3 causes\n")
    assert heads(text) == EXPECTED


def test_a_report_without_places_has_the_messages_only(
    run: Run, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write(FILES)
    run("--junitxml=report.xml", "--tb=line")
    capsys.readouterr()
    assert main(["report.xml"]) == 0
    assert heads(capsys.readouterr().out) == [
        ("20", "AssertionError"),
        ("2", "ConnectionError"),
        *[("1", "KeyError")] * 3,
    ]


def test_a_record_and_a_report_name_the_same_causes(
    run: Run, write: Write, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    write(FILES)
    run("--junitxml=report.xml")
    found = []
    for path in (str(pytester.path / "record.json"), "report.xml"):
        capsys.readouterr()
        assert main([path]) == 0
        found.append(
            {line[-17:] for line in capsys.readouterr().out.splitlines() if line.endswith("]") and "KeyError" in line}
        )
    assert found[0] == found[1] != set()


@pytest.mark.parametrize("color", ["yes", "no"])
def test_a_record_and_a_report_name_each_cause_alike(
    run: Run, write: Write, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], color: str
) -> None:
    write(
        {
            "shop.py": "import re, struct\ndef a(): re.compile('(')\ndef b(): struct.unpack('i', b'')\ndef c(): {}['x']\n",
            "test_shop.py": "import shop\n"
            "def test_a():\n    shop.a()\n"
            "def test_b():\n    shop.b()\n"
            "class TestC:\n    def test_c(self):\n        shop.c()\n",
        }
    )
    run("--junitxml=report.xml", f"--color={color}")
    found = []
    for path in (str(pytester.path / "record.json"), "report.xml"):
        capsys.readouterr()
        assert main([path]) == 0
        found.append({line[-17:] for line in capsys.readouterr().out.splitlines() if line.endswith("]")})
    assert found[0] == found[1]
    assert len(found[0]) == 3


def test_a_message_that_says_nothing_yields_to_the_text(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = '<testcase classname="pkg" name="{}"><failure message="Failed">{}</failure></testcase>'
    cases = [("TestA", "a_test.go:7: got 1, want 2"), ("TestB", "b_test.go:9: no such table")]
    body = "".join(case.format(*each) for each in cases)
    (project / "go.xml").write_text(f'<testsuite tests="2">{body}</testsuite>', encoding="utf-8")
    assert main(["go.xml"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("2 failures, 2 causes")
    assert "no such table" in text


def test_several_files_are_one_list(run: Run, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(FILES)
    run("--junitxml=junit.py311.xml")
    run("--junitxml=junit.py312.xml", "-k", "price")
    capsys.readouterr()
    assert main(["junit.py311.xml", "junit.py312.xml"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("25 failures, 3 causes\n")
    assert text.count("differs in run: py311, py312") == 1


def test_nothing_failed(run: Run, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write({"test_a.py": "def test_a(): pass\n"})
    run("--junitxml=report.xml")
    capsys.readouterr()
    assert main(["report.xml"]) == 0
    assert capsys.readouterr().out == "0 failures, 0 causes\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("missing.json", None),
        ("report.xml", "<testsuite"),
        ("report.xml", "<!DOCTYPE a><testsuite/>"),
        ("record.json", "{"),
        ("record.json", "[]"),
        ("record.json", '{"schema": "other/1"}'),
        ("record.json", ""),
        ("record.json", b"\xff\xfe"),
    ],
)
def test_what_is_neither_is_refused_in_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | bytes | None
) -> None:
    if content is not None:
        (project / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main([name]) == 4
    done = capsys.readouterr()
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert name in done.err


@pytest.mark.parametrize(
    "line", ["{", "[]", "7", '{"frames": 3}', '{"env": {"pid": "x"}}', '{"frames": ["a"]}', '{"chain": [1]}']
)
def test_failure_records_that_are_damaged_are_refused_in_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    (project / "a.jsonl").write_text(json.dumps({"message": "a"}) + "\n" + line + "\n", encoding="utf-8")
    assert main(["--records", "a.jsonl"]) == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "a.jsonl:2: " in said


def test_one_signature_a_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"message": "a", "exc_type": "E"}, {"message": "a", "exc_type": "F"}, {"message": "a", "exc_type": "E"}]
    (project / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["--records", "a.jsonl"]) == 0
    first, second, third = capsys.readouterr().out.split()
    assert first == third != second
