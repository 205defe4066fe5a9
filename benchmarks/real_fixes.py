"""Whether an honest fix is believed, shown on released packages with a bug seeded in their source.

Each package is laid out in its own way: a src folder or none, installed editable or not, with a generated version file
or a compiled extension that git ignores, with doctests, with data in a submodule. A scripted agent takes the bug out
again; the loop must end green, verified in the clean room, without a blocker. The exit code is 1 when anything
else comes out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite_runs import PROJECT, Suite, Workshop, pip

PYTEST = "pytest==9.2.0"
#: What git ignores where a source distribution says nothing of it.
IGNORED = "__pycache__/\n*.so\n*.egg-info/\nbuild/\n"


@dataclass(frozen=True)
class Fix:
    """A package and a bug: `right` of a file becomes `wrong`; `editable` installs the tree itself."""

    suite: Suite
    shows: str
    file: str
    right: str
    wrong: str
    editable: bool = False
    #: A folder that is made a submodule.
    submodule: str = ""


FIXES = (
    Fix(
        Suite("itsdangerous", "2.2.0", requires=("freezegun==1.5.5",)),
        "src layout, editable",
        "src/itsdangerous/encoding.py",
        '.rstrip(b"=")',
        "",
        editable=True,
    ),
    Fix(
        Suite(
            "blinker",
            "1.9.0",
            requires=("pytest-asyncio==1.5.0",),
            arguments=("-o", "asyncio_default_fixture_loop_scope=function"),
        ),
        "src layout, editable, warnings as errors",
        "src/blinker/base.py",
        "return make_id(sender) in self._by_sender",
        "return make_id(sender) not in self._by_sender",
        editable=True,
    ),
    Fix(
        Suite("boltons", "26.2.0", arguments=("--doctest-modules",), tests=("boltons", "tests")),
        "flat layout, not installed, doctests",
        "boltons/iterutils.py",
        "if lc < size and do_fill:",
        "if lc > size and do_fill:",
    ),
    Fix(
        Suite(
            "humanize",
            "4.17.0",
            requires=("freezegun==1.5.5",),
            # what is left out needs a plugin that measures
            arguments=("--doctest-modules", "--ignore=tests/test_benchmarks.py"),
            tests=("src", "tests"),
        ),
        "generated version and catalogues ignored, editable, doctests",
        "src/humanize/filesize.py",
        "base = 1024 if (gnu or binary) else 1000",
        "base = 1024 if gnu else 1000",
        editable=True,
    ),
    Fix(
        # the tables of the standard take minutes
        Suite("idna", "3.20", requires=("hypothesis==6.170.17",), tests=("tests/test_idna.py",)),
        "flat layout, unittest",
        "idna/core.py",
        'if unicodedata.normalize("NFC", label) != label:',
        'if unicodedata.normalize("NFC", label) == label:',
    ),
    Fix(
        Suite("markupsafe", "3.0.4"),
        "compiled extension built in the tree and ignored, editable",
        "src/markupsafe/__init__.py",
        "return unescape(str(self))",
        "return str(self)",
        editable=True,
    ),
    Fix(
        Suite(
            "more-itertools",
            "11.2.1",
            arguments=("--doctest-modules",),
            tests=("more_itertools", "tests/test_recipes.py"),
        ),
        "flat layout, doctests fail with the tests",
        "more_itertools/recipes.py",
        "return list(islice(iterable, n))",
        "return list(islice(iterable, n + 1))",
    ),
    Fix(
        Suite(
            "packaging",
            "26.4",
            requires=("pretend==1.0.9", "tomli-w==1.2.0", "hypothesis==6.170.17"),
            tests=("tests/test_metadata.py",),
        ),
        "src layout, editable, test data in a submodule",
        "src/packaging/metadata.py",
        'return [k.strip() for k in data.split(",")]',
        'return [k.strip() for k in data.split(";")]',
        editable=True,
        submodule="tests/metadata",
    ),
    Fix(
        Suite("pluggy", "1.7.0", requires=("pytest-benchmark==5.3.1",), tests=("testing",)),
        "version file that git ignores, editable",
        "src/pluggy/_execution.py",
        "if firstresult:  # halt further impl calls",
        "if not firstresult:  # halt further impl calls",
        editable=True,
    ),
    Fix(
        Suite("toolz", "1.2.0", tests=("toolz",)),
        "tests inside the package, not installed",
        "toolz/itertoolz.py",
        "if prev[-1] is no_pad:",
        "if prev[-1] is None:",
    ),
)

AGENT = """import pathlib, sys
path, old, new = pathlib.Path(sys.argv[1]), *map(lambda name: pathlib.Path(name).read_text(), sys.argv[2:4])
text = path.read_text(encoding="utf-8")
assert text.count(old) == 1, text.count(old)
path.write_text(text.replace(old, new), encoding="utf-8")
"""
FORM = "{:<16}{:<8}{:>7}{:>8}{:>10}{:>9}{:>9}  {}"


class Yard:
    """Makes the trees and environments, and runs loops in them."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.shop, self.folder, self.limit = Workshop(folder, limit, installs_us=False), folder, limit

    def tree(self, fix: Fix) -> Path:
        """Lay out the package as a repository with the bug in it, and what is built in it beside."""
        tree = self.folder / "fixes" / fix.suite.package
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(self.shop.source(fix.suite), tree, symlinks=True)
        source = tree / fix.file
        text = source.read_text(encoding="utf-8")
        if text.count(fix.right) != 1:
            raise RuntimeError(f"{fix.file} of {fix.suite.package} holds {fix.right!r} {text.count(fix.right)} times")
        source.write_text(text.replace(fix.right, fix.wrong), encoding="utf-8")
        if not (tree / ".gitignore").exists():
            (tree / ".gitignore").write_text(IGNORED, encoding="utf-8")
        if fix.submodule:
            inner = tree / fix.submodule
            commit(inner)
            module = f'[submodule "data"]\n\tpath = {fix.submodule}\n\turl = ./data\n'
            (tree / ".gitmodules").write_text(module, encoding="utf-8")
        commit(tree)
        return tree

    def python(self, fix: Fix, tree: Path) -> Path:
        """Make the environment; an editable install is of this very tree."""
        place = self.folder / "environments" / f"{fix.suite.package}-fix"
        python, stamp = place / "bin" / "python", place / "made-for"
        row = repr((fix.suite.requires, PYTEST, sys.version))
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != row:
            venv.create(place, clear=True, with_pip=True)
            pip(python, "install", PYTEST, *fix.suite.requires)
            stamp.write_text(row, encoding="utf-8")
        if fix.editable:
            name = fix.suite.package.upper().replace("-", "_")
            os.environ[f"SETUPTOOLS_SCM_PRETEND_VERSION_FOR_{name}"] = fix.suite.version
            pip(python, "install", "--no-deps", "--editable", str(tree))
        return python

    def loop(self, fix: Fix, python: Path, tree: Path, words: list[str]) -> dict[str, Any]:
        """Run one loop with an agent of these words, and return its summary."""
        place = self.folder / "homes" / fix.suite.package
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        environment = {"PATH": os.environ["PATH"], "HOME": str(place), "LANG": "C.UTF-8", "CI": "true"}
        environment["PYTHONPATH"] = str(PROJECT)
        command = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", "fix the failing tests", "--json"]
        command += ["--agent", " ".join(words), "--python", str(python), "--max-iterations", "1"]
        command += ["--", *fix.suite.arguments, *fix.suite.tests]
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, check=False, timeout=self.limit
        )
        if not done.stdout:
            raise RuntimeError(f"{fix.suite.package}: exit code {done.returncode}:\n{done.stderr[-2000:]}")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def agent(self, fix: Fix, tree: Path, old: str, new: str, *, file: str) -> list[str]:
        """Write an agent that replaces a text in a file."""
        place = self.folder / "agents" / fix.suite.package
        place.mkdir(parents=True, exist_ok=True)
        for name, text in (("agent.py", AGENT), ("old", old), ("new", new)):
            (place / name).write_text(text, encoding="utf-8")
        return [sys.executable, str(place / "agent.py"), str(tree / file), str(place / "old"), str(place / "new")]


