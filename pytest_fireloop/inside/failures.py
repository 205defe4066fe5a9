"""The failures of one run, grouped by signature, and the files that could not be collected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .record_file import ATTRIBUTE, dumps, loads

if TYPE_CHECKING:
    from .noise import Noise

#: Characters of messages that one run keeps; later representatives are cut to a line.
TEXT_LIMIT = 2_000_000
CUT_TO = 200
#: Characters of failures that the record holds while the run goes on, for they are written anew with each test.
GROWING_LIMIT = 16_000


class Failures:
    """Keeps one representative for each signature."""

    def __init__(self, root: str, noise: Noise) -> None:
        self._root, self._noise = root, noise
        self._groups: dict[str, dict[str, Any]] = {}
        self._collection_errors: dict[str, dict[str, Any]] = {}
        self._left = TEXT_LIMIT
        self._growing = True
        self.text = "[]"

    def facts_of(self, report: Any, phase: str) -> dict[str, Any]:
        """Return what the report carries from the process of the failure, else what its text says."""
        carried = getattr(report, ATTRIBUTE, None)
        if isinstance(carried, str):
            facts: dict[str, Any] = loads(carried)
            return facts
        from .failure import text_facts

        return text_facts(report, phase, self._root, self._noise)

    def add(self, nodeid: str, facts: dict[str, Any]) -> None:
        """Note that a test ended with this failure."""
        group = self._groups.get(facts["signature"])
        if group is None:
            self._groups[facts["signature"]] = {**facts, "nodeids": [nodeid], "message": self._afford(facts["message"])}
        else:
            group["nodeids"].append(nodeid)
        if self._growing:
            text = dumps(list(self._groups.values()))
            self._growing = len(text) < GROWING_LIMIT
            self.text = text if self._growing else self.text

    def add_collection_error(self, report: Any) -> None:
        """Note a file that cannot be collected, once, however many workers report it."""
        facts = self.facts_of(report, "collect")
        path = report.nodeid or self._root
        if path not in self._collection_errors:
            self._collection_errors[path] = collection_error(path, facts, self._afford(facts["message"]))

    def to_json(self) -> dict[str, Any]:
        """Return both lists as they stand in a record; in the order of signatures and paths, which no run changes."""
        groups = sorted(self._groups.values(), key=lambda group: str(group["signature"]))
        errors = sorted(self._collection_errors.values(), key=lambda row: str(row["path"]))
        return {
            "collection_errors": errors,
            "failures": [{**group, "nodeids": sorted(group["nodeids"])} for group in groups],
        }

    def _afford(self, message: str) -> str:
        kept = message if len(message) <= self._left else message[:CUT_TO]
        self._left -= len(kept)
        return kept


def collection_error(path: str, facts: dict[str, Any], message: str) -> dict[str, Any]:
    """Return a row of a file that cannot be collected."""
    return {"path": path, "message": message, **{key: facts[key] for key in ("signature", "cause", "exception")}}
