"""The loop file: a Markdown view of a running loop in the work tree, rendered and never read."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fireloop.act.progress import Progress
from pytest_fireloop.judge.judge import Decision
from pytest_fireloop.observe.changes import ChangeSet
from pytest_fireloop.observe.record import RunRecord
from pytest_fireloop.observe.text import one_line
from pytest_fireloop.show.health import health_word
from pytest_fireloop.show.status import alerts, status_fields
from pytest_fireloop.show.summary import summary_lines

#: Hides our folder from the user's git, itself included; the user's skills alone are theirs to commit.
GITIGNORE = "*\n!/skills/\n!/skills/**\n"
HEAD = "| Iter | Timestamp | Files Changed | Tests | Score | Health | Level | Circuit |\n|---|---|---|---|---|---|---|---|\n"


class LoopFile:
    """Rewritten whole after each iteration; a tree that cannot be written simply has none."""

    def __init__(self, tree: Path, loop_id: str, rows: Sequence[str] = ()) -> None:
        self.path: Path | None = tree / ".fireloop" / f"fire-loop-{loop_id}.md"
        self._title = f"# fire loop {loop_id}\n"
        self._rows = list(rows)
        self._status = self._end = ""

    def begin(self) -> None:
        """Write the head, and the folder that hides itself from git."""
        self._write()

    def iteration(
        self,
        progress: Progress,
        decision: Decision,
        record: RunRecord,
        changes: ChangeSet,
        facts: Mapping[str, Any],
    ) -> None:
        """Add one row, and show the status after it."""
        tests = ", ".join(f"{number} {outcome}" for outcome, number in record.counts.items() if number)
        said = decision.to_json()
        when = time.strftime("%Y-%m-%d %H:%M:%S")
        cells = (
            progress.iterations,
            when,
            len(changes.files),
            tests or "none",
            f"{decision.score:+d}",
            health_word(said),
            decision.level,
            decision.circuit.state,
        )
        self._rows.append("| " + " | ".join(one_line(str(cell)).replace("|", "\\|") for cell in cells) + " |\n")
        self._status = "\n## Status\n\n" + "".join(
            f"- {name}: {one_line(text)}\n" for name, text in status_fields(facts, said)
        )
        self._status += "".join(f"- **alert**: {alert}\n" for alert in alerts(said))
        self._write()

    @property
    def last_row(self) -> str:
        """The row of the latest iteration, to be kept for a loop that goes on."""
        return self._rows[-1] if self._rows else ""

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Add the final result."""
        lines = [one_line(line) for line in summary_lines(summary)]
        self._end = "\n## Final Result\n\n" + "".join(f"- {line}\n" for line in lines)
        self._write()

    def _write(self) -> None:
        if self.path is None:
            return
        text = f"{self._title}\n## Loop Progress\n\n{HEAD}{''.join(self._rows)}{self._status}{self._end}"
        temporary = self.path.with_suffix(".tmp")
        try:
            # an agent that cleans up takes it away in the middle of a loop
            self.path.parent.mkdir(exist_ok=True)
            if self.path.parent.is_symlink():  # it may lead anywhere
                self.path = None
                return
            ignore = self.path.parent / ".gitignore"
            if not ignore.exists() or not ignore.stat().st_size:
                ignore.write_text(GITIGNORE, encoding="utf-8")
            temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
            os.replace(temporary, self.path)
        except OSError:
            self.path = None
