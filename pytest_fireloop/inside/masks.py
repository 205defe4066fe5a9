"""The table of what is noise in a failure's text: each mask with its reason and an example."""

from __future__ import annotations

import re
from typing import NamedTuple


class Mask(NamedTuple):
    """One kind of noise; `pattern` must run in linear time on any input."""

    name: str
    pattern: re.Pattern[str]
    replacement: str
    reason: str
    example: str


MASKS = (
    Mask("colour", re.compile(r"\x1b\[[0-9;]*[A-Za-z]"), "", "terminal colour codes", "\x1b[31mE\x1b[0m"),
    Mask("address", re.compile(r"\b0x[0-9a-fA-F]{5,16}\b"), "0x?", "object addresses move", "<Cart at 0x7f3a5c0d1e80>"),
    Mask(
        "uuid",
        re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"),
        "<uuid>",
        "random identifiers",
        "6f1c2a9e-0b7d-4a52-9f3e-2d1c0b9a8f7e",
    ),
    Mask(
        "timestamp",
        re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?"),
        "<time>",
        "the time of the run",
        "2026-03-01T12:30:05.123456",
    ),
    Mask(
        "temporary folder",
        re.compile(r"(?:/[\w.+-]{1,80}){0,8}/pytest-of-[\w.-]{1,64}/pytest-(?:\d{1,9}|current)(?:/popen-gw\d{1,3})?"),
        "<tmp>",
        "pytest's numbered folders",
        "/tmp/pytest-of-ann/pytest-12/test_write0",
    ),
    Mask(
        "temporary name",
        re.compile(r"/tmp/tmp[\w]{6,12}\b"),
        "<tmp>",
        "names of the tempfile module",
        "/tmp/tmpab12cd_x",
    ),
    Mask("worker", re.compile(r"\bgw\d{1,3}\b"), "gw?", "names of xdist workers", "gw3"),
    Mask(
        "verbosity hint", re.compile(r"\n?\s*Use -v to get more diff"), "", "depends on -v", "Use -v to get more diff"
    ),
)


def mask(text: str, known: tuple[tuple[str, str], ...] = ()) -> str:
    """Replace what is noise: first the known facts of this machine (value, name), then the table."""
    for value, name in known:
        text = text.replace(value, name)
    for row in MASKS:
        text = row.pattern.sub(row.replacement, text)
    return text
