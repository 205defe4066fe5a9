"""Kills the runner, its agent, its pytest or its git at random moments, and looks whether anything is lost.

Each chain is one loop of a scripted agent in a small repository with a staged change, a stash, a hook, ignored and
untracked files. One to six of its processes are killed with SIGKILL, each at a random moment; a runner that is gone is
taken up by `fireloop resume`. At the end the loop must have come to what an undisturbed one comes to: verdict, outcomes
of tests, contents of the tree. Every checkpoint and iteration that was there after a kill must still be there, the
user's repository and files must be what they were to the byte, and no process may be left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOKEN = "KILL_SWEEP"
CALC = "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a * 3\n"
MENDED = CALC.replace("a - b", "a + b").replace("a * 3", "a * 2")
FILES = {
    "calc.py": CALC,
    "test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\n"
    "def test_double():\n    assert calc.double(2) == 4\n\n\ndef test_zero():\n    assert calc.add(0, 0) == 0\n",
    ".gitignore": "*.secret\n",
}
#: Mends one function a call, in two writes with a pause between them, so that a kill may come in the middle.
AGENT = """
import pathlib, time
path = pathlib.Path('calc.py')
text = path.read_text()
time.sleep(0.1)
if 'a - b' in text:
    path.write_text(text.replace('a - b', 'a +'))
    time.sleep(0.1)
    path.write_text(text.replace('a - b', 'a + b'))
elif 'a +\\n' in text:
    path.write_text(text.replace('a +\\n', 'a + b\\n'))
elif text:
    path.write_text(text.replace('a * 3', 'a * 2'))
else:
    # killed between emptying the file and filling it
    path.write_text(MENDED)
