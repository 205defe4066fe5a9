"""Values of the machine and the run that may stand in a failure's text; read before any tested code runs."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

#: Names of users and hosts that every machine has.
COMMON = frozenset({"localhost", "user"})


def known_facts(config: pytest.Config) -> tuple[tuple[str, str], ...]:
    """Return pairs of a value and the name that stands for it, longest first."""
    base = getattr(config.option, "basetemp", None)
    given = os.path.join(str(config.invocation_params.dir), str(base)) if base else ""
    return named_values(
        root=str(config.rootpath),
        home=os.path.expanduser("~"),
        temporary=tempfile.gettempdir(),
        basetemp=given,
        prefixes=(sys.prefix, sys.base_prefix),
        user=_user(),
        host=_host(),
        pid=os.getpid(),
        start=time.time(),
        python=".".join(str(part) for part in sys.version_info[:3]),
    )


def named_values(
    *,
    root: str = "",
    home: str = "",
    temporary: str = "",
    basetemp: str = "",
    prefixes: Iterable[str] = (),
    user: str = "",
    host: str = "",
    pid: int = 0,
    start: float = 0,
    python: str = "",
) -> tuple[tuple[str, str], ...]:
    """Name the values that are worth replacing, the longest first."""
    pairs: dict[str, str] = {}
    for value, name in ((basetemp, "<tests>"), (root, "<root>"), (temporary, "<tmp>"), (home, "<home>")):
        for spelling in _spellings(value):
            pairs.setdefault(spelling, name)
    for prefix in prefixes:
        # `/usr` is where much stands that is not Python's
        if len(prefix) > len("/usr/x") and prefix != "/usr/local":
            pairs.setdefault(prefix, "<prefix>")
    if len(user) > 1 and user not in COMMON:
        pairs.setdefault(user, "<user>")
    if len(host) > 3 and host not in COMMON:
        pairs.setdefault(host, "<host>")
    if pid:
        pairs.setdefault(str(pid), "<pid>")
    if python.count(".") == 2:
        pairs.setdefault(python, "<release>")
        for word in ("Python ", "python ", "CPython "):
            # another release in the text is one that is asked for
            pairs.setdefault(word + python.rpartition(".")[0], word.strip())
    if start:
        pairs.setdefault(repr(start), "<start>")
    return tuple(sorted(pairs.items(), key=lambda pair: (-len(pair[0]), pair[0])))


def _spellings(path: str) -> set[str]:
    """Return how a folder may be written: as given, absolute, resolved, and as macOS shows its private ones."""
    if len(path) < 4:
        return set()
    found = {path, os.path.abspath(path), os.path.realpath(path)} if path.startswith((".", os.sep)) else {path}
    if path.startswith("/private/"):
        found.add(path[len("/private") :])
    elif path.startswith("/var/"):
        found.add(f"/private{path}")
    return {each.rstrip("/\\") for each in found if len(each) > 3}


def _user() -> str:
    return (
        os.environ.get("USER")
        or os.environ.get("LOGNAME")
        or os.environ.get("USERNAME")
        or os.path.basename(os.path.expanduser("~"))
    )


def _host() -> str:
    # without the socket module, which a run may not need
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
