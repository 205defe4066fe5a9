"""The ids that pytest is going to run, and which of them have a result."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Expected:
    """A multiset in the order of collection; a test that ends in its turn costs one step and no memory."""

    def __init__(self) -> None:
        self._order: Sequence[str] = ()
        self._next = 0
        self._early: Counter[str] = Counter()
        self._repeated: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self._order)

    def expect(self, nodeids: Sequence[str]) -> None:
        """Take the ids as collected; the same id more than once stands for as many tests."""
        self._order = nodeids
        # sorting takes a tenth of the memory of a set
        ordered = sorted(nodeids)
        self._repeated = frozenset(left for left, right in zip(ordered, islice(ordered, 1, None)) if left == right)

    def same(self, nodeids: Sequence[str]) -> bool:
        """Whether these are the expected ids, in this order."""
        return list(self._order) == list(nodeids)

    def repeated(self, nodeid: str) -> bool:
        """Whether several tests bear this id."""
        return nodeid in self._repeated

    def knows(self, nodeid: str) -> bool:
        """Whether the id was collected; slow, for the rare cases where that is in doubt."""
        return nodeid in self._order

    def settle(self, nodeid: str) -> None:
        """Note that a test has its result."""
        order, position = self._order, self._next
        if position < len(order) and order[position] == nodeid:
            position += 1
        else:
            self._early[nodeid] += 1
        while self._early and position < len(order) and self._early[order[position]] > 0:
            self._early[order[position]] -= 1
            if not self._early[order[position]]:
                del self._early[order[position]]
            position += 1
        self._next = position

    @property
    def all_settled(self) -> bool:
        """Whether no test is left."""
        return self._next == len(self._order)

    def missing(self) -> list[str]:
        """Return the ids without a result, in their order, a repeated one as `id#2` from its second test on."""
        if self.all_settled:
            return []
        early = Counter(self._early)
        times: Counter[str] = Counter()
        found = []
        for position, nodeid in enumerate(self._order):
            # the others stay out of it: one entry for each test of a run would be the most memory that we take
            if nodeid in self._repeated:
                times[nodeid] += 1
            if position < self._next:
                continue
            if early[nodeid] > 0:
                early[nodeid] -= 1
            else:
                found.append(numbered(nodeid, times[nodeid]))
        return found


def numbered(nodeid: str, time: int) -> str:
    """Return the name of the test that bears an id for the given time."""
    return nodeid if time < 2 else f"{nodeid}#{time}"
