"""The runner in one environment, the project's tests in another that has never heard of it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NEEDED = ("py", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")
#: An interpreter with the oldest Python and pytest that are supported; the tox leg `legacy` makes one.
LEGACY = os.environ.get("FIRELOOP_LEGACY_PYTHON")


def bare_environment(folder: Path) -> Path:
    """Make a virtual environment that sees pytest and what it needs, and nothing else that is installed here."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = (folder / "lib").glob("python*/site-packages")
    for name in NEEDED:
        specification = importlib.util.find_spec(name)
        assert specification is not None
        assert specification.origin is not None
        source = Path(specification.origin)
        source = source.parent if source.name == "__init__.py" else source
        (site / source.name).symlink_to(source)
        for information in source.parent.glob(f"{name}-*.dist-info"):
            (site / information.name).symlink_to(information)
    return folder / "bin" / "python"


@pytest.mark.parametrize("kind", ["bare", "legacy"])
@pytest.mark.parametrize("agent", ["command", "repair"])
def test_a_project_in_another_environment(tmp_path: Path, kind: str, agent: str) -> None:
    if kind == "legacy" and LEGACY is None:
        pytest.skip("FIRELOOP_LEGACY_PYTHON names no interpreter")
    python = bare_environment(tmp_path / "environment") if kind == "bare" else Path(LEGACY or "")
    lacking = subprocess.run(
        [str(python), "-I", "-c", "import pytest_fireloop"], capture_output=True, check=False, cwd=tmp_path
    )
    assert lacking.returncode == 1
    tree = tmp_path / "project"
    tree.mkdir()
    (tree / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (tree / "test_calc.py").write_text("import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n")
    fix = "import pathlib; pathlib.Path('calc.py').write_text('def add(a, b):\\n    return a + b\\n')"
    command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", "fix it", "--json", f"--python={python}"]
    command += ["--agent=repair"] if agent == "repair" else ["--agent", f'{sys.executable} -c "{fix}"']
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["fixed"] == ["test_calc.py::test_add"]
    assert summary["integrity"]["where"] == "room"
    assert (tree / "calc.py").read_text() == "def add(a, b):\n    return a + b\n"


def test_an_environment_inside_the_tree_still_gets_the_room(tmp_path: Path) -> None:
    tree = tmp_path / "project"
    tree.mkdir()
    python = bare_environment(tree / ".venv")
    (site,) = (tree / ".venv" / "lib").glob("python*/site-packages")
    # real copies, as an installer leaves them: a link would lead out of the tree
    for link in [path for path in site.iterdir() if path.is_symlink()]:
        source = link.resolve()
        link.unlink()
        (shutil.copytree if source.is_dir() else shutil.copy)(source, link)
    (tree / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (tree / "test_calc.py").write_text("import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n")
    fix = "import pathlib; pathlib.Path('calc.py').write_text('def add(a, b):\\n    return a + b\\n')"
    command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", "fix it", "--json", f"--python={python}"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [*command, "--agent", f'{sys.executable} -c "{fix}"'],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["integrity"]["where"] == "room"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("#!/bin/sh\necho '[[3, 8, 1], \"8.0\"]'", "Python 3.8.1; the tests need 3.9 or later"),
        ("#!/bin/sh\necho '[[3, 10, 1], \"7.3.2\"]'", "pytest 7.3.2; the tests need 7.4 or later"),
        ("#!/bin/sh\necho '[[3, 12, 1], null]'", "has no pytest"),
        ("#!/bin/sh\nexit 1", "does not run as a Python interpreter"),
    ],
)
def test_an_interpreter_below_the_floor_is_refused_in_one_line(tmp_path: Path, script: str, said: str) -> None:
    python = tmp_path / "python"
    python.write_text(script)
    python.chmod(0o755)
    tree = tmp_path / "project"
    tree.mkdir()
    command = [
        sys.executable,
        "-m",
        "pytest_fireloop.cli.fireloop_test",
        "fix it",
        "--agent=repair",
        f"--python={python}",
    ]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
