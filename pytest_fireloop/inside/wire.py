"""Keeps a worker's reports such that xdist can send them: one lone surrogate loses the test, and pytest ends with 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .guard import Guarded

if TYPE_CHECKING:
    from collections.abc import Generator


class Wire(Guarded):
    """Registered in xdist's workers only."""

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self) -> Generator[None, Any, Any]:
        data = yield
        return sendable(data) if isinstance(data, dict) else data


def sendable(value: Any) -> Any:
    """Return the value with each lone surrogate in its texts written out as an escape."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {sendable(key): sendable(each) for key, each in value.items()}
    if type(value) in {list, tuple}:
        return type(value)(map(sendable, value))
    return value
