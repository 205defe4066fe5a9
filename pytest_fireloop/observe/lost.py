"""What was red in the run before and shows nothing any more: a test that is skipped or gone is no test that was mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_fireloop.observe import identity
from pytest_fireloop.observe.past_run import PastRun
from pytest_fireloop.observe.record import RED, RunRecord

NO_RESULT = frozenset({"skipped", "xfailed"})


@dataclass(frozen=True, slots=True)
class LostFailures:
    """Tests that were red, by what became of them, each sorted; ids of those that are gone are the earlier run's."""

    skipped: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Count them all."""
        return len(self.skipped) + len(self.gone)

    def to_json(self) -> dict[str, Any]:
        """Return them as JSON."""
        return {"skipped": list(self.skipped), "gone": list(self.gone)}


def lost_failures(before: PastRun, after: RunRecord) -> LostFailures:
    """Return what was red before and is neither red nor green now; what an incomplete run does not show is unknown."""
    old, new = before.outcomes, after.outcomes
    shown = after.complete and not after.partial and not after.collection_errors
    same = identity.pair(old, new, whole=shown and before.complete and not before.collection_errors).same
    skipped = [node for node, earlier in same.items() if old[earlier] in RED and new[node] in NO_RESULT]
    gone: list[str] = []
    if shown:
        found = set(same.values())
        gone = [node for node, said in old.items() if said in RED and node not in found]
        gone += [path for path in before.collection_errors if not any(path in node for node in new)]
    return LostFailures(tuple(sorted(skipped)), tuple(sorted(gone)))
