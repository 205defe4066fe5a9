"""One decision from the reports of a matrix."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest

from pytest_fireloop.cli.fireloop import main
from pytest_fireloop.observe.environments import of_path

DATA = Path(__file__).parents[1] / "data" / "junit"
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
    said = json.loads(capsys.readouterr().out)
    assert (said["schema"], said["verdict"], said["exit_code"]) == ("fireloop.decision/1", "red", 1)
    rows = [
        (row["environment"], row["verdict"], row["reason"], row["counts"]["passed"]) for row in said["environments"]
    ]
    assert rows == [("py311", "green", "1 tests", 1), ("py312", "red", "1 of 2 tests are red", 1)]
    assert said["history"] is None


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


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("junit.py311.xml", "py311"),
        ("py312-xdist.xml", "py312-xdist"),
        ("test-results-linux.xml", "linux"),
        ("macos_report.xml", "macos"),
        ("py313/junit.xml", "py313"),
        ("shop/junit-1796065901127434418.xml", "shop"),
        ("1796065901/py311-98765.xml", "py311"),
        ("linux-2026-11-30.xml", "linux"),
        ("windows-2022.xml", "windows-2022"),
        ("shop/target/surefire-reports/TEST-com.example.PriceTest.xml", "surefire-reports"),
    ],
)
def test_a_file_names_its_environment(tmp_path: Path, path: str, name: str) -> None:
    assert of_path(tmp_path / path) == name


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("file", ["all"]),
        ("folder", ["here"]),
        ("suite", ["one", "two"]),
        ("hostname", ["a", "b"]),
        ("property:os", ["linux", "all"]),
    ],
)
def test_where_a_report_names_its_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, names: list[str]
) -> None:
    (tmp_path / "here").mkdir()
    path = tmp_path / "here" / "all.xml"
    known = '<properties><property name="os" value="linux"/></properties>'
    first = f'<testsuite name="one" hostname="a">{known}{CASE.format(name="x", inner="")}</testsuite>'
    second = f'<testsuite name="two" hostname="b">{CASE.format(name="x", inner="")}</testsuite>'
    path.write_text(f"<testsuites>{first}{second}</testsuites>")
    assert main(["decide", "--json", "--environment", source, str(path)]) == 0
    assert [row["environment"] for row in json.loads(capsys.readouterr().out)["environments"]] == names


def test_an_unknown_source_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="4"):
        main(["decide", "--environment", "moon", report(tmp_path / "a.xml", "")])
    assert "'moon'" in capsys.readouterr().err


def test_an_expected_environment_without_a_report_is_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = report(tmp_path / "junit.py311.xml", "")
    assert main(["decide", "--expect", "py311,py312", "--expect", "py313", path]) == 4
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1] == "decision: missing (exit 4)"
    assert [line.split(": ")[1] for line in captured.err.splitlines()] == ["py312", "py313"]
    assert main(["decide", "--expect", "py311", path]) == 0


def test_a_name_on_the_command_line_counts(tmp_path: Path) -> None:
    first, second = report(tmp_path / "1.xml", ""), report(tmp_path / "2.xml", "")
    assert main(["decide", "--expect", "linux,macos", f"linux={first}", f"macos={second}"]) == 0
    assert main(["decide", f"={first}"]) == 4


def test_a_name_may_hold_a_slash_where_no_file_has_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report(tmp_path / "r.xml", "")
    for word in ("os/linux=r.xml", "os/linux=*.xml"):
        assert main(["decide", "--json", "--expect", "os/linux", word]) == 0
        assert json.loads(capsys.readouterr().out)["environments"][0]["environment"] == "os/linux"
    (tmp_path / "os").mkdir()
    report(tmp_path / "os" / "linux=r.xml", RED)
    for word in ("os/linux=r.xml", "os/linux=*.xml"):
        assert main(["decide", word]) == 1
    assert main(["decide", "os/other=absent.xml"]) == 4


@pytest.mark.parametrize(
    ("option", "value"),
    [*(("--expect", value) for value in ("", " ", ",,", " , ")), ("--fire-loop-dir", ""), ("--fire-loop-dir", " ")],
)
def test_a_variable_that_is_not_set_switches_nothing_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    path = report(tmp_path / "a.xml", "")
    for words in ([option, value], [f"{option}={value}"], ["--expect", "a", option, value]):
        with pytest.raises(SystemExit, match="4"):
            main(["decide", *words, path])
        captured = capsys.readouterr()
        assert (captured.out, captured.err.count("\n")) == ("", 1)
        assert option in captured.err


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `fireloop` as a shell does; what hangs is ended, and fails."""
    words = f"{shlex.quote(sys.executable)} -m pytest_fireloop.cli.fireloop"
    shell = ["bash", "-c", command.replace("fireloop", words, 1)]
    return subprocess.run(shell, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(not hasattr(os, "mkfifo") or shutil.which("bash") is None, reason="no named pipes or no bash here")
@pytest.mark.parametrize("command", ["decide", "signature", "signature --records"])
def test_a_named_pipe_is_one_line_and_what_a_shell_opens_is_read(tmp_path: Path, command: str) -> None:
    os.mkfifo(tmp_path / "pipe.xml")
    (tmp_path / "link.xml").symlink_to("pipe.xml")
    for name in ("pipe.xml", "link.xml"):
        done = run(f"fireloop {command} {name}", tmp_path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
        assert "named pipe" in done.stderr
        assert name in done.stderr
    report(tmp_path / "r.xml", RED, "")
    (tmp_path / "r.jsonl").write_text(json.dumps({"nodeid": "a::b", "exc_type": "OSError", "message": "m"}) + "\n")
    plain = "r.jsonl" if "--records" in command else "r.xml"
    told = run(f"fireloop {command} {plain}", tmp_path).stdout
    for name in (f"<(sleep 0.1; cat {plain})", f"/dev/stdin < <(cat {plain})"):
        done = run(f"fireloop {command} {name}", tmp_path)
        assert (done.returncode, done.stderr) == (1 if command == "decide" else 0, "")
        # the names of files tell environments
        assert done.stdout.splitlines()[1:] == told.splitlines()[1:]
        assert done.stdout


@pytest.mark.parametrize("name", ["*.xml", "junit.*.xml", "absent.xml", "[ab].xml"])
def test_what_matches_nothing_is_4(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["decide", str(tmp_path / name)]) == 4
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert name in captured.err


def test_a_pattern_that_no_shell_filled_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(tmp_path / "junit.a.xml", "")
    report(tmp_path / "junit.b.xml", RED)
    assert main(["decide", str(tmp_path / "junit.*.xml")]) == 1
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()[:2]] == [["a", "green"], ["b", "red"]]


@pytest.mark.parametrize(("repeated", "expected"), [("worst", 1), ("last", 0)])
@pytest.mark.parametrize("shape", ["one report", "two reports"])
def test_a_test_that_is_there_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], repeated: str, expected: int, shape: str
) -> None:
    red, green = CASE.format(name="x", inner=RED), CASE.format(name="x", inner="")
    if shape == "one report":
        (tmp_path / "a.xml").write_text(f'<testsuite name="s" tests="2" failures="1">{red}{green}</testsuite>')
        files = [str(tmp_path / "a.xml")]
    else:
        for name, case in (("first", red), ("second", green)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "a.xml").write_text(f'<testsuite name="s">{case}</testsuite>')
        files = [str(tmp_path / name / "a.xml") for name in ("first", "second")]
    assert main(["decide", "--json", "--repeated", repeated, *files]) == expected
    (row,) = json.loads(capsys.readouterr().out)["environments"]
    assert row["files"] == len(files)
    assert f"1 more than once, of which the {repeated} result counts" in row["reason"]
    assert row["flaky"] == ([] if expected else ["tests.test_a::x"])


