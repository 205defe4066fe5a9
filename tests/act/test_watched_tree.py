"""The tree of a loop, where an agent takes it away."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fireloop.act.watched_tree import WatchedTree
from pytest_fireloop.show.display import Display


def _file(path: Path) -> None:
    path.write_text("work")


@pytest.mark.parametrize(
    "make", [_file, os.mkfifo, lambda path: path.symlink_to("nowhere")], ids=["file", "pipe", "link"]
)
def test_what_stands_in_the_place_of_the_tree_is_kept_and_named(
    tmp_path: Path, make: Callable[[Path], object], capsys: pytest.CaptureFixture[str]
) -> None:
    tree, state = tmp_path / "tree", tmp_path / "state"
    tree.mkdir()
    (tree / "a.py").write_text("A = 1\n")
    watched = WatchedTree(state / "checkpoints.git", tree, "one", Display(machine_output=True, quiet=False))
    start = watched.take("baseline")
    for number in (1, 2):
        subprocess.run(["rm", "-rf", str(tree)], check=True)
        make(tree)
        kind = tree.lstat().st_mode
        (said,) = watched.missing()
        kept = [path for path in (state / "loops" / "one").iterdir() if str(path) in said]
        assert len(kept) == 1, said
        assert kept[0].lstat().st_mode == kind
        assert len(list((state / "loops" / "one").iterdir())) == number
        assert watched.take(f"iteration {number}").tree != start.tree
        assert list(tree.iterdir()) == []
    assert watched.missing() == ()
    assert capsys.readouterr().err == ""
