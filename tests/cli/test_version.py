"""Both programs tell their version."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from pytest_fireloop.cli import fireloop, fireloop_test


@pytest.mark.parametrize("program", [fireloop, fireloop_test])
def test_the_version_is_that_of_the_installed_package(program: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--version"]) == 0  # type: ignore[attr-defined]
    assert capsys.readouterr().out == f"{program.PROGRAM} {version('pytest-fireloop')}\n"  # type: ignore[attr-defined]