def test_shards_are_one_environment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for name, inner in (("1", ["<skipped/>"]), ("2", ["", "", ""])):
        (tmp_path / name).mkdir()
        files.append(report(tmp_path / name / "junit.py311.xml", *inner))
    assert main(["decide", "--json", *files]) == 0
    (row,) = json.loads(capsys.readouterr().out)["environments"]
    assert (row["environment"], row["files"], row["counts"]["passed"]) == ("py311", 2, 3)
    assert "in 2 reports together" in row["reason"]


def test_passed_subtests_are_counted_and_not_held(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(DATA / "pytest92-subtests-green.xml")
    assert main(["decide", path]) == 13
    assert "--subtests" in capsys.readouterr().out
    assert main(["decide", "--subtests", path]) == 0
    assert main(["decide", "--subtests", str(DATA / "pytest92-subtests.xml")]) == 1
    # failures that are claimed and not held stay red
    (tmp_path / "a.xml").write_text(Path(path).read_text().replace('failures="0"', 'failures="1"'))
    assert main(["decide", "--subtests", str(tmp_path / "a.xml")]) == 1


@pytest.mark.parametrize(
    ("found", "red", "expected"),
    [
        ({"circuit": "OPEN"}, True, 10),
        ({"circuit": "CLOSED"}, True, 1),
        ({"health": "BLOCKED", "circuit": "OPEN"}, True, 11),
        ({"circuit": "OPEN"}, False, 0),
        ({"circuit": "<b>"}, True, 1),
    ],
)
def test_what_the_referee_of_an_environment_says(
    tmp_path: Path, found: dict[str, str], red: bool, expected: int
) -> None:
    rows = "".join(f'<property name="fireloop.{name}" value="{escape(value)}"/>' for name, value in found.items())
    case = CASE.format(name="x", inner=RED if red else "")
    path = tmp_path / "a.xml"
    path.write_text(f'<testsuite name="pytest" tests="1"><properties>{rows}</properties>{case}</testsuite>')
    assert main(["decide", str(path)]) == expected
    # another red one that gets on keeps the whole going
    assert main(["decide", str(path), report(tmp_path / "b.xml", RED)]) == 1


def test_the_page_of_a_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "<img src=x onerror=alert(1)> | [x](javascript:y) @someone `" + "`" * 5 + "\n# heading"
    case = f'<testcase classname="a" name={quoteattr(hostile)}><failure message={quoteattr(hostile)}/></testcase>'
    (tmp_path / "junit.py311.xml").write_text(f'<testsuite name="s" tests="1">{case}</testsuite>')
    page = tmp_path / "page.md"
    page.write_text("before\n")
    assert main(["decide", "--markdown", str(page), str(tmp_path / "junit.py311.xml")]) == 1
    text = page.read_text()
    assert text.startswith("before\n## Tests: red (exit 1)")
    fence = next(line for line in text.splitlines() if line.endswith("text") and line.startswith("```"))
    outside = text.split(fence)[0] + text.split(fence)[1].partition(fence.removesuffix("text") + "\n")[2]
    assert not any(mark in outside for mark in ("<img", "](", "@someone", "| [x"))
    assert len(fence) == len("`" * 7 + "text")
    capsys.readouterr()
    assert main(["decide", "--markdown", "-", str(tmp_path / "junit.py311.xml")]) == 1
    assert capsys.readouterr().out.startswith("## Tests: red")


def test_a_report_is_never_written_into(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(report(tmp_path / "a.xml", ""))
    before = path.read_bytes()
    with pytest.raises(SystemExit, match="4"):
        main(["decide", "--markdown", str(path), str(path)])
    assert (path.read_bytes(), capsys.readouterr().err.count("\n")) == (before, 1)
    assert main(["decide", "--markdown=-", str(path)]) == 0


def test_a_page_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decide", "--markdown", str(tmp_path), report(tmp_path / "a.xml", "")]) == 4
    assert capsys.readouterr().err.count("\n") == 1


def test_causes_are_grouped_over_environments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reports = [report(tmp_path / f"junit.{name}.xml", RED, "") for name in ("a", "b", "c")]
    assert main(["decide", *reports]) == 1
    assert "1 failure, 1 cause" in capsys.readouterr().out
