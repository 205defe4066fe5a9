"""Which edits of a project's files can change how its tests are run."""

from __future__ import annotations

import pytest

from pytest_fireloop.observe.integrity.configuration import decides_runs

PYPROJECT = '[project]\nname = "a"\ndependencies = []\n[tool.pytest.ini_options]\naddopts = "-ra"\n[tool.tox]\nenv_list = ["a"]\n'
TOX = "[tox]\nenv_list = a, b\n[testenv]\ncommands = pytest\n"


@pytest.mark.parametrize(
    ("path", "old", "new", "decides"),
    [
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace("[]", '["attrs"]'), False),
        ("pyproject.toml", PYPROJECT, f"# a comment\n{PYPROJECT}", False),
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace("-ra", "-ra -k a"), True),
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace('["a"]', "[]"), True),
        ("pyproject.toml", PYPROJECT, f'{PYPROJECT}[build-system]\nrequires = ["x"]\n', True),
        ("pyproject.toml", PYPROJECT, "no toml", True),
        ("tox.ini", TOX, f"{TOX}# a comment\n", False),
        ("tox.ini", TOX, TOX.replace("a, b", "a"), True),
        ("tox.ini", TOX, TOX.replace("pytest", "true"), True),
        ("tox.ini", TOX, f"{TOX}[pytest]\naddopts = -x\n", True),
        ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n", False),
        ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = a\n[tool:pytest]\npython_files = x\n", True),
    ],
)
def test_what_decides_a_run(path: str, old: str, new: str, decides: bool) -> None:
    assert decides_runs(path, old.encode(), new.encode()) is decides
