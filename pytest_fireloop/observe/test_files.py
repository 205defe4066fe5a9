"""Which files belong to the tests, and which decide how they are run."""

from __future__ import annotations

from collections.abc import Collection

TEST_FOLDERS = frozenset({"tests", "test", "testing", "__snapshots__", "__tests__"})
TEST_SUFFIXES = (".snap", ".ambr")
CONFIGURATION = frozenset(
    {
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "pyproject.toml",
        "tox.ini",
        "setup.cfg",
        ".coveragerc",
        "sitecustomize.py",
        "usercustomize.py",
    }
)


def is_test_file(path: str, collected: Collection[str] = ()) -> bool:
    """Whether a path, relative to the tree, belongs to the tests.

    What pytest collected counts only under a test's name or folder: a source file that is collected for its doctests is
    product.
    """
    *folders, name = path.split("/")
    if name == "conftest.py" or _test_name(name) or name.endswith(TEST_SUFFIXES):
        return True
    if any(folder in TEST_FOLDERS for folder in folders):
        return True
    return path in collected and not name.endswith(".py")


def is_configuration(path: str) -> bool:
    """Whether a path can decide what pytest collects, or what an interpreter does before it."""
    name = path.rpartition("/")[2]
    return name in CONFIGURATION or name.endswith(".pth")


def _test_name(name: str) -> bool:
    stem, _, suffix = name.rpartition(".")
    return suffix == "py" and (stem.startswith("test_") or stem.endswith("_test") or stem in {"test", "tests"})
