"""JUnit files of several runners, made by them or after their documents, and what each of them says."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fireloop.observe.junit import joined, read_junit, read_report
from pytest_fireloop.observe.record import RecordError

DATA = Path(__file__).parents[1] / "data" / "junit"
#: Passed, failed, error, skipped, xfailed and files that cannot be collected, and whether the report is complete.
EXPECTED = {
    "pytest74": (5, 5, 1, 1, 1, 0, True),
    "pytest84-crash": (1, 0, 1, 0, 0, 0, True),
    "pytest84-subtests": (1, 1, 0, 0, 0, 0, False),
    "pytest92": (4, 4, 1, 1, 1, 0, True),
    "pytest92-broken": (0, 0, 0, 0, 0, 1, True),
    "pytest92-reruns": (1, 1, 0, 0, 0, 0, True),
    "pytest92-subtests": (1, 1, 0, 0, 0, 0, False),
    "pytest92-subtests-green": (1, 0, 0, 0, 0, 0, False),
    "pytest92-xunit1": (4, 4, 1, 1, 1, 0, True),
    "xmlrunner": (1, 3, 1, 1, 0, 0, True),
    "jest": (4, 2, 0, 1, 0, 0, True),
    "jest-errors": (4, 3, 0, 1, 0, 0, True),
    "vitest": (2, 2, 0, 1, 0, 0, True),
    "node": (2, 1, 0, 1, 1, 0, True),
    "ctest": (1, 2, 1, 2, 0, 0, True),
    "ctest-absent": (1, 0, 1, 0, 0, 0, True),
    "surefire": (3, 1, 1, 1, 0, 0, True),
    "gotestsum": (1, 2, 0, 1, 0, 0, True),
    "phpunit": (2, 1, 1, 1, 0, 0, True),
}
GREEN = '<testsuites><testsuite name="s" tests="1"><testcase classname="a" name="ä"/></testsuite></testsuites>'


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "report.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_each_file_is_expected() -> None:
    assert {path.stem for path in DATA.glob("*.xml")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_what_a_runner_says(name: str) -> None:
    record = read_junit(DATA / f"{name}.xml")
    said = tuple(record.counts[word] for word in ("passed", "failed", "error", "skipped", "xfailed"))
    assert (*said, len(record.collection_errors), record.complete) == EXPECTED[name]
    assert not record.green


def test_attempts_of_a_test_are_told() -> None:
    surefire = {test.nodeid.rpartition("::")[2]: test.reruns for test in read_junit(DATA / "surefire.xml").tests}
    assert surefire == {"adds": 0, "rounds": 1, "waits": 1, "connects": 2, "loads": 0, "later": 0}
    # pytest-rerunfailures writes an attempt that failed as one that passed
    assert [test.reruns for test in read_junit(DATA / "pytest92-reruns.xml").tests] == [0, 0]


@pytest.mark.parametrize(
    ("attempts", "worst", "last", "mended"),
    [
        ("f.", "failed", "passed", True), ("ff.", "failed", "passed", True), (".f.", "failed", "passed", True),
        ("e.", "error", "passed", True), ("fs", "failed", "failed", False), ("es", "error", "error", False),
        ("fx", "failed", "failed", False), ("f.s", "failed", "passed", True), ("fs.", "failed", "passed", True),
        ("...", "passed", "passed", False), (".s", "passed", "passed", False), ("s.", "passed", "passed", False),
        ("ss", "skipped", "skipped", False), ("sf", "failed", "failed", False), (".f", "failed", "failed", False),
        (".x", "passed", "passed", False), ("xs", "xfailed", "skipped", False), ("fe", "failed", "error", False),
    ],
)  # fmt: skip
def test_only_a_pass_mends_a_failure(tmp_path: Path, attempts: str, worst: str, last: str, mended: bool) -> None:
    said = {".": "", "f": "<failure/>", "e": "<error/>", "s": "<skipped/>", "x": '<skipped type="pytest.xfail"/>'}
    cases = [f'<testcase classname="a" name="b">{said[each]}</testcase>' for each in attempts]
    for texts in (["".join(cases)], cases):  # in one report, and in several
        paths = [tmp_path / f"{number}.xml" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(f'<testsuite name="s">{text}</testsuite>')
        for by_last, outcome in ((False, worst), (True, last)):
            reports = [read_report(path, last=by_last) for path in paths]
            whole = joined((run for report in reports for run in report.runs), last=by_last)
            (test,) = whole.record("s", "s").tests
            assert test.outcome == outcome
            assert bool(test.reruns and test.outcome == "passed") is (mended and by_last)
            assert bool(whole.failures) is (outcome in {"failed", "error"})


def test_two_tests_of_one_name_are_no_attempts_of_one() -> None:
    # the second passes; that mends nothing
    assert read_junit(DATA / "jest.xml").outcomes["sum twin::sum twin"] == "failed"
    outcomes = read_junit(DATA / "node.xml").outcomes
    assert (outcomes["test::inner fails"], outcomes["test::plain"]) == ("failed", "passed")


def test_equal_names_in_other_suites_are_other_tests(tmp_path: Path) -> None:
    suite = '<testsuite name="{}"><testcase classname="test" name="works">{}</testcase></testsuite>'
    text = f"<testsuites>{suite.format('one', '<failure/>')}{suite.format('two', '')}</testsuites>"
    assert read_junit(written(tmp_path, text)).outcomes == {"test::works": "failed", "two > test::works": "passed"}


@pytest.mark.parametrize("spelled", [str.upper, str.title, str.lower])
def test_a_failure_is_one_however_it_is_spelled(tmp_path: Path, spelled: Callable[[str], str]) -> None:
    case, suite, failure = spelled("testcase"), spelled("testsuite"), spelled("failure")
    text = f'<{suite} name="all"><{case} name="works" classname="test"><{failure}/></{case}></{suite}>'
    assert read_junit(written(tmp_path, text)).outcomes == {"test::works": "failed"}


def test_nested_suites_tell_tests_apart(tmp_path: Path) -> None:
    inner = '<testsuite name="{}"><testcase name="works" classname="test"/></testsuite>'
    text = f'<testsuite name="all" tests="2">{inner.format("one")}{inner.format("two")}</testsuite>'
    assert set(read_junit(written(tmp_path, text)).outcomes) == {"one > test::works", "two > test::works"}


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16", b""), ("iso-8859-1", b""), ("windows-1252", b""),
        ("iso-8859-15", b""), ("shift_jis", b""), ("gb18030", b""),
    ],
)  # fmt: skip
def test_encodings(tmp_path: Path, encoding: str, mark: bytes) -> None:
    name = "\u8a66\u9a13" if encoding in {"shift_jis", "gb18030"} else "ä"
    text = f'<?xml version="1.0" encoding="{encoding}"?>{GREEN.replace("ä", name)}'
    assert set(read_junit(written(tmp_path, mark + text.encode(encoding))).outcomes) == {f"a::{name}"}


@pytest.mark.parametrize("root", ['<testsuites xmlns="urn:x">', '<j:testsuites xmlns:j="urn:x">'])
def test_namespaces(tmp_path: Path, root: str) -> None:
    prefix = "j:" if "j:" in root else ""
    text = root + GREEN.removeprefix("<testsuites>").replace("<t", f"<{prefix}t").replace("</t", f"</{prefix}t")
    assert read_junit(written(tmp_path, text)).outcomes == {"a::ä": "passed"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"<!DOCTYPE testsuites>{GREEN}", "DOCTYPE is refused"),
        (f'<?xml version="1.0"?>\n<!DOCTYPE x [<!ENTITY a "b">]>{GREEN}', "DOCTYPE is refused"),
        (f'<!DOCTYPE x SYSTEM "file:///etc/hostname">{GREEN}'.encode("utf-16"), "DOCTYPE is refused"),
        (f'<?xml version="1.0" encoding="zlib"?>{GREEN}', "zlib"),
        (f'<?xml version="1.0" encoding="none-such"?>{GREEN}', "none-such"),
        (f'<?xml version="1.0" encoding="shift_jis"?>{GREEN}'.encode() + b"\xff\xff", "shift_jis"),
        (GREEN[:-20], "unclosed token"),
        (GREEN + GREEN, "junk after document element"),
        (GREEN.replace("ä", "&nbsp;"), "undefined entity"),
        ("<testsuites>" + "<testsuite>" * 5000, "deeper than"),
        ("<assemblies/>", "its root is <assemblies>"),
        (b"", "no element found"),
    ],
)
def test_what_is_no_report_is_named(tmp_path: Path, text: str | bytes, told: str) -> None:
    with pytest.raises(RecordError, match=r"report\.xml") as caught:
        read_report(written(tmp_path, text))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("suites", "suite", "reason", "exit_code"),
    [
        ('tests="2"', 'tests="1"', "the report claims 2 tests and holds 1", 0),
        ("", 'tests="2"', "suite 's' claims 2 tests and holds 1", 0),
        ('failures="1"', "", "the report claims 1 failures and errors and holds 0", 1),
        ("", 'errors="3"', "suite 's' claims 3 failures and errors and holds 0", 1),
        ("", 'tests="-1"', "the report's number of tests is '-1'", 0),
        ("", 'failures="1e99"', "the report's number of failures is '1e99'", 0),
        ('tests="99999999999999999999999"', "", "the report's number of tests is '99999999999999999999999'", 0),
        ('tests="1" failures="0"', 'tests=" 1 " errors="0.0"', None, 0),
    ],
)
def test_counts_are_held_against_what_is_there(
    tmp_path: Path, suites: str, suite: str, reason: str | None, exit_code: int
) -> None:
    text = f'<testsuites {suites}><testsuite name="s" {suite}><testcase name="a"/></testsuite></testsuites>'
    record = read_junit(written(tmp_path, text))
    assert (record.incomplete_reason, record.exit_code) == (reason, exit_code)
    assert record.green is (reason is None)


def test_the_counts_of_an_inner_suite_are_held_against_it(tmp_path: Path) -> None:
    inner = '<testsuite name="in" tests="2"><testcase name="a"/></testsuite><testcase name="b"/>'
    record = read_junit(
        written(tmp_path, f'<testsuites tests="2"><testsuite name="out">{inner}</testsuite></testsuites>')
    )
    assert record.incomplete_reason == "suite 'in' claims 2 tests and holds 1"


@pytest.mark.parametrize(
    ("case", "outcome"),
    [
        ('status="fail"', "failed"),
        ('status="error"', "error"),
        ('status="disabled"', "skipped"),
        ('status="notrun" result="suppressed"', "skipped"),
        ('status="run" result="completed"', "passed"),
        ('time="NaN"', "passed"),
        ('time="-3"', "passed"),
        ('time="1,234.5"', "passed"),
    ],
)
def test_words_of_a_case(tmp_path: Path, case: str, outcome: str) -> None:
    text = f'<testsuite><testcase classname="a" name="b" {case}/></testsuite>'
    (test,) = read_junit(written(tmp_path, text)).tests
    assert (test.outcome, test.duration_s) == (outcome, 1234.5 if "1,2" in case else 0.0)


@pytest.mark.parametrize("element", ["error", "failure"])
def test_a_suite_that_could_not_run_is_red(tmp_path: Path, element: str) -> None:
    text = f'<testsuite name="s"><testcase classname="a" name="b"/><{element} message="no database"/></testsuite>'
    record = read_junit(written(tmp_path, text))
    assert (record.green, record.exit_code, record.counts["passed"]) == (False, 1, 1)


@pytest.mark.parametrize("element", ["rerunFailure", "rerunError"])
def test_an_attempt_that_failed_and_no_other_is_no_pass(tmp_path: Path, element: str) -> None:
    text = f'<testsuite name="s"><testcase classname="a" name="b"><{element}/></testcase></testsuite>'
    assert read_junit(written(tmp_path, text)).exit_code == 1


def test_what_the_referee_wrote_is_read_and_nonsense_is_not(tmp_path: Path) -> None:
    rows = {"score": "-4", "window_score": "nan", "health": "SPINNING", "level": "fine", "circuit": "OPEN"}
    properties = "".join(f'<property name="fireloop.{name}" value="{value}"/>' for name, value in rows.items())
    text = f'<testsuite><properties>{properties}</properties><testcase name="a"/></testsuite>'
    extra = {"score": -4, "health": "SPINNING", "circuit": {"state": "OPEN"}}
    assert read_junit(written(tmp_path, text)).extra == extra


def test_long_texts_cost_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    line = "all work and no play\n" * 50_000
    with path.open("w") as file:
        file.write('<testsuite tests="1"><testcase classname="a" name="b"><failure message="m">first ')
        for _ in range(10):
            file.write(line)
        file.write(" last: calc.py:7: AssertionError</failure></testcase><system-out><![CDATA[")
        for _ in range(10):
            file.write(line)
        file.write("]]></system-out></testsuite>")
    tracemalloc.start()
    try:
        record = read_junit(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert record.exit_code == 1
    assert peak < 5_000_000 < path.stat().st_size / 4
