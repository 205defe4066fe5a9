"""The hooks that this plugin adds to pytest's own, for a project's conftest or a plugin of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

    import pytest


def pytest_fireloop_masks(config: pytest.Config) -> Iterable[tuple[str | re.Pattern[str], str]]:  # type: ignore[empty-body]
    """Return pairs of a regular expression and its replacement, for what is noise in this project's failures.

    They are applied in order to the message of each failure, its causes and its compared values, at most some
    thousands of characters each, before the masks that every project has. Another set of pairs makes other signatures.
    """
