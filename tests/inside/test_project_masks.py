"""Masks that a project adds by the hook `pytest_fireloop_masks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., tuple[int, str, dict[str, Any]]]
Write = Callable[[dict[str, str]], None]

HOOK = """
    def pytest_fireloop_masks(config):
        return [("ticket [A-Z]+-[0-9]+", "ticket ?")]
    """
TESTS = """
    import os

    def test_a():
        raise ValueError(f"no seat for ticket {os.environ['TICKET']}")

    def test_b():
        assert f"ticket {os.environ['TICKET']}" == "seat"
    """


def signatures(record: dict[str, Any]) -> list[str]:
    return [test["signature"] for test in record["tests"]]


@pytest.mark.parametrize("args", [[], ["-n2"]])
def test_what_the_project_calls_noise_makes_no_other_signature(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch, args: list[str]
) -> None:
    if args:
        pytest.importorskip("xdist")
    found = {}
    for conftest in ("", HOOK):
        write({"conftest.py": conftest, "test_a.py": TESTS})
        for ticket in ("AB-12", "QRS-777"):
            monkeypatch.setenv("TICKET", ticket)
            code, _, record = run(*args)
            assert code == 1
            found[conftest, ticket] = record
    plain, other = found["", "AB-12"], found["", "QRS-777"]
    assert not set(signatures(plain)) & set(signatures(other))
    masked, again = found[HOOK, "AB-12"], found[HOOK, "QRS-777"]
    assert sorted(signatures(masked)) == sorted(signatures(again))
    assert plain["signature_version"] == other["signature_version"]
    assert masked["signature_version"] == again["signature_version"] != plain["signature_version"]
    assert not set(signatures(masked)) & set(signatures(plain)), "signatures of other rules are never equal"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise OSError('x')", "OSError: x"),
        ("return [('b', ''), ('(', '')]", "left out: sub/conftest.py: ('(', ''): "),
        ("return [('(', '')]", "missing ), unterminated subpattern"),
        ("return [('a', r'\\2')]", r": ('a', '\\2'): "),
        ("return [('a', r'\\2')]", "invalid group reference 2"),
        ("return ['ab', 'c']", "not enough values to unpack"),
        ("return 7", "'int' object is not iterable"),
    ],
)
def test_masks_that_cannot_be_had_are_left_out_in_one_line(run: Run, write: Write, body: str, said: str) -> None:
    write({"conftest.py": HOOK, "sub/conftest.py": f"def pytest_fireloop_masks(config):\n    {body}\n"})
    write({"sub/test_a.py": "def test_a(): pass\n"})
    code, text, record = run("sub")
    assert code == 0
    lines = [line for line in text.splitlines() if "fire-loop" in line]
    assert len(lines) == 1, lines
    assert "pytest_fireloop_masks are left out" in lines[0]
    assert said in lines[0]
    assert record["complete"]


def test_the_hook_may_stand_where_the_plugin_is_not_used(write: Write, pytester: pytest.Pytester) -> None:
    write({"conftest.py": HOOK, "test_a.py": "def test_a(): pass\n"})
    assert pytester.runpytest_subprocess().ret == 0
