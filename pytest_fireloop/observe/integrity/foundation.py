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
    explained: set[tuple[str, str]] = set()
    for name, said in after.items():
        if "|" in said:
            continue
        holder, _, part = name.rpartition(".")
        path, _, place = said.partition(":")
        line = int(place.partition("[")[0] or 0)
        was = before.get(name, "").partition(":")[0]
        if is_test(path) or was == path:
            explained.add((holder, part))
        elif name.startswith(HOOK):
            kind = "library_set" if name in OWN_SAKE else "library_patched"
            yield Finding.of(kind, path, line, f"no {name.removeprefix(HOOK)} of its own -> one")
        elif was and is_test(was):
            yield Finding.of("library_patched", path, line, f"{part} of the tests -> a function of the product")
        elif part in _parts(before.get(holder, "")):
            # what was only added replaces nothing
            explained.add((holder, part))
            file = before[holder].partition("|")[0]
            if file and not is_test(file):
                continue  # the product may put its own together as it likes
            decides = bool(file) or _decides(holder, oracles)
            kind = "library_patched" if decides else "library_set"
            yield Finding.of(kind, path, line, f"{part} of {holder} -> its own function")
    for name, said in after.items():
        file, own, _ = said.partition("|")
        if not own or before.get(name, said) == said or not (is_test(file) if file else _decides(name, oracles)):
            continue
        then, now = _parts(before[name]), _parts(said)
        changed = sorted(part for part in then if now.get(part) != then[part] and (name, part) not in explained)
        if changed:
            detail = f"{changed[0]} of {name} as in the first run -> another one at the end"
            yield Finding.of("library_patched", file or name, 0, detail)


def _parts(said: str) -> dict[str, str]:
    """Return the check sums of a module's functions by name; what a console calls its last result is none."""
    found = dict(each.partition("=")[::2] for each in said.partition("|")[2].split(" ") if each)
    found.pop("_", None)
    return found


def _decides(name: str, oracles: Collection[str]) -> bool:
    root = name.partition(".")[0]
    return root in FOUNDATION or root in REPORTING or root in oracles
