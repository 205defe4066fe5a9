"""What is known of every test: a run may hide some, lose some, and bring new ones to light."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import compress
from operator import eq, ne

from pytest_fireloop.judge.facts import GREEN, RED, Facts

#: A broken file of these names hides the tests of its whole folder.
FOLDER_FILES = frozenset({"conftest.py", "__init__.py"})


@dataclass(frozen=True, slots=True)
class Suite:
    """The last known outcome of each test, and the tests that the agent wrote itself."""

    known: Mapping[str, str] = field(default_factory=dict)
    added: frozenset[str] = frozenset()
    collection_errors: Mapping[str, str] = field(default_factory=dict)

    def passing(self, flaky: Collection[str]) -> int:
        """Count the passing tests; flaky ones and the agent's own count for nothing."""
        known = self.known
        return sum(map(GREEN.__contains__, known.values())) - sum(
            known.get(node) in GREEN for node in self.added.union(flaky)
        )

    @property
    def green(self) -> bool:
        """Whether tests ran and nothing at all is red."""
        return bool(self.known) and not self.collection_errors and RED.isdisjoint(self.known.values())


@dataclass(frozen=True, slots=True)
class Moves:
    """How outcomes changed, flaky tests included: each changed test with its outcome before and after, None for absent."""

    changed: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    collection_mended: frozenset[str] = frozenset()


def start(facts: Facts) -> Suite:
    """Return the suite of the baseline."""
    return Suite(dict(facts.outcomes or {}), collection_errors=facts.collection_errors)


def advance(suite: Suite, facts: Facts, failing: Collection[str]) -> tuple[Suite, Moves]:
    """Take in one run; `failing` are the tests that were red before, of which a vanished one is lost, not mended."""
    old, new = suite.known, facts.outcomes
    if new is None:
        return Suite(old, suite.added, facts.collection_errors), Moves()
    # most runs show the same tests in the same order: told without a look-up for each of ten thousand
    same = len(old) == len(new) and all(map(eq, old, new))
    absent = [] if same else [node for node in old if node not in new]
    kept = absent if facts.partial else _hidden(absent, facts.collection_errors, everything=not new)
    gone = set(absent).difference(kept)
    known = {**new, **{node: old[node] for node in kept}} if kept else new
    fresh = [] if same else [node for node in new if node not in old]
    renamed, appeared = _renamed(sorted(gone), sorted(fresh))
    # a test of the agent's own that comes red first, and is then made to pass, is work like any other
    written = [node for node in appeared if file_of(node) in facts.changed and new[node] in GREEN]
    # what a mended file brings to light was there all along
    brought = set(_hidden(written, suite.collection_errors, everything=not old))
    changed: dict[str, tuple[str | None, str | None]] = {
        node: (old.get(node), new[node])
        for node in compress(new, map(ne, old.values() if same else map(old.get, new), new.values()))
    }
    changed |= {node: (old[node], None) for node in gone}
    moves = Moves(
        changed,
        frozenset(node for node in gone if node in failing and node not in renamed),
        frozenset(path for path in suite.collection_errors if _mended(path, facts)),
    )
    added = (suite.added - gone) | {renamed[node] for node in suite.added & renamed.keys()}
    return Suite(known, added | (set(written) - brought), facts.collection_errors), moves


def file_of(node: str) -> str:
    """Return the file of a node id."""
    return node.partition("::")[0]


def _hidden(nodes: Iterable[str], errors: Mapping[str, str], *, everything: bool) -> list[str]:
    """Return the tests that could not be collected because of the errors."""
    if not errors:
        return []
    files = {file_of(path) for path in errors}
    folders = {path.rpartition("/")[0] for path in files if path.rpartition("/")[2] in FOLDER_FILES}
    # pytest also reports a folder, or nothing, where it could not even begin
    folders |= {path.rstrip("/") for path in files if not path.endswith(".py")}
    if everything or folders & {"", "."}:
        return list(nodes)
    roots = tuple(f"{folder}/" for folder in folders)
    return [node for node in nodes if file_of(node) in files or node.startswith(roots)]


def _mended(path: str, facts: Facts) -> bool:
    """Whether a collection error is gone; a partial run that did not come by says nothing."""
    if path in facts.collection_errors or not facts.outcomes:
        return False
    return not facts.partial or any(file_of(node) == path for node in facts.outcomes)


def _renamed(gone: list[str], fresh: list[str]) -> tuple[dict[str, str], list[str]]:
    """Pair vanished tests with new ones of the same name elsewhere, else of the same file; return what is left too."""
    left = dict.fromkeys(fresh)
    pairs: dict[str, str] = {}
    for key in (_name, file_of):
        waiting: dict[str, list[str]] = {}
        for node in reversed(left):
            waiting.setdefault(key(node), []).append(node)
        for node in gone:
            if node not in pairs and waiting.get(key(node)):
                pairs[node] = waiting[key(node)].pop()
                del left[pairs[node]]
    return pairs, list(left)


def _name(node: str) -> str:
    return node.rpartition("::")[2]
