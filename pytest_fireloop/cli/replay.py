"""`fireloop replay`: would it have stopped?"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_fireloop.cli.arguments import usage_error
from pytest_fireloop.cli.tree import TreeState, parser
from pytest_fireloop.judge.facts import Trace
from pytest_fireloop.judge.replay import Replay, replay
from pytest_fireloop.judge.settings import PROFILES, Settings, admitted_for
from pytest_fireloop.observe.text import one_line
from pytest_fireloop.remember.journal_error import JournalError
from pytest_fireloop.show.evidence import sentence

PROGRAM = "fireloop replay"
COLUMNS = "{:>5}  {:>5}  {:>6}  {:<9} {:<8} {:<9} {}"


def main(argv: Sequence[str]) -> int:
    """Replay traces or a loop of the journal; 4 for a file or a threshold that cannot be read."""
    made = parser(
        "replay", "Run the judge again over a recorded loop.", "fireloop replay loops.jsonl --set no_progress=2"
    )
    made.add_argument("source", metavar="FILE|ID", help="a file with a trace a line, or the id of a loop")
    made.add_argument("--json", action="store_true", help="one JSON object a trace")
    made.add_argument("--profile", choices=PROFILES, help="default: the trace's own, else balanced")
    made.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="one threshold; repeatable")
    options = made.parse_args(argv)
    try:
        overrides = dict(map(_threshold, options.set))
        Settings.for_profile(options.profile or "balanced", **overrides)
        for trace in _traces(options.source, options.fire_loop_dir):
            found = replay(trace, _settings(trace, options.profile, overrides))
            sys.stdout.write(json.dumps(found.to_json()) + "\n" if options.json else _table(found))
    except (OSError, ValueError, JournalError) as error:
        return usage_error(PROGRAM, str(error))
    return 0


def _traces(source: str, wanted: str | None) -> list[Trace]:
    path = Path(source)
    if path.exists():
        traces = []
        # not splitlines(): a text in JSON may hold other line ends
        for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
            if not line.strip():
                continue
            try:
                traces.append(Trace.from_json(dict(json.loads(line))))
            except (ValueError, AttributeError, TypeError, RecursionError) as error:
                raise ValueError(f"{source}: line {number} is no trace: {error}") from error
        if not traces:
            raise ValueError(f"{source}: holds no trace")
        return traces
    state = TreeState(wanted)
    if not os.path.lexists(state.journal_path):
        raise ValueError(f"there is no file and no loop {source!r}")
    journal = state.journal(to_read=True)
    row = journal.loop(source)
    if row is None:
        raise ValueError(f"there is no file and no loop {source!r}")
    iterations = [each["facts"] for each in journal.iterations(row.loop_id)]
    settings = {"profile": row.data.get("profile") or "balanced", **row.data.get("thresholds", {})}
    return [Trace.from_json({"name": row.loop_id, "iterations": iterations, "settings": settings})]


def _settings(trace: Trace, profile: str | None, overrides: Mapping[str, float]) -> Settings:
    """Take the trace's own profile and thresholds, as far as they are any, unless a profile is asked for."""
    own = trace.settings if profile is None else {}
    chosen = profile or own.get("profile")
    chosen = chosen if chosen in PROFILES else "balanced"
    return Settings.for_profile(chosen, **{**admitted_for(chosen, own), **overrides})


def _threshold(text: str) -> tuple[str, float]:
    name, sign, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        sign = ""
        number = 0.0
    if not sign:
        raise ValueError(f"--set {text!r}: write NAME=NUMBER")
    return name.strip(), int(number) if number.is_integer() else number


def _table(found: Replay) -> str:
    stop = found.stop
    verdict = f"stops after iteration {stop.iteration}: {stop.stop}" if stop else "is left alone"
    lines = [
        f"{one_line(found.name)}: {verdict}",
        COLUMNS.format("iter", "score", "window", "health", "level", "circuit", ""),
    ]
    for decision in found.decisions:
        note = "refused" if decision.refused else decision.stop or decision.warning or ""
        window = "" if decision.window_score is None else f"{decision.window_score:+d}"
        lines.append(
            COLUMNS.format(
                decision.iteration,
                f"{decision.score:+d}",
                window,
                decision.health,
                decision.level,
                decision.circuit.state,
                note,
            )
        )
        lines += [f"       {one_line(sentence(evidence))}" for evidence in decision.evidence]
    return "\n".join(lines) + "\n\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
