"""Which other checkpoints a restore goes by: what came later goes, and what the loop itself left there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

#: Begins the message of the state that a restore found, before the id of what it restored.
BEFORE = "before restoring "


@dataclass(frozen=True, slots=True)
class Stored:
    """A checkpoint: commit, seconds since the epoch, first line of its message."""

    commit: str
    at: int
    subject: str


@dataclass(frozen=True, slots=True)
class Others:
    """Checkpoints whose files go unless the target has them: of `later` ones in any state, of `known` ones as stored."""

    later: tuple[str, ...] = ()
    known: tuple[str, ...] = ()


def others_of(
    commit: str, stored: Sequence[Stored], *, later: Iterable[str] = (), rows: Collection[str] = ()
) -> Others:
    """Return what a restore of a checkpoint goes by.

    `rows` are the checkpoints of the loop's iterations, `later` those after the target. What else a loop stored, when it
    was interrupted or went on, is later by its time; the state before a restore is undone by what that restore wrote.
    """
    target = next((each for each in stored if each.commit == commit), None)
    if target is None:
        return Others(tuple(later))
    origin = target
    if target.subject.startswith(BEFORE):
        restored = target.subject.removeprefix(BEFORE).split(" ")[0]
        origin = next((each for each in stored if each.commit == restored), target)
    loop_id, colon, _ = origin.subject.partition(": ")
    family = [each for each in stored if colon and each.subject.startswith(f"{loop_id}: ") and each.commit != commit]
    between = [each.commit for each in family if each.at >= target.at and each.commit not in rows]
    if target is not origin:
        # what the user did since is no part of it
        return Others((), (origin.commit, *(each.commit for each in family if each is not origin)))
    return Others((*later, *between), tuple(each.commit for each in family))