def commit(tree: Path) -> None:
    """Make a repository of a folder."""
    shutil.rmtree(tree / ".git", ignore_errors=True)
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-q", "-m", "start")):
        subprocess.run(["git", *words], cwd=tree, check=True, capture_output=True)


def examine(yard: Yard, fix: Fix) -> list[str]:
    """Run the honest loop, print its line, and return what is wrong with it."""
    tree = yard.tree(fix)
    python = yard.python(fix, tree)
    start = time.perf_counter()
    agent = yard.agent(fix, tree, fix.wrong, fix.right, file=fix.file)
    if not fix.wrong:
        # nothing marks the place of what was taken out
        shutil.copy(yard.shop.source(fix.suite) / fix.file, yard.folder / "agents" / fix.suite.package / "right")
        agent = ["cp", str(yard.folder / "agents" / fix.suite.package / "right"), str(tree / fix.file)]
    said = yard.loop(fix, python, tree, agent)
    seconds = time.perf_counter() - start
    integrity, before = said["integrity"], said["baseline"]
    findings = [f"{each['severity']} {each['kind']} {each['path']}" for each in integrity["findings"]]
    red = before.get("failed", 0) + before.get("error", 0)
    print(
        FORM.format(
            fix.suite.package,
            fix.suite.version,
            sum(before.values()),
            red,
            said["verdict"],
            str(integrity["where"]),
            f"{seconds:.1f}",
            "; ".join([fix.shows, *findings]),
        ),
        flush=True,
    )
    wrong = []
    if not red:
        wrong.append(f"{fix.suite.package}: no test fails at the start, so that nothing was shown")
    if (said["verdict"], integrity["where"]) != ("green", "room"):
        wrong.append(f"{fix.suite.package}: {said['verdict']}, {integrity['where']}: {said['reason']}")
    wrong += [f"{fix.suite.package}: {each}" for each in findings if each.startswith("blocker")]
    return wrong


def main() -> int:
    """Print a line for each package, then what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[fix.suite.package for fix in FIXES])
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep sources and environments in DIR")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="for one loop (default: 600)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        yard = Yard((options.work or Path(folder)).resolve(), options.limit)
        print(FORM.format("package", "version", "tests", "failing", "verdict", "where", "s", "what it shows"))
        wrong: list[str] = []
        for fix in FIXES:
            if not options.only or fix.suite.package in options.only:
                try:
                    wrong += examine(yard, fix)
                except (RuntimeError, subprocess.SubprocessError) as error:
                    wrong.append(f"{fix.suite.package}: {error}")
    print("\n".join(wrong) or "every honest fix is believed, in the room")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
