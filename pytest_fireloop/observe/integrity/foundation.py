"""Compares what the modules held that tests stand on, at the end of two runs: whoever replaced a part of them, and how."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.patches import REPORTING
from pytest_fireloop.observe.integrity.product import FOUNDATION

HOOK = "hook "
#: Hooks that programs set for their own sake.
OWN_SAKE = frozenset({"hook signal", "hook gc.callbacks"})


def compare_foundation(
    before: Mapping[str, str],
    after: Mapping[str, str],
    *,
    is_test: Callable[[str], bool],
    oracles: Collection[str],
) -> Iterator[Finding]:
    """Find functions that the product put in the place of others, and other replacements in what decides tests."""
    explained: set[str] = set()
    for name, said in after.items():
        holder, _, part = name.rpartition(".")
        path, colon, place = said.partition(":")
        line = int(place.partition("[")[0] or 0) if colon else 0
        if not colon or is_test(path):
            continue
        was = before.get(name, "").partition(":")[0]
        if name.startswith(HOOK):
            if was != path:
                kind = "library_set" if name in OWN_SAKE else "library_patched"
                yield Finding.of(kind, path, line, f"no {name.removeprefix(HOOK)} of its own -> one")
        elif was and is_test(was):
            yield Finding.of("library_patched", path, line, f"{part} of the tests -> a function of the product")
        elif "=" not in after.get(holder, "=") and before.get(holder, after.get(holder)) != after.get(holder):
            # what was only added leaves the sum of the rest as it was
            explained.add(holder)
            if was != path:
                kind = "library_patched" if _decides(holder, oracles) else "library_set"
                yield Finding.of(kind, path, line, f"{part} of {holder} -> its own function")
    for name, said in after.items():
        file, own, _ = said.partition("=")
        decides = is_test(file) if own else _decides(name, oracles)
        if ":" not in said and before.get(name, said) != said and decides and name not in explained:
            detail = "as in the first run -> holds another function at the end"
            yield Finding.of("library_patched", file if own else name, 0, detail)


def _decides(name: str, oracles: Collection[str]) -> bool:
    root = name.partition(".")[0]
    return root in FOUNDATION or root in REPORTING or root in oracles
