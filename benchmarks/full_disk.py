"""Lets the disk below a loop's state be full from some write of each kind on, or from each nth, and looks what comes of it.

Each case runs one loop of a scripted agent in a small project; from one write on, all writes below the state's folder
fail with ENOSPC, in whichever Python process and in git. The loop must end with its exit code and one clear line, the
journal must be readable, the tree must hold what the agent left, and with room again `fireloop resume`, or a new start
where nothing had begun, must come to what an undisturbed loop comes to.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILES = {
    "calc.py": "A = 1\n",
    "test_calc.py": "import calc\n\n\ndef test_one():\n    assert calc.A == 2\n",
}
MENDED = "A = 2\n"
AGENT = f"import pathlib; pathlib.Path('calc.py').write_text({MENDED!r})"
COMPARED = ("verdict", "exit_code", "baseline", "final", "fixed")
#: Exit codes of a loop that met a full disk: it could not begin, it ended early, or what was full did not matter.
ENDINGS = frozenset({0, 3, 4})
USAGE = 4
#: What differs between two writes of one kind: ids, numbers, names by chance, and which file of our part is copied.
VARYING = re.compile(r"[0-9a-f]{6,}|\d+(?:-[0-9a-f]{4}\b)?|index-\w+|files-\w+|tmp\w+|(?<=fireloop_inside/)[\w/]+\.py")
#: Writes of one kind that are tried, from the first to the last.
OF_A_KIND = 4
#: Counts writes below `FULL_DISK` in a file elsewhere, whichever process makes them, and lets them fail from one on.
SHIM = """
import os
import sys

FOLDER = os.environ.get("FULL_DISK", "")
AT = int(os.environ.get("FULL_DISK_AT", "0"))
COUNT = os.environ.get("FULL_DISK_COUNT", "")
ERROR = int(os.environ.get("FULL_DISK_ERROR", "28"))
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
#: What git does to a repository of ours.
GIT = frozenset({"init", "hash-object", "update-index", "write-tree", "commit-tree", "update-ref", "gc"})


def _written(event: str, arguments: tuple) -> object:
    if event == "open":
        path, mode, flags = arguments
        return path if (flags or 0) & WRITING or set(mode or "") & set("wax+") else None
    if event == "os.mkdir" or event == "sqlite3.connect":
        return arguments[0]
    if event == "os.rename" or event == "os.link":
        return arguments[1]
    if event == "subprocess.Popen" and os.path.basename(str(arguments[0])) == "git":
        environment = arguments[3] or {}
        return environment.get("GIT_DIR") if GIT.intersection(map(str, arguments[1])) else None
    return None


def _added(path: str, what: bytes) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, what)
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _hook(event: str, arguments: tuple) -> None:
    if event not in EVENTS:
        return
    path = _written(event, arguments)
    if not isinstance(path, (str, bytes, os.PathLike)) or not os.fsdecode(path).startswith(FOLDER):
        return
    number = _added(COUNT, b".")
    if not AT:
        _added(COUNT + ".kinds", f"{event} {os.path.relpath(os.fsdecode(path), FOLDER)}\\n".encode("utf-8", "replace"))
    if AT and number >= AT:
        raise OSError(ERROR, os.strerror(ERROR), os.fsdecode(path))


EVENTS = frozenset({"open", "os.mkdir", "os.rename", "os.link", "sqlite3.connect", "subprocess.Popen"})
if FOLDER:
    sys.addaudithook(_hook)
