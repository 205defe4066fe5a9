"""The signature of a failure in real runs: the same however pytest shows it, another one when the failure is another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], None]
Run = Callable[..., tuple[int, str, dict[str, Any]]]

FAILURES = """
    import pytest
    class Thing: pass
    def helper(thing): assert thing == 1
    @pytest.fixture
    def broken(): raise ValueError("in the fixture")
    def test_address(): helper(Thing())
    def test_folder(tmp_path): raise FileNotFoundError(tmp_path / "absent")
    def test_fixture(broken): pass
    def test_chain():
        try: {}["a"]
        except KeyError as error: raise ValueError("b") from error
    def test_no_traceback(): pytest.fail("said so", pytrace=False)
    def test_colour(): raise ValueError("\\x1b[31mred\\x1b[0m")
    def test_parts(subtests):
        with subtests.test("first"): assert 0
    @pytest.mark.xfail(strict=True)
    def test_strict(): pass
"""
OTHERWISE = {
    "colour-and-locals": "--color=yes --showlocals --full-trace",
    "native": "--tb=native -s -q",
    "no-terminal": "-p no:terminal",
    "other-temporary-folder": "--basetemp=../elsewhere",
}


def signatures(record: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {test["nodeid"]: (test["signature"], test["cause"]) for test in record["tests"]}


def test_the_same_failure_has_one_signature_however_it_is_shown(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"test_a.py": FAILURES})
    plain = signatures(run()[2])
    assert len(plain) == 8
    assert all(said and cause for said, cause in plain.values())
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("COLUMNS", "30")
    shown = {name: signatures(run(*options.split())[2]) for name, options in OTHERWISE.items()}
    differing = [(name, nodeid) for name, found in shown.items() for nodeid in plain if found[nodeid] != plain[nodeid]]
    assert differing == []


def test_the_same_failure_has_one_signature_in_another_checkout_and_further_down(
    write: Write, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"test_a.py": FAILURES})
    plain = signatures(run()[2])
    write({"elsewhere/deep/test_a.py": "\n\nimport os  # unrelated\n" + "\n" * 20 + FAILURES.replace("\n    ", "\n")})
    monkeypatch.chdir(project / "elsewhere" / "deep")
    assert signatures(run("--rootdir=.")[2]) == plain


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("raise AssertionError('1 == 2')", "raise AssertionError('1 == 3')"),
        ("raise ValueError('a')", "raise ValueError('b')"),
        ("raise ValueError('a')", "raise TypeError('a')"),
        ("import missing_one", "import missing_two"),
        ("raise ExceptionGroup('g', [ValueError('a')] * 2)", "raise ExceptionGroup('g', [TypeError('a')] * 2)"),
        ("raise ExceptionGroup('g', [ValueError('a')] * 2)", "raise ExceptionGroup('g', [ValueError('b')] * 2)"),
        ("pytest.fail('a', pytrace=False)", "pytest.fail('b', pytrace=False)"),
    ],
)
def test_another_failure_has_another_signature(write: Write, run: Run, before: str, after: str) -> None:
    # one source for both, so that only what it did can tell them apart
    act = "import pytest\ndef test_a(): exec(open('statement.txt').read(), {'pytest': pytest})\n"
    found = []
    for statement in (before, after):
        write({"test_a.py": act, "statement.txt": statement})
        _, _, record = run()
        assert record["counts"]["failed"] == 1
        found.append(record["tests"][0]["signature"])
    assert found[0] != found[1]


def test_a_strict_xpass_and_a_crash_have_texts_of_their_own(write: Write, run: Run) -> None:
    pytest.importorskip("xdist")
    write({
        "test_a.py": """
            import os, pytest
            @pytest.mark.xfail(strict=True, reason="known")
            def test_strict(): pass
            def test_dies(): os._exit(3)
        """
    })  # fmt: skip
    _, _, record = run("-n1")
    messages = {failure["nodeids"][0]: failure["message"] for failure in record["failures"]}
    assert messages["test_a.py::test_strict"] == "[XPASS(strict)] known"
    assert messages["test_a.py::test_dies"] == "worker 'gw0' crashed while running 'test_a.py::test_dies'"
