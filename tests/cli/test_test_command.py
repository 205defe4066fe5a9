"""`fireloop-test --test-command`: tox and other commands, whose environments are judged each."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import loops
import pytest

PRODUCT = """\
import os


def shown(number):
    text = f"{number:.1f}"
    return text
"""
TESTS = """\
import os

import price


def test_shown():
    mark = {"plain": ".", "comma": ",", "space": "."}[os.environ["STYLE"]]
    assert price.shown(1.5) == f"1{mark}5"


def test_rounded():
    assert price.shown(2.25)[:2] in {"2.", "2,"}
"""
TOX = """\
[tox]
env_list = plain, comma, space
no_package = true
[testenv]
allowlist_externals = *
set_env = STYLE={env_name}
commands = PYTHON -m pytest {posargs}
"""
#: Right for one environment, wrong for the others; then right for all.
FIX = """\
import pathlib
path = pathlib.Path("price.py")
text = path.read_text()
if "replace" not in text:
    path.write_text(text.replace("return text", 'return text.replace(".", ",")'))
else:
    path.write_text(text.replace('return text.replace', 'return text if os.environ["STYLE"] != "comma" else text.replace'))
"""
FIX_ONCE = """\
import pathlib
path = pathlib.Path("price.py")
path.write_text(path.read_text().replace(
    "return text", 'return text.replace(".", "," if os.environ.get("STYLE") == "comma" else ".")'))
"""
WEAKEN = """\
import pathlib
path = pathlib.Path("test_price.py")
path.write_text(path.read_text().replace('    assert price.shown(1.5) == f"1{mark}5"', "    pass"))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    tree.mkdir()
    (tree / "price.py").write_text(PRODUCT)
    (tree / "test_price.py").write_text(TESTS)
    # a matrix without tox, for what does not need it: a run of pytest for each environment
    (tree / "matrix.py").write_text(
        "import os, subprocess, sys\n"
        "codes = []\n"
        "for style in ('plain', 'comma', 'space'):\n"
        "    words = [word.replace('STYLE', style) for word in sys.argv[1:]]\n"
        "    environment = {**os.environ, 'STYLE': style, 'TOX_ENV_NAME': style}\n"
        "    codes.append(subprocess.run([sys.executable, '-m', 'pytest', *words], env=environment).returncode)\n"
        "sys.exit(max(codes))\n"
    )
    return tree


def matrix(*words: str) -> str:
    return shlex.join([sys.executable, "matrix.py", *words])


def loop(tree: Path, agent: str, command: str, *words: str) -> tuple[int, dict[str, Any], str]:
    return loops.loop(tree, agent, "--test-command", command, *words)


def test_a_loop_over_tox_in_which_one_environment_fails_for_its_own_reason(project: Path) -> None:
    (project / "tox.ini").write_text(TOX.replace("PYTHON", sys.executable))
    command = f"{shlex.quote(sys.executable)} -m tox -q -p all -- {{pytest_args}}"
    code, summary, told = loop(project, FIX, command)
    assert (code, summary["verdict"], summary["iterations"]) == (0, "green", 2), told
    assert summary["fixed"] == ["test_price.py::test_shown on comma"]
    assert (summary["baseline"]["failed"], summary["final"]["passed"]) == (1, 6)
    assert {name: said["green"] for name, said in summary["environments"].items()} == dict.fromkeys(
        ("comma", "plain", "space"), True
    )
    assert (summary["integrity"]["where"], summary["integrity"]["verdict"]) == ("in_place", "clean")
    assert "a command of your own" in summary["reason"]
    # what the first fix broke elsewhere was told to the agent
    prompts = [path.read_text() for path in sorted(Path(os.environ["XDG_STATE_HOME"]).rglob("prompt.md"))]
    assert "- comma: red, 1 passed, 1 failed; red only here: test_price.py::test_shown" in prompts[0]
    assert "- plain: red" in prompts[1]
    assert "- comma: green" in prompts[1]
    assert "test_price.py::test_shown on space" in prompts[1]


@pytest.mark.long
def test_a_fix_of_one_environment_that_breaks_the_others_is_no_green(project: Path) -> None:
    only_comma = FIX.partition("else:")[0]
    code, summary, told = loop(project, only_comma, matrix("{pytest_args}"), "--max-iterations", "1")
    assert (code, summary["verdict"]) == (1, "limit")
    assert summary["broken"] == ["test_price.py::test_shown on plain", "test_price.py::test_shown on space"]
    assert "plain: red, 1 passed, 1 failed" in told