"""


@dataclass(slots=True)
class Place:
    """One copy of the project, with a state of its own."""

    folder: Path
    error: int = errno.ENOSPC
    faults: list[str] = field(default_factory=list)

    def make(self) -> None:
        """Write the project and the shim."""
        (self.folder / "tree").mkdir(parents=True)
        (self.folder / "shim").mkdir()
        (self.folder / "shim" / "sitecustomize.py").write_text(SHIM)
        for name, text in FILES.items():
            (self.folder / "tree" / name).write_text(text)

    def run(self, *words: str, full_from: int | None = None) -> tuple[int, dict[str, Any], str]:
        """Run a command, with writes that fail from one on where a number is given, 0 to count alone."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("FIRELOOP", "GIT_", "PYTEST"))}
        path = os.pathsep.join([str(self.folder / "shim"), *sys.path])
        own |= {"PYTHONPATH": path, "HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder / "home")}
        if full_from is not None:
            own |= {"FULL_DISK": str(self.folder / "state"), "FULL_DISK_AT": str(full_from)}
            own |= {"FULL_DISK_COUNT": str(self.folder / "count"), "FULL_DISK_ERROR": str(self.error)}
        command = [sys.executable, "-m", *words, "--fire-loop-dir", str(self.folder / "state"), "--json"]
        done = subprocess.run(
            command,
            cwd=self.folder / "tree",
            env=own,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, done.stderr

    def loop(self, full_from: int | None = None) -> tuple[int, dict[str, Any], str]:
        """Run a loop."""
        agent = shlex.join([sys.executable, "-c", AGENT])
        module = "pytest_fireloop.cli.fireloop_test"
        return self.run(module, "fix it", "--agent", agent, "--python", sys.executable, full_from=full_from)

    def writes(self) -> int:
        """Return how many writes were counted."""
        path = self.folder / "count"
        return path.stat().st_size if path.exists() else 0

    def of_each_kind(self) -> list[int]:
        """Return the numbers of some writes of each kind: of what, and to which file, its ids apart."""
        kinds: dict[str, list[int]] = {}
        for number, line in enumerate((self.folder / "count.kinds").read_text("utf-8").splitlines(), 1):
            kinds.setdefault(VARYING.sub("*", line), []).append(number)
        steps = [step / (OF_A_KIND - 1) for step in range(OF_A_KIND)]
        return sorted({numbers[round(step * (len(numbers) - 1))] for numbers in kinds.values() for step in steps})


def check(place: Place, full_from: int, wanted: dict[str, Any]) -> Iterator[str]:
    """Run one loop on a disk that is full from one write on, and say what is wrong with it."""
    code, summary, said = place.loop(full_from)
    reason = summary.get("reason", said)
    if code not in ENDINGS or (summary and summary["exit_code"] != code):
        yield f"exit code {code}, summary {summary.get('exit_code')}"
    if "Traceback" in said or "internal error" in said:
        yield f"said: {said.strip().splitlines()[-1]}"
    if code and os.strerror(place.error) not in said and "full" not in said:
        yield f"does not say why: {reason}"
    if code and sum(os.strerror(place.error) in line for line in said.splitlines()) > 2:
        yield f"says it again and again: {said}"
    if (place.folder / "tree" / "calc.py").read_text() not in {FILES["calc.py"], MENDED}:
        yield "the tree is not as the agent left it"
    journal = place.folder / "state" / "journal.sqlite"
    if journal.exists():
        database = sqlite3.connect(journal)
        (sound,) = database.execute("PRAGMA integrity_check").fetchone()
        database.close()
        if sound != "ok":
            yield f"the journal: {sound}"
    if code == 0:
        return
    code, summary, said = place.run("pytest_fireloop.cli.fireloop", "resume")
    if code == USAGE:
        # nothing had begun
        code, summary, said = place.loop()
    for name in COMPARED if not _mended_before(summary) else ("verdict", "exit_code"):
        if summary.get(name) != wanted[name]:
            yield f"resumed: {name} is {summary.get(name)!r}, not {wanted[name]!r}: {said.strip()}"
    if (place.folder / "tree" / "calc.py").read_text() != MENDED:
        yield "resumed: the tree is not mended"


def _mended_before(summary: dict[str, Any]) -> bool:
    """Whether the agent was done before the loop could store that it had begun."""
    return summary.get("agent_calls") == 0 and summary.get("baseline", {}).get("failed") == 0


def sweep(folder: Path, points: Sequence[int], every: int | None, error: int) -> list[str]:
    """Try some writes, each so many, or else some of each kind, and return what was wrong."""
    first = Place(folder / "undisturbed")
    first.make()
    code, wanted, said = first.loop(0)
    assert code == 0, said
    print(f"undisturbed: {wanted['verdict']} with {first.writes()} writes", flush=True)
    faults = []
    tried = points or (range(1, first.writes() + 1, every) if every else first.of_each_kind())
    print(f"tried: {len(tried)}", flush=True)
    for at in tried:
        place = Place(folder / f"at-{at}", error)
        place.make()
        found = [f"full from write {at} on: {fault}" for fault in check(place, at, wanted)]
        print("\n".join(found) or f"full from write {at} on: as it should be", flush=True)
        faults += found
        shutil.rmtree(place.folder)
    return faults


def main(argv: Sequence[str] | None = None) -> int:
    """Print each case; return 1 when one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, metavar="N", help="try each Nth write; default: some of each kind")
    parser.add_argument("--at", type=int, action="append", default=[], metavar="N", help="try this write; repeatable")
    parser.add_argument(
        "--error", type=int, default=errno.ENOSPC, help="the number of the error; default: no space left"
    )
    options = parser.parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="full-"))
    try:
        faults = sweep(folder, options.at, options.every, options.error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(faults)} wrong")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
