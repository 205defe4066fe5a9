"""The folder of the loop file hides itself from git, and leads nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fireloop.show.loop_file import GITIGNORE, LoopFile


@pytest.mark.parametrize(
    ("before", "after"), [(None, GITIGNORE), ("", GITIGNORE), ("*\n!/kept.md\n", "*\n!/kept.md\n")]
)
def test_it_hides_itself(tmp_path: Path, before: str | None, after: str) -> None:
    ignore = tmp_path / ".fireloop" / ".gitignore"
    if before is not None:
        ignore.parent.mkdir()
        ignore.write_text(before)
    LoopFile(tmp_path, "one").begin()
    assert ignore.read_text() == after
    assert (tmp_path / ".fireloop" / "fire-loop-one.md").read_text().startswith("# fire loop one\n")


def test_where_the_folder_is_a_link_there_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".fireloop").symlink_to("elsewhere")
    file = LoopFile(tmp_path, "one")
    file.begin()
    assert file.path is None
    assert list((tmp_path / "elsewhere").iterdir()) == []
