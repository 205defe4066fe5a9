"""What starts the tests of a command of the user's own: in the checkpoints, beside them, and in environments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.own_command import OwnCommand
from pytest_fireloop.act.start_of_tests import StartOfTests
from pytest_fireloop.observe.test_files import is_configuration, is_test_file

SITE = "lib/python3.12/site-packages"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tree = tmp_path / "project"
    files = {
        "ci/run.sh": '. settings.env\n"$PY" -m pytest "$@" --junitxml=out/j.xml\n',
        "settings.env": "PY=env/bin/py\n",
        "calc.py": "def add(a, b): return a - b\n",
        "tests/test_calc.py": "import calc\ndef test_add(): assert calc.add(1, 1) == 2\n",
        ".gitignore": "env/\n.tox/\nout/\nlocal.sh\n",
        "local.sh": "exec pytest\n",
        "out/j.xml": "<testsuite/>",
        "env/bin/py": "#!/bin/sh\nexec python3 $@\n",
        ".tox/comma/pyvenv.cfg": "home = /usr\n",
        f".tox/comma/{SITE}/_virtualenv.pth": "import _virtualenv\n",
    }
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    (tree / "env/bin/py").chmod(0o755)
    return tree


def changes(
    project: Path,
    edit: Callable[[Path], object],
    command: str = "sh ci/run.sh ./local.sh env/bin/py",
    *,
    opened: str = "",
) -> list[str]:
    import subprocess

    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    checkpoints = Checkpoints.open(project.parent / "state" / "checkpoints.git", project)
    start = checkpoints.take("start").commit
    own = OwnCommand.of(command, ["out/*.xml"], ())
    noted = StartOfTests(
        own,
        project,
        checkpoints.files(start),
        lambda paths: checkpoints.read_all(start, paths),
        keeps=lambda path: is_test_file(path) or is_configuration(path),
        is_opened=lambda path: path == opened,
    )
    edit(project)
    now = checkpoints.take("now").commit
    found = list(noted.changes(checkpoints.files(now), lambda path: checkpoints.read(now, path)))
    assert {each.severity for each in found} <= {"blocker"}
    return [each.path for each in found]


def write(path: str, text: str = "changed\n") -> Callable[[Path], object]:
    def edit(tree: Path) -> None:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)

    return edit


@pytest.mark.parametrize(
    "path",
    [
        "ci/run.sh",
        "settings.env",
        "local.sh",
        "env/bin/py",
        "bin/pytest",
        ".env",
        f".tox/comma/{SITE}/sitecustomize.py",
        f".tox/comma/{SITE}/more.pth",
        f".tox/later/{SITE}/usercustomize.py",
    ],
)
def test_what_decides_how_the_tests_run_is_named(project: Path, path: str) -> None:
    def edit(tree: Path) -> None:
        write(path, "import os\n")(tree)
        (tree / ".tox/later").mkdir(exist_ok=True)
        (tree / ".tox/later/pyvenv.cfg").touch()

    assert changes(project, edit) == [path]


@pytest.mark.parametrize(
    "path",
    [
        "calc.py",
        "other.sh",
        "tests/test_calc.py",
        "out/j.xml",
        f".tox/comma/{SITE}/calc.py",
        f".tox/later/{SITE}/_virtualenv.pth",
        "README.md",
    ],
)
def test_product_tests_and_what_they_leave_are_not(project: Path, path: str) -> None:
    def edit(tree: Path) -> None:
        write(path, "import os\n")(tree)
        (tree / ".tox/later").mkdir(exist_ok=True)
        (tree / ".tox/later/pyvenv.cfg").touch()

    assert changes(project, edit) == []


def test_a_script_that_is_gone_is_named(project: Path) -> None:
    assert changes(project, lambda tree: (tree / "settings.env").unlink()) == ["settings.env"]


@pytest.mark.parametrize(
    ("name", "command"), [("check.sh", "sh ../check.sh"), ("check", "sh -e ../check"), ("check", "sh -c '. ../check'")]
)
def test_a_script_outside_the_tree_is_named(project: Path, name: str, command: str) -> None:
    script = project.parent / name
    script.write_text("pytest\n")
    assert changes(project, lambda _: script.write_text("true\n"), command) == [str(script)]


@pytest.mark.parametrize(
    ("command", "named"),
    [("sh env/check", ["env/check"]), ("python3 env/check", ["env/check"]), ("pytest --log-file env/check", [])],
)
def test_a_file_that_git_ignores_counts_where_it_is_run(project: Path, command: str, named: list[str]) -> None:
    (project / "env/check").write_text("pytest\n")
    assert changes(project, write("env/check"), command) == named


def test_the_user_may_open_one(project: Path) -> None:
    assert changes(project, write("ci/run.sh"), opened="ci/run.sh") == []
