"""Which test of one run is which test of another, when ids are unstable, doubled, moved or seen from another folder."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

#: What a parameter's id may hold that is another in each run: addresses, random identifiers, temporary folders.
UNSTABLE = (
    (re.compile(r"0x[0-9a-fA-F]{9,16}"), "0x?"),
    (re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"), "<uuid>"),
    (re.compile(r"/?[\w./-]{0,200}pytest-of-[\w.-]{1,64}/pytest-\d{1,9}"), "<tmp>"),
    (re.compile(r"/tmp/tmp\w{6,12}"), "<tmp>"),  # noqa: S108 - a pattern, no file is made
)
#: What a parameter's id looks like that was drawn or measured; `1` or `admin` is somebody's choice.
RANDOM = re.compile(r"\[.*(?:\d{6}|\d\.\d{5}|[0-9a-f]{12})")
#: Share of a vanished file's tests that another file must hold to be the same file elsewhere.
MOVED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Pairing:
    """Pairs the tests of two runs: `same` maps ids of the later run to ids of the earlier, the rest is gone or fresh."""

    same: Mapping[str, str] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    fresh: frozenset[str] = frozenset()


def stable_ids(nodeids: Iterable[str]) -> dict[str, str]:
    """Return for each id one that the next run will give too: unstable parts masked, equals numbered in their order."""
    times: Counter[str] = Counter()
    found = {}
    for nodeid in nodeids:
        if "[" not in nodeid:
            found[nodeid] = nodeid
            continue
        path, separator, tail = nodeid.partition("::")
        name, bracket, parameters = tail.partition("[")
        for pattern, replacement in UNSTABLE:
            parameters = pattern.sub(replacement, parameters)
        masked = f"{path}{separator}{name}{bracket}{parameters}"
        times[masked] += 1
        found[nodeid] = masked if times[masked] == 1 else f"{masked}#{times[masked]}"
    return found


def rebased(nodeids: Iterable[str], rootdir: str, onto: str) -> dict[str, str]:
    """Return the ids as a run with another root would give them, where one root lies in the other; else unchanged."""
    here, there = PurePosixPath(rootdir.replace("\\", "/")), PurePosixPath(onto.replace("\\", "/"))
    if here != there and there in here.parents:
        prefix = f"{here.relative_to(there)}/"
        return {nodeid: prefix + nodeid for nodeid in nodeids}
    if here != there and here in there.parents:
        prefix = f"{there.relative_to(here)}/"
        return {nodeid: nodeid.removeprefix(prefix) for nodeid in nodeids}
    return {nodeid: nodeid for nodeid in nodeids}


def pair(before: Mapping[str, str], after: Mapping[str, str], *, whole: bool) -> Pairing:
    """Pair tests by their stable ids and, where both runs are whole, by moved files and by functions with unstable ids.

    Both runs are given as outcomes by id; outcomes matter only where nothing in the ids tells parameters apart.
    """
    same = {nodeid: nodeid for nodeid in after if nodeid in before}
    if len(same) == len(after) == len(before):
        return Pairing(same)
    old = stable_ids(nodeid for nodeid in before if nodeid not in same)
    new = stable_ids(nodeid for nodeid in after if nodeid not in same)
    by_stable = {stable: nodeid for nodeid, stable in old.items()}
    same |= {nodeid: by_stable[stable] for nodeid, stable in new.items() if stable in by_stable}
    taken = set(same.values())
    gone = [nodeid for nodeid in before if nodeid not in taken]
    fresh = [nodeid for nodeid in after if nodeid not in same]
    if whole and gone and fresh:
        for more in (_moved(gone, fresh, before, after), _unstable(gone, fresh, before, after)):
            # the second looks at what the first left
            same.update({new: old for new, old in more.items() if new not in same and old not in taken})
            taken = set(same.values())
    return Pairing(same, frozenset(gone) - taken, frozenset(fresh) - same.keys())


def _moved(gone: list[str], fresh: list[str], before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Pair the tests of files that vanished whole with those of files that are new, file by file."""
    old, new = _by_file(gone), _by_file(fresh)
    staying, known = {_file(nodeid) for nodeid in after}, {_file(nodeid) for nodeid in before}
    left = {path: tails for path, tails in old.items() if path not in staying}
    right = {path: tails for path, tails in new.items() if path not in known}
    holders = defaultdict(list)
    for path, tails in right.items():
        for tail in tails:
            holders[tail].append(path)
    shared_by = Counter((a, b) for a, tails in left.items() for tail in tails for b in holders.get(tail, ()))
    ranked = sorted(
        ((shared, a.rpartition("/")[2] == b.rpartition("/")[2], a, b) for (a, b), shared in shared_by.items()),
        reverse=True,
    )
    pairs: dict[str, str] = {}
    used: set[str] = set()
    for shared, same_name, a, b in ranked:
        if a in used or b in used or not _same_file(left[a].keys(), right[b].keys(), shared, named=same_name):
            continue
        used |= {a, b}
        pairs |= {right[b][tail]: left[a][tail] for tail in left[a].keys() & right[b].keys()}
    return pairs


def _same_file(old: Collection[str], new: Collection[str], shared: int, *, named: bool) -> bool:
    """Whether tests in common make one file of two: a file of one test by another name shares too little to tell."""
    if not shared:
        return False
    half = shared >= MOVED_SHARE * max(len(old), len(new))
    return set(old) == set(new) or (named and shared >= MOVED_SHARE * len(old)) or (half and shared > 1)


def _unstable(gone: list[str], fresh: list[str], before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Pair the parameters of functions of which all ids changed at once while their number did not."""
    old, new = _by_function(gone), _by_function(fresh)
    sizes = [Counter(map(_function, nodeids)) for nodeids in (before, after)]
    pairs: dict[str, str] = {}
    for function, olds in old.items():
        news = new.get(function, [])
        if not (1 < len(olds) == len(news) == sizes[0][function] == sizes[1][function]):
            continue
        if not all(RANDOM.search(nodeid) for nodeid in (*olds, *news)):
            continue
        by_outcome = defaultdict(list)
        for nodeid in olds:
            by_outcome[before[nodeid]].append(nodeid)
        equal = {nodeid: by_outcome[after[nodeid]].pop(0) for nodeid in news if by_outcome[after[nodeid]]}
        rest = [nodeid for nodeids in by_outcome.values() for nodeid in nodeids]
        pairs |= equal
        pairs |= dict(zip([nodeid for nodeid in news if nodeid not in equal], rest, strict=True))
    return pairs


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def _function(nodeid: str) -> str:
    path, separator, tail = nodeid.partition("::")
    return path + separator + tail.partition("[")[0]


def _by_file(nodeids: Iterable[str]) -> dict[str, dict[str, str]]:
    files: dict[str, dict[str, str]] = defaultdict(dict)
    for nodeid, stable in stable_ids(nodeids).items():
        path, separator, tail = stable.partition("::")
        if separator:
            files[path][tail] = nodeid
    return files


def _by_function(nodeids: Iterable[str]) -> dict[str, list[str]]:
    functions: dict[str, list[str]] = defaultdict(list)
    for nodeid in nodeids:
        if "[" in nodeid.partition("::")[2]:
            functions[_function(nodeid)].append(nodeid)
    return functions
