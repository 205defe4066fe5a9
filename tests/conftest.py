"""Fixtures that all rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the state of loops, the user's home and the developer's own plugins out of every test."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("FIRELOOP", "GIT_", "PYTEST_XDIST", "COV_CORE", "TOX_")) or name == "PYTEST_ADDOPTS":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def checkout() -> Path:
    """The folder of this repository."""
    return Path(__file__).parents[1]
