"""What an interpreter loads before any test: real virtual environments, changed after the start."""

from __future__ import annotations

import os
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
        (write("__editable__.shop.pth", "import finder\n"), "environment_changed", "__editable__.shop.pth"),
        (write("distutils-precedence.pth", "import os\n"), "environment_changed", "distutils-precedence.pth"),
        (write("other/__init__.py", "real = False\n"), "package_changed", "other/__init__.py"),
        (write("other/more.py", "real = False\n"), "package_changed", "other/more.py"),
        (write("shop/__init__.py", "real = False\n"), "package_changed", "shop/__init__.py"),
        (lambda site: (site / "other" / "__init__.py").unlink(), "package_changed", "other/__init__.py"),
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


def test_a_package_that_an_installer_brought_is_a_warning(site: Path, record: EnvironmentRecord) -> None:
    for name in ("shop/__init__.py", "shop/more.py", "shop-1.dist-info/entry_points.txt", "shop-1.dist-info/RECORD"):
        write(name, "[console_scripts]\n")(site)
    found = [(each.kind, each.severity, each.path) for each in record.changes()]
    assert found == [("package_installed", "warning", str(site / "shop" / "__init__.py"))]


def test_planted_byte_code_is_noticed_and_no_finding(site: Path, record: EnvironmentRecord) -> None:
    assert not record.byte_code_changed()
    write("_pytest/reports.pyc", "planted")(site)
    assert record.byte_code_changed()
    assert list(record.changes()) == []


def test_a_change_with_the_old_size_and_time_is_found(site: Path, record: EnvironmentRecord) -> None:
    path = site / "other" / "__init__.py"
    before = path.stat()
    path.write_text("real = Fals\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert [each.kind for each in record.changes()] == ["package_changed"]


def test_a_folder_with_a_start_module_is_no_plain_path(tmp_path: Path, site: Path, record: EnvironmentRecord) -> None:
    (tmp_path / "sitecustomize.py").write_text("x = 1\n")
    write("late.pth", f"{tmp_path}\n")(site)
    assert [each.kind for each in record.changes()] == ["environment_changed"]


def test_the_finder_of_an_editable_install_is_harmless_unless_it_does_more(
    site: Path, record: EnvironmentRecord
) -> None:
    name = "__editable___shop_1_finder"
    finder = "import sys\nfrom pathlib import Path\n\nMAPPING = {'shop': '/x'}\n\n\ndef install():\n    sys.meta_path.append(Path)\n"
    write("__editable__.shop-1.pth", f"import {name}; {name}.install()\n")(site)
    write("shop-1.dist-info/RECORD", "")(site)
    for extra, kind in (("", "start_file_changed"), ("    exec('x = 1')\n", "environment_changed")):
        write(f"{name}.py", finder + extra)(site)
        assert [each.kind for each in record.changes() if each.path.endswith(".pth")] == [kind]


def test_an_interpreter_put_in_place_of_another_is_found(site: Path, record: EnvironmentRecord) -> None:
    python = record.interpreter
    python.unlink()
    python.symlink_to("/bin/true")
    assert [(each.kind, each.path) for each in record.changes()] == [("environment_changed", str(python))]


def test_an_interpreter_that_cannot_be_asked_gives_an_empty_record(tmp_path: Path) -> None:
    assert list(EnvironmentRecord.take(tmp_path / "none", {}).changes()) == []
