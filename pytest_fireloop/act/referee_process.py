"""The referee's own process: one question as its argument, one answer on stdout, both JSON."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_fireloop.inside.referee_call import MARK


def main() -> int:
    """Answer one question; whatever goes wrong is told as a problem in one line, never as a traceback."""
    # a process that ends in a moment, with all it holds; looking for garbage takes a quarter of its time
    gc.disable()
    question = json.loads(sys.argv[1])
    try:
        reply = answer(question, os.environ)
    except Exception as error:  # the tests have run; their result must not depend on us
        reply = {"problem": f"{type(error).__name__}: {error}"}
    print(f"{MARK.decode()}{json.dumps(reply)}")
    return 0


def answer(question: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Answer `admit` (before the tests) or `judge` (after them)."""
    from pytest_fireloop.act.lock import in_line
    from pytest_fireloop.remember.journal_error import JournalDamagedError, JournalError
    from pytest_fireloop.remember.paths import claim, lies_inside, state_folder, unfit

    tree = Path(question["tree"])
    folder = state_folder(tree, environment, question["folder"])
    refused = unfit(tree, folder, environment)
    if refused is not None:
        # a folder in the tree that an option or a variable names is wrong before any test has run
        named = question["folder"] or environment.get("FIRELOOP_DIR")
        wrong = question["ask"] == "admit" and named and lies_inside(folder, tree)
        if wrong and not lies_inside(folder, Path(question["started_in"])):
            # pytest looks for its root before it knows our options, and goes by whatever path stands alone
            refused = (
                f"pytest takes {str(tree)!r} for its root by the value of --fire-loop-dir; write --fire-loop-dir=DIR"
            )
        return {"usage" if wrong else "problem": refused}
    try:
        claim(folder, tree)
        with in_line(folder):
            return _admit(question, folder) if question["ask"] == "admit" else _judge(question, tree, folder)
    except JournalDamagedError as error:
        return {"problem": str(error)} if question["force"] else {"refusal": str(error)}
    except JournalError as error:
        return {"problem": str(error)}
    except OSError as error:
        return {"problem": f"cannot use the folder {str(folder)!r}: {error.strerror or error}"}


def _admit(question: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    from pytest_fireloop.act.run_files import begin_run
    from pytest_fireloop.remember.journal import Journal

    journal = Journal(folder / "journal.sqlite")
    try:
        refusal = _refusal(question, journal)
    finally:
        journal.close()
    if refusal is not None and not question["force"]:
        return {"refusal": refusal}
    record, lines = begin_run(folder, question["environment"])
    return {"record": str(record), "lines": lines, "forced": refusal is not None}


def _refusal(question: Mapping[str, Any], journal: Any) -> str | None:
    """Return what the circuit says against a run; the judge is imported only where a loop is open."""
    from pytest_fireloop.remember.journal import PLUGIN

    row = journal.open_loop(PLUGIN, question["environment"])
    if row is None:
        return None
    from pytest_fireloop.act.open_loop import ask, fold
    from pytest_fireloop.act.owner import Owner
    from pytest_fireloop.show.refusal import refusal_text

    loop = fold(journal, row, question["profile"])
    # the run of pytest that asks is the process that started this one
    admission = ask(loop, journal, time.time(), Owner.of(os.getppid()))
    return refusal_text(admission) if admission.refused else None


def _judge(question: Mapping[str, Any], tree: Path, folder: Path) -> dict[str, Any]:
    from pytest_fireloop.act.checkpoints import CheckpointError
    from pytest_fireloop.act.referee import Referee
    from pytest_fireloop.observe.record import read_record
    from pytest_fireloop.show.section import headline, section_lines

    record = read_record(Path(question["record"]))
    try:
        outputs = [os.path.relpath(path, os.path.realpath(tree)) for path in question["outputs"]]
        forbid = question["test_edits"] == "forbid"
        referee = Referee(tree, folder, profile=question["profile"], forbid=forbid, outputs=outputs)
    except CheckpointError as error:
        return {"problem": str(error)}
    try:
        judged = referee.judge(record, forced=bool(question["forced"]))
    except CheckpointError as error:
        return {"problem": str(error)}
    finally:
        referee.close()
    return {
        "lines": section_lines(judged),
        "headline": headline(judged),
        "tripped": judged.tripped,
        "forbidden": judged.forbidden,
        "additions": judged.additions(),
        "properties": {"run_id": record.run_id, "loop_id": judged.loop_id, "iteration": judged.iteration},
    }
