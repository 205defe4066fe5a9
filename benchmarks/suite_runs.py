"""Runs the test suite of a foreign package: its environment, a fresh copy of its tree, and what an observer saw."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import suite_observer

PROJECT = Path(__file__).resolve().parent.parent
COMMON = ("pytest==9.2.0", "pytest-xdist==3.8.0")
#: What every run of pytest may leave in a tree.
CACHES = frozenset({"__pycache__", ".pytest_cache"})
#: What the plugin says when a fault switches it off, or when it cannot judge a run.
COMPLAINTS = ("fire-loop: switched off", "this run is not judged")
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"'


@dataclass(frozen=True)
class Suite:
    """A released package and how its tests are run; each deselected test stands there with its reason."""

    package: str
    version: str
    requires: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    tests: tuple[str, ...] = ("tests",)
    #: What the suite needs loaded where plugins do not load themselves.
    plugins: tuple[str, ...] = ()
    deselect: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Condition:
    """A way to run a suite: `blocked` is without our plugin altogether, `repeated` goes on in the loop of the run before."""

    name: str
    words: tuple[str, ...] = ()
    autoload: bool = True
    read_only: bool = False
    blocked: bool = False
    repeated: bool = False


@dataclass(frozen=True)
class Run:
    """What one run of a suite did."""

    code: int
    seconds: float
    #: Whether the observer wrote something, and whether the session came to its end.
    observed: bool
    ended: bool
    collected: frozenset[str]
    broken: frozenset[str]
    reports: dict[str, tuple[str, ...]]
    #: What the run added to the tree or to the home folder, or changed there.
    touched: frozenset[str]
    record: dict[str, Any] | None
    #: Lines in which the plugin says that it gave up.
    complaints: tuple[str, ...]
    last_words: str


class Workshop:
    """The work folder, which may be kept: sources and environments in it are made once."""

    def __init__(self, folder: Path, limit: float, *, installs_us: bool = True) -> None:
        self.folder, self.limit = folder, limit
        if not installs_us:
            return
        observer = folder / "observer"
        observer.mkdir(parents=True, exist_ok=True)
        shutil.copy(suite_observer.__file__, observer)
        shutil.rmtree(folder / "wheel", ignore_errors=True)
        pip(Path(sys.executable), "wheel", "--no-deps", "--wheel-dir", str(folder / "wheel"), str(PROJECT))
        (self.wheel,) = (folder / "wheel").glob("*.whl")

    def source(self, suite: Suite) -> Path:
        """Fetch and unpack the source distribution."""
        place = self.folder / "sources" / f"{suite.package}-{suite.version}"
        if not place.exists():
            fetched = self.folder / "fetched" / place.name
            # only this package as source: what builds it may come as a wheel
            only = ("--no-binary", suite.package, "--no-deps", "--dest", str(fetched))
            pip(Path(sys.executable), "download", *only, f"{suite.package}=={suite.version}")
            (archive,) = fetched.glob("*.tar.gz")
            with tarfile.open(archive) as file:
                file.extractall(fetched / "unpacked", filter="data")
            (top,) = (fetched / "unpacked").iterdir()
            place.parent.mkdir(parents=True, exist_ok=True)
            top.rename(place)
        return place

    def environment(self, suite: Suite) -> Path:
        """Make the suite's environment, where it is not there yet, and put the present plugin into it."""
        place = self.folder / "environments" / suite.package
        python, stamp = place / "bin" / "python", place / "made-for"
        row = repr((suite.version, suite.requires, COMMON, sys.version))
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != row:
            venv.create(place, clear=True, with_pip=True)
            # a copy, since some build backends leave files in the tree they build
            copy = shutil.copytree(self.source(suite), place / "source", symlinks=True)
            pip(python, "install", str(copy), str(self.wheel), *COMMON, *suite.requires)
            shutil.rmtree(copy)
            stamp.write_text(row, encoding="utf-8")
        pip(python, "install", "--force-reinstall", "--no-deps", str(self.wheel))
        return python

    def run(self, suite: Suite, condition: Condition, *, ours: bool) -> Run:
        """Run the suite once in a fresh copy of its tree, always at the same path."""
        place, state = (self.folder / kind / suite.package for kind in ("runs", "states"))
        shutil.rmtree(place, ignore_errors=True)
        if not condition.repeated:
            shutil.rmtree(state, ignore_errors=True)
        source, tree = self.source(suite), place / "tree"
        shutil.copytree(source, tree, symlinks=True)
        for name in ("home", "tmp"):
            (place / name).mkdir()
        record, observed = place / "record.json", place / "observed.json"
        words = [str(self.folder / "environments" / suite.package / "bin" / "python"), "-m", "pytest"]
        words += ["-p", "suite_observer", "-p", "no:randomly", "-p", "no:random_order", *condition.words]
        if not condition.autoload:
            words += [word for name in (*suite.plugins, *["fireloop"] * ours) for word in ("-p", name)]
        if ours:
            words += ["--fire-loop", f"--fire-loop-dir={state}", f"--fire-loop-record={record}"]
        words += [f"--deselect={nodeid}" for nodeid, _ in suite.deselect]
        words += [*suite.arguments, *suite.tests]
        if condition.read_only:
            words = [*read_only_prefix(), "sh", "-c", READ_ONLY, str(tree), *words]
        start = time.perf_counter()
        code, lines = self.execute(words, place, autoload=condition.autoload)
        seconds = time.perf_counter() - start
        seen = json.loads(observed.read_text(encoding="ascii")) if observed.exists() else {}
        return Run(
            code,
            seconds,
            bool(seen),
            bool(seen.get("ended")),
            frozenset(seen.get("collected", ())),
            frozenset(seen.get("broken", ())),
            {nodeid: tuple(said) for nodeid, said in seen.get("reports", {}).items()},
            touched(source, tree) | {f"~/{path}" for path in touched(None, place / "home")},
            json.loads(record.read_text(encoding="ascii")) if record.exists() else None,
            tuple(line for line in lines if any(words in line for words in COMPLAINTS)),
            "\n".join(lines[-6:]),
        )

    def execute(self, words: list[str], place: Path, *, autoload: bool) -> tuple[int, list[str]]:
        """Run a command with a time limit for its whole process group, and return its exit code and output."""
        environment = {
            "PATH": f"{Path(words[0]).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(place / "home"),
            "TMPDIR": str(place / "tmp"),
            "LANG": "C.UTF-8",
            # under CI hypothesis neither draws at random nor sets deadlines
            "CI": "true",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(self.folder / "observer"),
            suite_observer.VARIABLE: str(place / "observed.json"),
        }
        if not autoload:
            environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        with (place / "output.txt").open("wb") as output:
            process = subprocess.Popen(
                words,
                cwd=place / "tree",
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(self.limit)
            except subprocess.TimeoutExpired:
                code = -signal.SIGKILL
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        lines = (place / "output.txt").read_text(encoding="utf-8", errors="replace").splitlines()
        return code, lines


def pip(python: Path, *words: str) -> None:
    """Run pip quietly, and show what it said when it fails."""
    command = [str(python), "-m", "pip", words[0], "--quiet", "--disable-pip-version-check", *words[1:]]
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}")


