"""What an interpreter loads before any test: real virtual environments, changed after the start."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fireloop.act.environment_record import EnvironmentRecord

PLUGIN = "[pytest11]\nquiet = quiet\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    for package in ("pytest", "_pytest", "other"):
        (site / package).mkdir()
        (site / package / "__init__.py").write_text("real = True\n")
    (site / "paths.pth").write_text("/somewhere\n")
    return site


@pytest.fixture
def record(site: Path) -> EnvironmentRecord:
    return EnvironmentRecord.take(site.parents[2] / "bin" / "python", {})


def write(name: str, text: str) -> Callable[[Path], None]:
    def edit(site: Path) -> None:
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(text)

    return edit


@pytest.mark.parametrize(
    ("edit", "kind", "path"),
    [
        (write("sitecustomize.py", "x = 1\n"), "environment_changed", "sitecustomize.py"),
        (write("late.pth", "import os\n"), "environment_changed", "late.pth"),
        (write("late.pth", "/elsewhere\n"), "start_file_changed", "late.pth"),
        (write("__editable__.shop.pth", "import finder\n"), "start_file_changed", "__editable__.shop.pth"),
        (write("_pytest/__init__.py", "real = False\n"), "environment_changed", "_pytest/__init__.py"),
        (write("pluggy.py", "x = 1\n"), "environment_changed", "pluggy.py"),
        (
            write("quiet-1.dist-info/entry_points.txt", PLUGIN),
            "environment_changed",
            "quiet-1.dist-info/entry_points.txt",
        ),
        (lambda site: (site / "paths.pth").unlink(), "start_file_changed", "paths.pth"),
    ],
)
def test_what_could_change_a_run_is_found(
    site: Path, record: EnvironmentRecord, edit: Callable[[Path], None], kind: str, path: str
) -> None:
    edit(site)
    assert [(each.kind, each.path) for each in record.changes()] == [(kind, str(site / path))]


def test_installed_packages_and_byte_code_are_no_findings(site: Path, record: EnvironmentRecord) -> None:
    for name in ("shop/__init__.py", "shop-1.dist-info/entry_points.txt", "_pytest/cache.pyc", "other/__init__.py"):
        write(name, "[console_scripts]\n")(site)
    assert list(record.changes()) == []


def test_an_interpreter_put_in_place_of_another_is_found(site: Path, record: EnvironmentRecord) -> None:
    python = record.interpreter
    python.unlink()
    python.symlink_to("/bin/true")
    assert [(each.kind, each.path) for each in record.changes()] == [("environment_changed", str(python))]


def test_an_interpreter_that_cannot_be_asked_gives_an_empty_record(tmp_path: Path) -> None:
    assert list(EnvironmentRecord.take(tmp_path / "none", {}).changes()) == []
