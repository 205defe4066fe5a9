"""On a network's file system the journal needs no memory that all who read it share."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_fireloop.remember.journal import Journal
from pytest_fireloop.remember.mounts import is_on_network

MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /proc rw - proc proc rw
40 22 0:40 / {top}/nfs rw,relatime shared:20 - nfs4 server:/export rw,vers=4.2
41 40 0:41 / {top}/nfs/local rw - ext4 /dev/vdb rw
42 22 0:42 / {top}/with\\040space rw - cifs //server/share rw
43 22 0:43 / {top}/twice rw - ext4 /dev/vdc rw
44 22 0:44 / {top}/twice rw - fuse.sshfs host: rw
a line that is none
"""


@pytest.mark.parametrize(
    ("folder", "network"),
    [
        (".", False),
        ("nfs", True),
        ("nfs/deep/er", True),
        ("nfsx", False),
        ("nfs/local/x", False),
        ("with space/x", True),
        ("twice", True),
        ("link", True),
    ],
)
def test_the_nearest_mount_decides(tmp_path: Path, folder: str, network: bool) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS.format(top=tmp_path))
    (tmp_path / "nfs").mkdir()
    (tmp_path / "link").symlink_to("nfs")
    assert is_on_network(tmp_path / folder, mounts) is network
    assert not is_on_network(tmp_path, tmp_path / "none")


def mode(path: Path) -> str:
    database = sqlite3.connect(path)
    try:
        return str(database.execute("PRAGMA journal_mode").fetchone()[0])
    finally:
        database.close()


def test_the_journal_goes_by_it_and_keeps_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.sqlite"
    journal = Journal(path)
    journal.begin_loop("one", "runner", {})
    journal.close()
    assert mode(path) == "wal"
    # the folder was moved to a mount, of which a test has none
    monkeypatch.setattr("pytest_fireloop.remember.journal.is_on_network", lambda _: True)
    journal = Journal(path)
    assert mode(path) == "delete"
    journal.add_iteration("one", 0, {"checkpoint": None})
    other = Journal(path)
    assert (len(other.loops()), len(other.iterations("one"))) == (1, 1)
    other.close()
    journal.close()
    fresh = tmp_path / "fresh.sqlite"
    Journal(fresh).close()
    assert mode(fresh) == "delete"