print('done')
"""
#: What a loop comes to, however often it was killed.
COMPARED = ("verdict", "exit_code", "baseline", "final", "fixed", "broken", "still_failing")
VICTIMS = {"runner": 6, "agent": 3, "pytest": 3, "git": 1}
#: What stands in the command line of a victim that is not the runner itself.
SIGNS = {"agent": "kill_sweep_agent.py", "pytest": "--fire-loop-record", "git": "checkpoints.git"}
RUNNER = "pytest_fireloop.cli"
KILLS_A_CHAIN = 6
#: How far into the time of an undisturbed loop the next kill may come.
REACHES = (0.15, 0.4, 0.9)
STARTS = 20
#: Where each checkpoint has a ref that stays.
CHECKPOINTS = "refs/fireloop/"
LIMIT_S = 300.0
USAGE = 4


@dataclass(slots=True)
class Place:
    """One copy of the project with a state of its own; every process of it carries the token."""

    folder: Path
    token: str
    starts: int = 0

    @property
    def tree(self) -> Path:
        """The work tree."""
        return self.folder / "project"

    @property
    def state(self) -> Path:
        """The folder of the loop's state."""
        return self.folder / "state"

    def environment(self) -> dict[str, str]:
        """Return the environment of everything that is started here."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("FIRELOOP", "GIT_", "PYTEST"))}
        home = str(self.folder / "home")
        return {**own, TOKEN: self.token, "HOME": home, "XDG_STATE_HOME": home, "PYTHONPATH": os.pathsep.join(sys.path)}

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start the runner, its output in files that are numbered."""
        self.starts += 1
        with self.output("out").open("wb") as out, self.output("err").open("wb") as err:
            return subprocess.Popen(
                [sys.executable, "-m", *words, "--fire-loop-dir", str(self.state), "--json"],
                cwd=self.tree,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )

    def output(self, kind: str) -> Path:
        """Return where the last runner's output is."""
        return self.folder / f"{self.starts}.{kind}"

    def loop(self) -> subprocess.Popen[bytes]:
        """Start a loop."""
        agent = shlex.join([sys.executable, str(self.folder / SIGNS["agent"])])
        module = "pytest_fireloop.cli.fireloop_test"
        return self.start(module, "fix it", "--agent", agent, "--python", sys.executable)

    def resume(self) -> subprocess.Popen[bytes]:
        """Go on with it."""
        return self.start("pytest_fireloop.cli.fireloop", "resume")

    def processes(self) -> Iterator[tuple[int, str]]:
        """Yield the living processes that were started here, with their command lines."""
        mark = f"{TOKEN}={self.token}".encode()
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                folder = Path("/proc", name)
                try:
                    # what is about to run a program has the environment of its parent, and its command line too
                    if mark in (folder / "environ").read_bytes().split(b"\0"):
                        yield (
                            int(name),
                            (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"),
                        )
                except OSError:
                    continue


def git(tree: Path, *words: str) -> str:
    """Run git as the user."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    own |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    base = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-C", str(tree)]
    return subprocess.run([*base, *words], check=True, capture_output=True, text=True, env=own).stdout


def make_project(tree: Path) -> None:
    """Make a repository with a little of everything that could be lost."""
    tree.mkdir(parents=True)
    git(tree, "init", "--quiet", "--initial-branch=main", ".")
    for name, text in FILES.items():
        (tree / name).write_text(text)
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "-m", "first")
    git(tree, "branch", "side")
    (tree / "stashed.txt").write_text("stashed\n")
    git(tree, "stash", "push", "--quiet", "--include-untracked")
    (tree / "staged.txt").write_text("staged\n")
    git(tree, "add", "staged.txt")
    (tree / "staged.txt").write_text("and edited\n")
    (tree / "notes.txt").write_text("nobody's business\n")
    (tree / "key.secret").write_text("ignored\n")
    (tree / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")


def users(tree: Path) -> dict[str, bytes]:
    """Return all that is the user's: the repository, and every file that the agent does not mend."""
    return {
        path.relative_to(tree).as_posix(): path.read_bytes()
        for path in sorted(tree.rglob("*"))
        if path.is_file() and path.name != "calc.py" and ".fireloop" not in path.relative_to(tree).parts
    }


def stored(place: Place) -> set[str]:
    """Return what may never be lost: each iteration in the journal, each ref of a checkpoint."""
    found = set()
    path = place.state / "journal.sqlite"
    if path.exists() and path.stat().st_size:
        # the way in which any reader comes: with the log that the killed one left
        database = sqlite3.connect(path, timeout=30)
        try:
            for loop_id, number in database.execute("SELECT loop_id, number FROM iterations"):
                found.add(f"iteration {loop_id}:{number}")
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
        finally:
            database.close()
    repository = place.state / "checkpoints.git"
    if (repository / "HEAD").exists():
        found |= {
            f"checkpoint {name}"
            for name in git(repository, "for-each-ref", "--format=%(objectname)", CHECKPOINTS).split()
        }
    return found


def read_journal(place: Place) -> tuple[list[str], dict[str, Any]]:
    """Return the checkpoints of all iterations, and the summary of the last loop."""
    database = sqlite3.connect(place.state / "journal.sqlite", timeout=30)
    try:
        (sound,) = database.execute("PRAGMA integrity_check").fetchone()
        assert sound == "ok", sound
        commits = [json.loads(row[0])["checkpoint"] for row in database.execute("SELECT data FROM iterations")]
        (data,) = database.execute("SELECT data FROM loops ORDER BY started DESC LIMIT 1").fetchone()
    finally:
        database.close()
    return commits, json.loads(data).get("summary", {})


@dataclass(slots=True)
class Chain:
    """One loop and what was done to it; `faults` says what is wrong."""

    seed: int
    kills: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    resumed: int = 0


class Killer:
    """Disturbs one loop until as many kills as wanted have met a living process, and takes it to its end."""

    def __init__(self, place: Place, seed: int, kills: int, duration_s: float) -> None:
        self._place, self._wanted, self._duration = place, kills, duration_s
        self._chance = random.Random(seed)
        self.chain = Chain(seed)
        self._kept: set[str] = set()

    def run(self) -> dict[str, Any]:
        """Return the summary of the end."""
        place, chain = self._place, self.chain
        runner, fresh = place.loop(), True
        while place.starts <= STARTS:
            code = self._disturbed(runner)
            self._look()
            said = place.output("err").read_text("utf-8", "replace")
            if "Traceback" in said or "internal error" in said:
                chain.faults.append(f"start {place.starts}: {said.strip().splitlines()[-1]}")
            if code == 0:
                summary: dict[str, Any] = json.loads(place.output("out").read_bytes())
                return summary
            if code == USAGE and "ended green" in said:
                # killed when all was written
                return read_journal(place)[1]
            if code == USAGE and not fresh and ("no loop" in said or "has no tree" in said):
                runner, fresh = place.loop(), True
                continue
            if code == USAGE:
                chain.faults.append(f"start {place.starts}: {said.strip()}")
                return {}
            runner, fresh = place.resume(), False
            chain.resumed += 1
        chain.faults.append(f"not at its end after {STARTS} starts")
        return {}

    def _disturbed(self, runner: subprocess.Popen[bytes]) -> int:
        """Kill what chance says, and wait for the runner's end."""
        deadline = time.monotonic() + LIMIT_S
        while len(self.chain.kills) < self._wanted and runner.poll() is None:
            self._pause(runner, self._chance.uniform(0.0, self._duration * self._chance.choice(REACHES)))
            kind = self._chance.choices(list(VICTIMS), list(VICTIMS.values()))[0]
            if kind == "agent" and self.chain.kills[-2:] == ["agent", "agent"]:
                # an agent that dies three times in a row opens the circuit, as it should
                kind = "runner"
            victim = runner.pid if kind == "runner" else self._await(runner, SIGNS[kind])
            if victim is not None and runner.poll() is None and _kill(victim):
                self.chain.kills.append(kind)
        try:
            return runner.wait(max(1.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.chain.faults.append(f"start {self._place.starts}: still at work after {LIMIT_S:g} s")
            runner.kill()
            return runner.wait()

    def _await(self, runner: subprocess.Popen[bytes], sign: str) -> int | None:
        """Wait for a process of a kind, and a random time more."""
        while runner.poll() is None:
            # a child that has not yet become what it is to be still bears the runner's words
            found = [pid for pid, words in self._place.processes() if sign in words and RUNNER not in words]
            if found:
                self._pause(runner, self._chance.choice((0.0, 0.02, 0.1, 0.25)))
                return found[0]
            time.sleep(0.005)
        return None

    def _pause(self, runner: subprocess.Popen[bytes], seconds: float) -> None:
        try:
            runner.wait(seconds)
        except subprocess.TimeoutExpired:
            return

    def _look(self) -> None:
        """Note what is stored now, and what is stored no more."""
        now = stored(self._place)
        self.chain.faults += [f"lost: {each}" for each in sorted(self._kept - now)]
        self._kept |= now


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def left_over(place: Place) -> list[str]:
    """Return the command lines of processes that are still there after a while."""
    deadline = time.monotonic() + 5
    while (found := [words for _, words in place.processes()]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def check(place: Place, summary: dict[str, Any], wanted: dict[str, Any], before: dict[str, bytes]) -> Iterator[str]:
    """Say what is not as after an undisturbed loop."""
    for name in COMPARED:
        if summary.get(name) != wanted[name]:
            yield f"{name} is {summary.get(name)!r}, not {wanted[name]!r}"
    if (place.tree / "calc.py").read_text() != MENDED:
        yield f"calc.py is {(place.tree / 'calc.py').read_text()!r}"
    after = users(place.tree)
    yield from (f"changed: {name}" for name in sorted(before.keys() | after) if before.get(name) != after.get(name))
    yield from (f"left: {words}" for words in left_over(place))
    commits, _ = read_journal(place)
    repository = place.state / "checkpoints.git"
    refs = set(git(repository, "for-each-ref", "--format=%(objectname)", CHECKPOINTS).split())
    yield from (f"the checkpoint {commit} of an iteration is gone" for commit in commits if commit not in refs)
    sound = subprocess.run(
        ["git", "-C", str(repository), "fsck", "--full", "--no-dangling"], capture_output=True, text=True, check=False
    )
    if sound.returncode:
        yield f"fsck: {sound.stderr.strip()}"


def new_place(folder: Path, pattern: Path, name: str) -> Place:
    """Copy the project."""
    place = Place(folder / name, f"{os.getpid()}-{name}")
    place.folder.mkdir()
    (place.folder / "home").mkdir()
    shutil.copytree(pattern, place.tree, symlinks=True)
    (place.folder / SIGNS["agent"]).write_text(AGENT.replace("MENDED", repr(MENDED)))
    return place


def sweep(folder: Path, kills: int, seed: int) -> list[Chain]:
    """Run chains until as many processes as wanted were killed."""
    make_project(folder / "pattern")
    place = new_place(folder, folder / "pattern", "undisturbed")
    before, started = users(place.tree), time.monotonic()
    code = place.loop().wait()
    duration = time.monotonic() - started
    assert code == 0, place.output("err").read_text()
    wanted = json.loads(place.output("out").read_bytes())
    faults = list(check(place, wanted, wanted, before))
    assert not faults, faults
    print(f"undisturbed: {wanted['verdict']} after {wanted['iterations']} iterations in {duration:.1f} s", flush=True)
    chains: list[Chain] = []
    done = 0
    while done < kills:
        number = seed * 10_000 + len(chains)
        place = new_place(folder, folder / "pattern", f"chain-{number}")
        many = min(random.Random(-number).randint(1, KILLS_A_CHAIN), kills - done)
        killer = Killer(place, number, many, duration)
        summary = killer.run()
        chain = killer.chain
        if summary:
            chain.faults += check(place, summary, wanted, before)
        chains.append(chain)
        done += len(chain.kills)
        if chain.faults:
            print(f"seed {number}: killed {', '.join(chain.kills)}", *chain.faults, f"see {place.folder}", sep="\n  ")
        else:
            shutil.rmtree(place.folder)
        print(
            f"{done} of {kills} kills, {len(chains)} loops, {sum(bool(each.faults) for each in chains)} wrong",
            flush=True,
        )
    return chains


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was killed and what came of it; return 1 when anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keep what went wrong there; default: a temporary folder")
    options = parser.parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="kills-", dir=options.folder))
    started = time.monotonic()
    chains = sweep(folder, options.kills, options.seed)
    killed = Counter(kind for chain in chains for kind in chain.kills)
    wrong = [chain for chain in chains if chain.faults]
    print(
        f"{killed.total()} kills ({', '.join(f'{number} {kind}' for kind, number in killed.items())}) in {len(chains)} loops, "
        f"{sum(chain.resumed for chain in chains)} resumes, {time.monotonic() - started:.0f} s: {len(wrong)} loops wrong"
    )
    if not wrong:
        shutil.rmtree(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
