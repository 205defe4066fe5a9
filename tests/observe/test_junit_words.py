"""The words of JUnit reports: what says red, at any place and in any spelling, is never green."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fireloop.judge.matrix import decide_environment
from pytest_fireloop.observe.junit import read_junit

GOOD = '<testcase classname="c" name="good"/>'


def verdict(tmp_path: Path, text: str) -> str:
    """Return what a decision makes of a report."""
    path = tmp_path / "report.xml"
    path.write_text(text)
    return decide_environment(read_junit(path)).verdict


def of_case(tmp_path: Path, inner: str, attributes: str = "") -> str:
    """Return what a case comes to beside one that passed, and see that it is the only other one."""
    case = f'<testcase classname="c" name="a" {attributes}>{inner}</testcase>'
    path = tmp_path / "report.xml"
    path.write_text(f'<testsuite name="s" tests="2">{case}{GOOD}</testsuite>')
    record = read_junit(path)
    assert (record.incomplete_reason, len(record.tests)) == (None, 2)
    assert record.outcomes["c::good"] == "passed"
    return record.outcomes["c::a"]


@pytest.mark.parametrize("result", ["failure", "error", "FAILURE", "q:error"])
@pytest.mark.parametrize(
    "around",
    [
        "<result>{}</result>", "<failures>{}</failures>", "<results><result>{}</result></results>",
        '<testcase name="b">{}</testcase>', '<testsuite name="t"><testcase name="b">{}</testcase></testsuite>',
        "<skipped>{}</skipped>", "<properties>{}</properties>", '<properties><property name="x">{}</property></properties>',
        "<system-out>{}</system-out>", "<x><system-err><y>{}</y></system-err></x>", "<result><message>m</message>{}</result>",
        "<result>{}</result><steps><step/></steps>", "<x/><x><y/>{}</x>",
    ],
)  # fmt: skip
def test_a_failure_at_any_depth_of_a_case_is_red(tmp_path: Path, around: str, result: str) -> None:
    outcome = "error" if "error" in result else "failed"
    assert of_case(tmp_path, around.format(f'<{result} message="m">text</{result}>')) == outcome


@pytest.mark.parametrize("kind", ["todo", "pytest.xfail"])
def test_an_expected_failure_inside_excuses_nothing_beside_it(tmp_path: Path, kind: str) -> None:
    inner = f'<testcase name="b"><skipped type="{kind}"/></testcase>'
    assert of_case(tmp_path, f"{inner}<x><failure/></x>") == "failed"
    assert of_case(tmp_path, f"<x><failure/></x>{inner}") == "failed"
    assert of_case(tmp_path, inner) == "skipped"
    assert of_case(tmp_path, f'<skipped type="{kind}"/><failure/>') == "xfailed"


@pytest.mark.parametrize("element", ["flakyFailure", "flakyError", "FlakyFailure"])
@pytest.mark.parametrize("inner", ["<failure/>", "<system-out><failure/></system-out>", "<x><error/></x>"])
def test_what_lies_in_an_attempt_that_was_mended_is_its_own(tmp_path: Path, element: str, inner: str) -> None:
    assert of_case(tmp_path, f"<{element}>{inner}</{element}>") == "passed"


@pytest.mark.parametrize(
    "beside",
    [
        "<suite><case><failure/></case></suite>", '<suite><case status="failed"/></suite>', "<failures><failure/></failures>",
        "<system-out><failure/></system-out>", "<properties><failure/></properties>", "<crash/>", "<errors>boom</errors>",
        '<properties><property name="x"><error/></property></properties>',
    ],
)  # fmt: skip
@pytest.mark.parametrize("shape", ["{0}{1}", "{1}{0}"])
def test_a_failure_beside_the_cases_of_a_suite_is_red(tmp_path: Path, beside: str, shape: str) -> None:
    text = shape.format(beside, GOOD)
    assert verdict(tmp_path, f'<testsuites><testsuite name="s" tests="1">{text}</testsuite></testsuites>') == "limit"
    record = read_junit(tmp_path / "report.xml")
    assert (record.outcomes["c::good"], record.incomplete_reason) == ("passed", None)


@pytest.mark.parametrize(
    "name",
    [
        "fail", "failed", "Failed", "crash", "crashed", "timeout", "timedout", "timedOut", "timed-out", "TIMED_OUT", "aborted",
        "incomplete", "exception", "errored", "broken", "killed", "panicked", "interrupted", "segfault", "assertion-failed",
        "AssertionFailed", "test_error", "q:crash", "TimeoutException",
    ],
)  # fmt: skip
def test_an_element_whose_name_says_red_is_red(tmp_path: Path, name: str) -> None:
    assert of_case(tmp_path, f"<{name}/>") == "error"
    assert of_case(tmp_path, f"<result><{name}>text</{name}></result>") == "error"
    assert of_case(tmp_path, f"<{name}>false</{name}>") == "passed"


@pytest.mark.parametrize(
    "name", ["errors", "failures", "exceptions", "errorMessage", "failure-message", "error_details"]
)
@pytest.mark.parametrize(
    ("inner", "outcome"), [("", "passed"), ("0", "passed"), (" ", "passed"), ("boom", "error"), ("<x/>", "error")]
)
def test_an_element_that_may_be_empty_is_red_by_what_it_holds(
    tmp_path: Path, name: str, inner: str, outcome: str
) -> None:
    assert of_case(tmp_path, f"<{name}>{inner}</{name}>") == outcome


@pytest.mark.parametrize("name", ["not-run", "notRun", "ignored", "disabled", "pending", "skip", "untested", "blocked"])
def test_an_element_whose_name_says_that_it_did_not_run(tmp_path: Path, name: str) -> None:
    assert of_case(tmp_path, f"<{name}/>") == "skipped"
    assert of_case(tmp_path, f"<{name}>false</{name}>") == "passed"


@pytest.mark.parametrize(
    "inner",
    [
        "<attachments><attachment>error.png</attachment></attachments>", "<tags><tag>fail</tag></tags>",
        "<steps><step>crash it</step></steps>", "<description>it failed once</description>", "<warning>risky</warning>",
        "<error-output>text</error-output>", "<expectedFailure/>", "<failFast>true</failFast>", "<duration>3</duration>",
        '<properties><property name="status" value="failed"/></properties>', "<result>42 rows</result>",
        '<steps><step status="passed"/></steps>', "<result>passed</result>", "<output>failed</output>",
    ],
)  # fmt: skip
def test_other_elements_are_harmless(tmp_path: Path, inner: str) -> None:
    assert of_case(tmp_path, inner) == "passed"


@pytest.mark.parametrize(
    ("inner", "outcome"),
    [
        ("<status>failed</status>", "error"), ("<result>Time-Out</result>", "error"), ("<state>notrun</state>", "skipped"),
        ('<result status="failed"/>', "error"), ('<status success="false"/>', "error"),
        ('<testcase name="b" result="crashed"/>', "error"), ("<x><status>failed</status></x>", "passed"),
    ],
)  # fmt: skip
def test_an_element_that_says_it_by_a_word(tmp_path: Path, inner: str, outcome: str) -> None:
    assert of_case(tmp_path, inner) == outcome


#: What runners write, by their sources or documents.
WRITTEN = {
    "passed": (
        'status="run" result="completed"', 'status="run"', 'status="passed"', 'status="Passed"', 'status="PASSED"',
        'status="pass"', 'result="pass"', 'status="SUCCESS"', 'status="success"', 'status="ok"', 'outcome="Passed"',
        'result="bpass"', 'status="FIXED"', 'status="1"', 'status="0"', 'status=""', 'success="True" executed="True"',
        'passed="true"', 'failure="" error=""', 'errors="0" failures="0"', 'failed="false"', 'skipped="false"',
        'state="new"', 'status="warning"', 'status="no asserts"', 'result="passed_with_warnings"',
    ),
    "xfailed": ('result="xfail"', 'status="xfailed"', 'result="bfail"'),
    "skipped": (
        'status="notrun"', 'status="notrun" result="suppressed"', 'status="run" result="skipped"', 'status="disabled"',
        'status="pending"', 'status="untested"', 'status="NOT_RUN"', 'status="Not Run"', 'status="Inconclusive"',
        'status="untested_pending"', 'result="NotExecuted"', 'executed="False"', 'status="ignored"', 'skipped="true"',
    ),
    "error": (
        'status="error"', 'status="ERRORED"', 'status="aborted"', 'status="panicked"', 'status="interrupted"',
        'status="hook_error"', 'status="CANCELED"', 'status="in_progress"', 'status="INCOMPLETE"', 'result="Error"',
    ),
    "failed": (
        'status="fail"', 'status="failed"', 'status="FAILED"', 'status="timedout"', 'status="timed out"',
        'status="TimedOut"', 'result="xfail" status="fail"', 'result="Failed"', 'outcome="failed"', 'status="undefined"',
        'status="REGRESSION"', 'success="false"', 'passed="false"', 'passed="0"', 'failed="true"', 'failures="1"',
        'failure="1 == 2"', 'Status="failed"', 'q:status="failed"', 'crashed="true"', 'status="passed" result="failed"',
        'status="run" success="False"', 'verdict="fail"', 'state="Failed"',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("attributes", "outcome"), [(each, name) for name, all_ in WRITTEN.items() for each in all_])
def test_attributes_of_a_case(tmp_path: Path, attributes: str, outcome: str) -> None:
    assert of_case(tmp_path, "", attributes) == outcome


@pytest.mark.parametrize("name", ["status", "result", "outcome", "Status"])
def test_a_word_that_nobody_knows_is_no_evidence(tmp_path: Path, name: str) -> None:
    case = f'<testcase classname="c" name="odd" {name}="Wibble"/>'
    assert verdict(tmp_path, f'<testsuite name="s">{GOOD}{case * 3}</testsuite>') == "false_green"
    reason = read_junit(tmp_path / "report.xml").incomplete_reason
    assert reason == f"test 'odd' says {name.lower()} 'Wibble', a word that is not known"
    # beside a result that is known it does not matter
    text = f'<testsuite name="s">{GOOD}{case.replace("/>", "><skipped/></testcase>")}</testsuite>'
    assert verdict(tmp_path, text) == "green"


#: Attributes of a suite that holds one test, which passed.
SUITES = {
    "green": (
        'tests="1" failures="0" errors="0"', 'tests="1" failures="" errors=""', 'Tests="1" Failures="0"', 'total="1"',
        'failed="0" passed="1" skipped="0" total="1"', 'failed="false"', 'status="passed"', 'result="success"',
        'success="true"', 'success="1"', 'passed="0"', 'crashed="0" timeouts="0" aborted="0" broken="false"', 'flakes="2"',
        'disabled="1" skipped="3" ignored="2"', 'timeout="30"', 'status="0"', 'executed="1"', 'warnings="2" useless="1"',
        'failedTests="0" error_count="0" testCount="1"', 'state="Berlin"', 'failFast="true" error-rate="0.5"', 'test="x"',
        'hostname="failed" package="errors" id="0"', 'status="skipped"', 'assertions="6"', 'skip="0" log="" version="3.0"',
    ),
    "limit": (
        'status="failed"', 'result="Failure"', 'outcome="timed_out"', 'success="false"', 'Success="False"', 'status="ERROR"',
        'failed="1"', 'fail="2"', 'FAILURES="1"', 'Errors="1"', 'q:failures="1"', 'q:status="failed"', 'timeouts="1"',
        'aborted="1"', 'aborted="true"', 'crashed="2"', 'crashed="true"', 'error="1"', 'status="aborted"', 'failures="1.0"',
        'failedTests="1"', 'numFailures="1"', 'failure-count="1"', 'testsFailed="2"', 'TotalErrors="1"', 'error_count="1"',
        'state="failed"', 'verdict="fail"', 'failures="0" q:failures="1"', 'status="in_progress"', 'passed="false"',
    ),
    "false_green": (
        'total="2"', 'Tests="2"', 'testCount="2"', 'total-tests="2"', 'TESTS="2"', 'q:tests="2"', 'failed="some"', 'crashed="-1"', 'status="wibble"',
        'tests="1" total="3"',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("attributes", "said"), [(each, name) for name, all_ in SUITES.items() for each in all_])
@pytest.mark.parametrize("place", ["<testsuites {}><testsuite>", "<testsuites><testsuite {}>"])
def test_attributes_of_a_suite(tmp_path: Path, attributes: str, said: str, place: str) -> None:
    assert verdict(tmp_path, f"{place.format(attributes)}{GOOD}</testsuite></testsuites>") == said


def test_a_suite_that_failed_and_holds_its_failure_is_complete(tmp_path: Path) -> None:
    bad = '<testcase classname="c" name="bad" status="failed"/>'
    claims = 'status="failed" success="false" tests="2" failures="1" failed="1" timeouts="1"'
    known = '<properties><property name="SuiteSucceeded" value="false"/></properties>'
    assert verdict(tmp_path, f'<testsuite name="s" {claims}>{known}{GOOD}{bad}</testsuite>') == "limit"
    assert read_junit(tmp_path / "report.xml").incomplete_reason is None


@pytest.mark.parametrize(("value", "said"), [("true", "green"), ("false", "limit"), ("False", "limit")])
@pytest.mark.parametrize("shape", ['value="{}"/>', ">{}</property>"])
def test_what_ginkgo_says_of_a_suite_counts(tmp_path: Path, value: str, said: str, shape: str) -> None:
    known = f'<properties><property name="SuiteSucceeded" {shape.format(value)}</properties>'
    assert verdict(tmp_path, f'<testsuites><testsuite name="s">{known}{GOOD}</testsuite></testsuites>') == said


@pytest.mark.parametrize("mark", ['hostname="tbd" timestamp="tbd"', 'doctest_version="2.4.11" timestamp="2026-01-05"'])
@pytest.mark.parametrize(
    ("cases", "failures", "said"),
    [
        ("<testcase {}/>", 0, "green"),
        ('<testcase {}><failure message="a == b" type="CHECK"/></testcase>', 1, "limit"),
        ("<testcase {}/>", 1, "limit"),
        ("", 0, "false_green"),
    ],
)
def test_a_number_of_assertions_is_none_of_tests(
    tmp_path: Path, mark: str, cases: str, failures: int, said: str
) -> None:
    held = cases.format('classname="shop.global" name="adds" time="0" status="run"')
    suite = f'<testsuite name="shop" errors="0" failures="{failures}" tests="7" {mark}>{held}</testsuite>'
    for sums in ("", f'errors="0" failures="{failures}" tests="7"'):
        assert verdict(tmp_path, f"<testsuites {sums}>{suite}</testsuites>") == said
