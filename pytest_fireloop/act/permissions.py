"""Who may read, write and run the files of a checkpoint: git keeps no more of it than whether the owner may run one."""

from __future__ import annotations

import json
import stat
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fireloop.act.stored_files import Stamp
from pytest_fireloop.act.tree_writer import EXECUTABLE, LINK, PLAIN, git_mode

#: Begins the line of a checkpoint's message that holds them.
LINE = "permissions: "


@dataclass(frozen=True, slots=True)
class Permissions:
    """Nine bits: those of most files by git's mode, and those of the others by path."""

    usual: Mapping[str, int] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def seen(cls, present: Mapping[str, Stamp]) -> Permissions:
        """Take them from what the file system told of each file."""
        modes = Counter(seen[0] for seen in present.values())
        usual: dict[str, int] = {}
        for mode, _ in modes.most_common():
            if stat.S_ISREG(mode):
                usual.setdefault(git_mode(mode), mode & 0o777)
        odd = {mode for mode in modes if stat.S_ISREG(mode) and usual[git_mode(mode)] != mode & 0o777}
        return cls(usual, {path: seen[0] & 0o777 for path, seen in present.items() if seen[0] in odd} if odd else {})

    @classmethod
    def read(cls, commit: bytes) -> Permissions:
        """Read them from a commit; of one that holds none nothing is known."""
        line = commit.rstrip(b"\n").rpartition(b"\n")[2]
        if not line.startswith(LINE.encode()):
            return cls()
        try:
            said = json.loads(line[len(LINE) :])
            by_bits = said["others"].items()
            others = {str(path): int(bits, 8) & 0o777 for bits, paths in by_bits for path in paths}
            return cls({mode: int(said[mode], 8) & 0o777 for mode in (PLAIN, EXECUTABLE) if mode in said}, others)
        except (ValueError, KeyError, TypeError, AttributeError):
            return cls()

    def told(self) -> str:
        """Return the line of a checkpoint's message."""
        others: dict[str, list[str]] = {}
        for path, bits in sorted(self.others.items()):
            others.setdefault(f"{bits:o}", []).append(path)
        return LINE + json.dumps({**{mode: f"{bits:o}" for mode, bits in self.usual.items()}, "others": others})

    def of(self, path: str, mode: str) -> int | None:
        """Return the bits of a file that is stored with such a mode; None for a link, and where nothing is known."""
        return None if mode == LINK else self.others.get(path, self.usual.get(mode))
