"""Tests run as if nobody tested: what tells of pytest is out of sight, what the tests set up themselves is not."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fireloop.act.test_run import TestCommand, run_tests

HIDDEN = """
import faulthandler, logging, os, sys, threading
import product
import pytest

def test_modules(): assert not [name for name in sys.modules if name.startswith(("pytest", "_pytest", "pluggy", "test_"))]
def test_import_system(): assert not [each for each in sys.meta_path if "pytest" in type(each).__module__]
def test_arguments(): assert sys.argv == [""]
def test_main(): assert not hasattr(sys.modules["__main__"], "__file__")
def test_variables(): assert [] == [name for name in os.environ if name.startswith(("PYTEST", "FIRELOOP"))]
def test_streams(): assert sys.stdout is sys.__stdout__ and sys.stderr is sys.__stderr__
def test_handlers(): assert not logging.root.handlers
def test_dumps(): assert not faulthandler.is_enabled()
def test_hooks(): assert sys.unraisablehook is sys.__unraisablehook__ and threading.excepthook is threading.__excepthook__
def test_product_was_imported_before(): assert not product.SEEN
"""
OWN = """
import logging, os, sys
import pytest

@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["shop", "--all"])
    return tmp_path

def test_printed(capsys):
    print("said")
    assert capsys.readouterr().out == "said\\n"
def test_logged(caplog):
    logging.getLogger("shop").warning("said")
    assert caplog.messages == ["said"]
def test_folder(folder): assert (os.getcwd(), sys.argv) == (str(folder), ["shop", "--all"])
def test_lazy_import():
    from pytest import approx
    assert 0.1 + 0.2 == approx(0.3)
@pytest.mark.xfail
def test_known(): assert False
def test_raises():
    with pytest.raises(ValueError, match="no"):
        int("no")
"""
AGAIN = """
import pytest

@pytest.fixture
def fresh(): return []

def test_fixtures_are_made_anew(fresh):
    fresh.append(1)
    assert fresh == [1]

CALLS = []
def test_third(): CALLS.append(1); assert len(CALLS) != 3
"""
PRODUCT = "import sys\nSEEN = [name for name in sys.modules if 'pytest' in name] + sys.argv[1:]\n"
Said = dict[str, list[str]]


@pytest.fixture
def said(tmp_path: Path) -> Callable[..., Said]:
    """Run a test file in disguise and return what each time said, by the name of the test."""

    def run(source: str, times: int = 1, folder: Path | None = None) -> Said:
        tree = tmp_path / "tree"
        tree.mkdir()
        (tree / "product.py").write_text(PRODUCT)
        (tree / "test_it.py").write_text(source)
        wanted: dict[str, Any] = {"times": times, "folder": folder and str(folder), "tests": ["test_it"]}
        wanted |= {"modules": ["product"], "path": [str(tree), *sys.path]}
        (tmp_path / "wanted.json").write_text(json.dumps(wanted))
        command = TestCommand(Path(sys.executable), tree, (), dict(os.environ), mapped_from=tmp_path / "elsewhere")
        done = run_tests(replace(command, disguise=tmp_path / "wanted.json"), work=tmp_path / "work")
        assert done.exit_code is not None, done.output.read_text()
        found: Said = done.record.extra["said"]
        return {node.partition("::")[2]: times for node, times in found.items()}

    return run


def test_nothing_of_pytest_is_in_sight(said: Callable[..., Said]) -> None:
    found = said(HIDDEN)
    assert len(found) == HIDDEN.count("def test_")
    assert {name for name, times in found.items() if times != [""]} == set()


def test_what_tests_set_up_is_left_alone(said: Callable[..., Said]) -> None:
    found = said(OWN, 2)
    assert found.pop("test_known") == ["skipped", "skipped"]
    assert {name for name, times in found.items() if times != ["", ""]} == set()


def test_a_test_runs_as_often_as_asked_each_time_anew(said: Callable[..., Said]) -> None:
    found = said(AGAIN, 4)
    assert found["test_fixtures_are_made_anew"] == [""] * 4
    assert [bool(each) for each in found["test_third"]] == [False, False, True, False]


def test_a_test_that_is_at_home_in_its_folder_runs_in_another(said: Callable[..., Said], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert said("import os\n\ndef test_it(): assert os.listdir() == []\n", 1, tmp_path / "empty") == {"test_it": [""]}
