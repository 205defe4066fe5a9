"""What the installed but unused plugin adds to the start of pytest.

Runs pytest on one trivial test with the plugin and with it blocked by `-p no:fireloop` and its entry point hidden, in
turn and in pairs, and prints the median of the differences. The target is 10 ms.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

PACKAGES = ("py", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")


def environment(folder: Path, *, with_plugin: bool) -> Path:
    """Make an environment that sees pytest alone, or pytest and this plugin with its entry point."""
    import importlib.util

    import pytest_fireloop

    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/python*/site-packages")
    names = (*PACKAGES, "pytest_fireloop") if with_plugin else PACKAGES
    for name in names:
        found = importlib.util.find_spec(name)
        assert found is not None
        assert found.origin is not None
        source = Path(found.origin)
        source = source.parent if source.name == "__init__.py" else source
        (site / source.name).symlink_to(source)
        for information in source.parent.glob(f"{name}-*.dist-info"):
            (site / information.name).symlink_to(information)
    if with_plugin:
        assert pytest_fireloop.__doc__
        information = site / "pytest_fireloop-0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text("Metadata-Version: 2.1\nName: pytest-fireloop\nVersion: 0\n")
        (information / "entry_points.txt").write_text("[pytest11]\nfireloop = pytest_fireloop.plugin\n")
    return folder / "bin" / "python"


def seconds(python: Path, tree: Path) -> float:
    """Time one whole run of pytest."""
    words = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    start = time.perf_counter()
    subprocess.run(words, cwd=tree, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONHASHSEED": "0"})
    return time.perf_counter() - start


def main() -> int:
    """Print the medians and return 1 when the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plain = environment(root / "plain", with_plugin=False)
        ours = environment(root / "ours", with_plugin=True)
        (root / "tree").mkdir()
        (root / "tree" / "test_one.py").write_text("def test_one():\n    pass\n")
        for python in (plain, ours):
            seconds(python, root / "tree")
        pairs = [(seconds(plain, root / "tree"), seconds(ours, root / "tree")) for _ in range(options.pairs)]
    extra = statistics.median(second - first for first, second in pairs) * 1000
    print(f"pytest alone      {statistics.median(first for first, _ in pairs) * 1000:7.1f} ms (median)")
    print(f"with the plugin   {statistics.median(second for _, second in pairs) * 1000:7.1f} ms (median)")
    print(f"difference        {extra:7.1f} ms (median of {len(pairs)} pairs); the target is 10 ms")
    return int(extra > 10)


if __name__ == "__main__":
    sys.exit(main())
