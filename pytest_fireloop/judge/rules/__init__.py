"""The rules that open the circuit, a file each; the table holds them in order."""

from __future__ import annotations

from pytest_fireloop.judge.rules.table import RULES

__all__ = ["RULES"]