@pytest.mark.parametrize(
    ("words", "options"),
    [(["{pytest_args}"], []), (["--junitxml=reports/junit.STYLE.xml"], ["--report", "reports/*.xml"])],
    ids=["recorded", "reports"],
)
def test_a_matrix_is_mended_and_said_to_be_verified_in_place(
    project: Path, words: list[str], options: list[str]
) -> None:
    code, summary, told = loop(project, FIX_ONCE, matrix(*words), *options)
    assert (code, summary["iterations"]) == (0, 1), told
    assert summary["fixed"] == ["test_price.py::test_shown on comma"]
    assert (summary["integrity"]["where"], summary["integrity"]["findings"]) == ("in_place", [])
    # reports that the tests write are no change of an agent
    assert summary["files_changed"] == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["{pytest_args}"], []),
        (["--junitxml=reports/junit.STYLE.xml"], ["--report", "reports/*.xml"]),
        ([], []),
    ],
    ids=["recorded", "reports", "exit code"],
)
def test_a_weakened_test_is_never_green(project: Path, words: list[str], options: list[str]) -> None:
    code, summary, told = loop(project, WEAKEN, matrix(*words), "--max-iterations", "1", *options)
    assert (code, summary["verdict"], summary["integrity"]["verdict"]) == (13, "false_green", "rejected"), told
    kinds = {(finding["kind"], finding["path"]) for finding in summary["integrity"]["findings"]}
    assert ("assertion_removed", "test_price.py") in kinds


def test_an_exit_code_alone_is_never_called_verified(project: Path) -> None:
    code, summary, told = loop(project, FIX_ONCE, matrix())
    assert (code, summary["verdict"], summary["integrity"]["where"]) == (0, "green", None)
    assert "nothing is verified" in summary["reason"]
    assert "nothing can be verified" in told


@pytest.mark.long
def test_a_loop_over_a_matrix_goes_on_later(project: Path) -> None:
    code, summary, told = loop(project, FIX, matrix("{pytest_args}"), "--max-iterations", "1")
    assert (code, summary["verdict"]) == (1, "limit"), told
    argv = [sys.executable, "-m", "pytest_fireloop.cli.fireloop", "resume", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(argv, cwd=project, env=environment, capture_output=True, text=True, check=False)
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["verdict"], summary["integrity"]["where"]) == (0, "green", "in_place"), done.stderr
    assert sorted(summary["environments"]) == ["comma", "plain", "space"]


def test_an_environment_that_stays_away_is_no_green(project: Path) -> None:
    drop = "import pathlib; p = pathlib.Path('matrix.py'); p.write_text(p.read_text().replace(\"'comma', \", ''))"
    words = ("--max-iterations", "1", "--allow-test-edits", "matrix.py")
    code, summary, told = loop(project, drop, matrix("{pytest_args}"), *words)
    assert (code, summary["verdict"]) == (13, "false_green"), told
    assert "test_price.py::test_rounded on comma and 1 more must pass; the first is not run" in summary["reason"]


def test_a_report_that_an_earlier_run_left_says_nothing(project: Path) -> None:
    (project / "once.py").write_text(
        "import pathlib, sys\n"
        "mark = pathlib.Path('reports/mark')\n"
        "if not mark.exists():\n"
        "    mark.parent.mkdir(exist_ok=True)\n"
        "    mark.touch()\n"
        '    case = \'<testcase classname="test_price" name="a"/>\'\n'
        "    pathlib.Path('reports/a.xml').write_text(f'<testsuite tests=\"1\">{case}</testsuite>')\n"
        "    sys.exit(1)\n"
    )
    command = shlex.join([sys.executable, "once.py"])
    code, summary, told = loop(
        project, "open('x.py', 'w').write('')", command, "--report", "reports/*.xml", "--max-iterations", "1"
    )
    assert (code, summary["verdict"]) == (1, "limit"), told


SCRIPT = """\
export STYLE=comma
{before}
PYTHON -m pytest -q {words}
code=$?
{after}
exit $code
"""


def scripted(tree: Path, words: str, *, before: str = "", after: str = "") -> str:
    text = SCRIPT.format(words=words, before=before, after=after)
    (tree / "run.sh").write_text(text.replace("PYTHON", shlex.quote(sys.executable)))
    return "sh run.sh"


