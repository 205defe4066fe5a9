"""Copies a bundled example project to a temporary folder and makes it a git repository."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from pytest_fireloop import __path__ as package_path
from pytest_fireloop.act.settings import SettingsError

#: Given with the commit, so that a machine without a git identity can run the example.
AUTHOR = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "fireloop example"), ("EMAIL", "example@fireloop.invalid"))
}


def example_folders() -> dict[str, Path]:
    """Return the bundled examples by name: in an installed package, or beside it in a checkout."""
    package = Path(next(iter(package_path)))
    found: dict[str, Path] = {}
    for folder in (package.parent / "examples", package / "examples"):
        if folder.is_dir():
            found.update({path.name: path for path in sorted(folder.iterdir()) if (path / "pyproject.toml").is_file()})
    return found


def copy_example(name: str) -> Path:
    """Copy an example and commit it in a repository of its own; raises SettingsError for an unknown name."""
    examples = example_folders()
    if name not in examples:
        raise SettingsError(f"--example: there is no example {name!r}; known are {', '.join(examples) or 'none'}")
    tree = Path(tempfile.mkdtemp(prefix="fireloop-example-")).resolve() / name
    shutil.copytree(examples[name], tree, ignore=shutil.ignore_patterns("__pycache__", "*.pyc", ".pytest_cache"))
    import git

    with git.Repo.init(tree, initial_branch="main") as repository:
        repository.git.update_environment(**AUTHOR)
        repository.git.add("--all")
        repository.git.commit("--quiet", "--no-gpg-sign", "--no-verify", message=f"The {name} example as it is shipped")
    return tree