@functools.cache
def read_only_prefix() -> tuple[str, ...]:
    """Return the command under which a bind mount can be made, or nothing where there is none.

    The superuser writes through permissions, so only a mount makes a tree read-only for certain.
    """
    for words in (("unshare", "--mount"), ("unshare", "--map-root-user", "--mount")):
        if shutil.which(words[0]):
            probe = [*words, "sh", "-c", READ_ONLY, str(PROJECT), "sh", "-c", "! touch probe-of-a-read-only-tree"]
            if subprocess.run(probe, check=False, capture_output=True).returncode == 0:
                return words
    return ()


def touched(source: Path | None, tree: Path) -> frozenset[str]:
    """Name the topmost paths that are new or other than in the source: names below a new folder may be random."""
    before = contents(source) if source is not None else {}
    after = contents(tree)
    other = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    return frozenset(
        path for path in other if not any(str(parent) in other for parent in Path(path).parents if parent.name)
    )


def contents(tree: Path) -> dict[str, str]:
    """Return each path of a tree, caches apart, with a hash of what is in it."""
    found = {}
    for top, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if name not in CACHES]
        for name in (*folders, *files):
            path = Path(top, name)
            is_text = path.is_file() and not path.is_symlink()
            found[str(path.relative_to(tree))] = hashlib.sha256(path.read_bytes()).hexdigest() if is_text else ""
    return found