@pytest.mark.parametrize(
    ("words", "after", "report"),
    [
        ("--junitxml=out/j.xml", "touch -d @315532800 out/j.xml", "out/*.xml"),
        ("--junitxml=out/junit-$(date +%s%N).xml", "", "out/*.xml"),
        ("--junitxml=out/$(date +%s%N)/junit.xml", "", "out/*/junit.xml"),
        ("--junitxml=out/j.xml", "date +%s%N > tests/gen.json", "out/*.xml"),
        ("--junitxml=out/j.xml", "", "ABSOLUTE/out/*.xml"),
    ],
    ids=["a time of its own", "named by the time", "a folder named by the time", "writes beside the tests", "absolute"],
)
def test_an_honest_fix_is_green_whatever_a_command_writes(project: Path, words: str, after: str, report: str) -> None:
    (project / "tests").mkdir()
    command = scripted(project, words, after=after)
    code, summary, told = loop(project, FIX_ONCE, command, "--report", report.replace("ABSOLUTE", str(project)))
    assert (code, summary["verdict"], summary["files_changed"]) == (0, "green", 1), told
    assert summary["integrity"]["findings"] == []


@pytest.mark.parametrize(
    "words", [["--junitxml=out/j.xml", "--report", "out/*.xml"], ["--junitxml=out/j.xml"]], ids=["reports", "exit code"]
)
def test_a_command_that_starts_the_tests_otherwise_is_never_green(project: Path, words: list[str]) -> None:
    command = scripted(project, words[0])
    hide = (
        "import pathlib; p = pathlib.Path('run.sh'); p.write_text(p.read_text().replace('STYLE=comma', 'STYLE=plain'))"
    )
    code, summary, told = loop(project, hide, command, *words[1:], "--max-iterations", "1")
    assert (code, summary["verdict"]) == (13, "false_green"), told
    kinds = {(finding["kind"], finding["path"]) for finding in summary["integrity"]["findings"]}
    assert kinds == {("start_of_tests_changed", "run.sh")}


@pytest.mark.parametrize("linked", ["os.symlink", "os.link"])
def test_a_report_of_another_environment_is_none_of_this_one(project: Path, linked: str) -> None:
    other = "plain.xml" if linked == "os.symlink" else "reports/plain.xml"
    link = f"import os; os.unlink('reports/comma.xml'); {linked}('{other}', 'reports/comma.xml')"
    # the environment that is red writes first, so that the other one's report stands for both
    text = (project / "matrix.py").read_text().replace("'plain', 'comma', 'space'", "'comma', 'plain'")
    (project / "matrix.py").write_text(text.replace("sys.exit(max(codes))", "sys.exit(0)"))
    command = matrix("--junitxml=reports/STYLE.xml")
    code, summary, told = loop(project, link, command, "--report", "reports/*.xml", "--max-iterations", "1")
    assert (code, summary["verdict"]) == (13, "false_green"), told
    # one of the two is not there, for one file speaks for one environment
    assert "is not run" in summary["reason"]


@pytest.mark.parametrize("words", [["{pytest_args}"], ["--junitxml=out/j.xml", "--report", "out/*.xml"]])
def test_a_command_that_runs_no_test_is_told_as_such(project: Path, words: list[str]) -> None:
    (project / "test_price.py").unlink()
    code, summary, told = loop(project, "pass", matrix(words[0]), *words[1:])
    assert (code, summary["verdict"], summary["agent_calls"]) == (5, "no_tests", 0), told


@pytest.mark.parametrize(
    ("command", "words", "told"),
    [
        ("", [], "--test-command is empty"),
        ("'", [], "No closing quotation"),
        ("tox -p", ["--", "-x"], "no place for pytest's arguments"),
        ("tox -- {pytest_args}", ["--report", "*.xml"], "is for commands without {pytest_args}"),
        ("tox", ["--report", "../*.xml"], "below the project's folder"),
        ("no-such-command-here {pytest_args}", [], "no-such-command-here"),
        ("true {pytest_args}", [], "no run of pytest was recorded"),
        ("true", ["--report", "*.xml"], "wrote no report that matches *.xml"),
    ],
)
def test_what_cannot_work_is_one_line_and_4(project: Path, command: str, words: list[str], told: str) -> None:
    code, summary, error = loop(project, "pass", command, *words)
    assert (code, summary) == (4, {})
    last = error.strip().splitlines()[-1]
    assert last.startswith("fireloop-test: ")
    assert told in last


def test_reports_without_a_command_are_refused(project: Path) -> None:
    argv = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", "x", "--agent", "true", "--report", "a.xml"]
    done = subprocess.run(argv, cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
