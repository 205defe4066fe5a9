"""What kind of file system a folder lies on."""

from __future__ import annotations

import os
import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
#: Where several machines see the same file, and shared memory between them is none.
NETWORK = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "ncpfs",
        "9p",
        "afs",
        "ceph",
        "lustre",
        "glusterfs",
        "gpfs",
        "beegfs",
        "ocfs2",
    }
    | {
        "gfs2",
        "virtiofs",
        "vboxsf",
        "fuse.sshfs",
        "fuse.glusterfs",
        "fuse.ceph",
        "fuse.s3fs",
        "fuse.rclone",
        "fuse.smbnetfs",
    }
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


def is_on_network(folder: Path, mounts: Path = MOUNTS) -> bool:
    """Whether a folder lies on a network's file system, as far as the system tells."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    real = os.path.realpath(folder)
    best, kind = "", ""
    for line in lines:
        fields, _, rest = line.partition(" - ")
        parts = fields.split(" ")
        if len(parts) < 5 or not rest:
            continue
        place = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), parts[4])
        # of two mounts on one place the later hides the earlier
        if (real == place or real.startswith(place.rstrip("/") + "/")) and len(place) >= len(best):
            best, kind = place, rest.split(" ")[0]
    return kind in NETWORK
