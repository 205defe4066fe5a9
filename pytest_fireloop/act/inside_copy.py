"""A copy of the part that runs in the tested process, under a name of its own and with an entry point."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_fireloop import __path__ as package_path

#: A name of its own, so that a project which tests against this very package still imports the whole of it.
NAME = "fireloop_inside"
METADATA = "Metadata-Version: 2.1\nName: fireloop-inside\nVersion: 0\n"
ENTRY_POINTS = f"[pytest11]\nfireloop = {NAME}.plugin\n"


class InsideCopy:
    """Reads the sources once, before any agent runs, and writes them where a test run needs them."""

    def __init__(self) -> None:
        root = Path(next(iter(package_path)))
        files = [root / "__init__.py", root / "plugin.py", *sorted((root / "inside").glob("*.py"))]
        self._sources = {str(path.relative_to(root)): path.read_bytes() for path in files}

    def write(self, folder: Path) -> Path:
        """Write the copy into a folder and return the path of its launcher."""
        top = folder / NAME
        for name in {os.path.dirname(relative) for relative in self._sources}:
            (top / name).mkdir(parents=True, exist_ok=True)
        for relative, content in self._sources.items():
            # without path objects: the copy is written anew before each run
            with open(os.path.join(top, relative), "wb") as file:
                file.write(content)
        information = folder / f"{NAME}-0.dist-info"
        information.mkdir(parents=True, exist_ok=True)
        (information / "METADATA").write_text(METADATA, encoding="utf-8")
        (information / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
        return folder / NAME / "inside" / "launch.py"
