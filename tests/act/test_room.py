"""The clean room: what of the agent's tree gets in, and what of the start stays."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pytest_fireloop.act.checkpoints import Checkpoints
from pytest_fireloop.act.room import Room
from pytest_fireloop.observe.test_files import is_configuration, is_test_file

FILES = {
    "shop.py": "bug = True\n",
    "old.py": "",
    "bin/tool": "#!/bin/sh\n",
    "tests/test_shop.py": "def test(): pass\n",
    "tests/data/gold.txt": "gold\n",
    "conftest.py": "",
    "pyproject.toml": "[project]\n",
}


def keeps(path: str) -> bool:
    return is_test_file(path) or is_configuration(path)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    for name, text in FILES.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tree / "bin" / "tool").chmod(0o755)
    return tree


@pytest.fixture
def checkpoints(tree: Path) -> Checkpoints:
    return Checkpoints.open(tree.parent / "state" / "checkpoints.git", tree)


def contents(room: Room) -> dict[str, str]:
    files = (path for path in room.folder.rglob("*") if path.is_file() or path.is_symlink())
    return {path.relative_to(room.folder).as_posix(): path.read_text() for path in files}


def test_the_baseline_alone(checkpoints: Checkpoints, tmp_path: Path) -> None:
    commit = checkpoints.take("baseline").commit
    room = Room(checkpoints, tmp_path / "room")
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "left_over.py").touch()
    room.lay(commit)
    assert contents(room) == FILES
    assert os.access(room.folder / "bin" / "tool", os.X_OK)
    room.clear()
    assert not room.folder.exists()


def test_product_files_come_from_the_agent_and_all_else_from_the_start(
    tree: Path, checkpoints: Checkpoints, tmp_path: Path
) -> None:
    baseline = checkpoints.take("baseline").commit
    (tree / "shop.py").write_text("bug = False\n")
    (tree / "old.py").unlink()
    (tree / "new").mkdir()
    (tree / "new" / "part.py").write_text("new = 1\n")
    (tree / "tests" / "test_shop.py").unlink()
    (tree / "tests" / "test_new.py").write_text("def test_new(): pass\n")
    (tree / "tests" / "data" / "gold.txt").write_text("brass\n")
    (tree / "conftest.py").write_text("collect_ignore = ['tests']\n")
    (tree / "pytest.ini").write_text("[pytest]\n")
    (tree / "pyproject.toml").write_text("[tool.pytest]\n")
    room = Room(checkpoints, tmp_path / "room")
    room.lay(baseline, checkpoints.take("candidate").commit, keeps=keeps)
    expected = {**FILES, "shop.py": "bug = False\n", "new/part.py": "new = 1\n"}
    del expected["old.py"]
    assert contents(room) == expected
    assert room.altered(checkpoints.files(baseline), keeps) == []


def test_a_link_in_the_place_of_the_tests_stays_out(tree: Path, checkpoints: Checkpoints, tmp_path: Path) -> None:
    baseline = checkpoints.take("baseline").commit
    shutil.rmtree(tree / "tests")
    (tree / "attic").mkdir()
    (tree / "attic" / "nothing.txt").touch()
    (tree / "tests").symlink_to("attic")
    room = Room(checkpoints, tmp_path / "room")
    room.lay(baseline, checkpoints.take("candidate").commit, keeps=keeps)
    assert contents(room) == {**FILES, "attic/nothing.txt": ""}


def test_a_kept_file_that_is_not_the_one_of_the_start_is_named(checkpoints: Checkpoints, tmp_path: Path) -> None:
    commit = checkpoints.take("baseline").commit
    expected = checkpoints.files(commit)
    room = Room(checkpoints, tmp_path / "room")
    room.lay(commit)
    (room.folder / "shop.py").write_text("bug = False\n")
    (room.folder / "tests" / "test_shop.py").write_text("def test(): assert 1\n")
    (room.folder / "conftest.py").unlink()
    assert room.altered(expected, keeps) == ["conftest.py", "shop.py", "tests/test_shop.py"]
