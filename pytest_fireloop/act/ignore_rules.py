"""Which files of a tree a checkpoint holds: the ignore rules of the start, whatever becomes of `.gitignore` later."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pytest_fireloop.act.ignore_pattern import IgnorePatterns, Pattern, parse
from pytest_fireloop.act.object_reader import CheckpointError
from pytest_fireloop.act.shadow_git import split_names

SCHEMA = "fireloop.ignore/1"
#: Caches, environments and reports that are made again; no rule of the user brings them back.
ALWAYS = (
    "**/.fireloop/*",
    "!**/.fireloop/skills/",
    "__pycache__/",
    "*.py[co]",
    ".tox/",
    ".nox/",
    "node_modules/",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".coverage",
    ".coverage.*",
    "htmlcov/",
)
ENVIRONMENT_MARK = "pyvenv.cfg"
#: Steering variables of git that lead to the user's ignore rules, not to another repository.
_CONFIGURATION = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file and the folder it holds for ("" for the top, else with a slash at its end)."""

    base: str
    line: str


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Rules from weak to strong; `prefix` is the tree's place in its repository, `tracked` its files in any index."""

    rules: tuple[Rule, ...] = ()
    prefix: str = ""
    tracked: tuple[str, ...] = ()

    def compile(self) -> IgnorePatterns:
        """Return the rules as one decision; paths are asked for with the prefix before them."""
        parsed = (parse(rule.line, rule.base) for rule in (*self.rules, *(Rule("", line) for line in ALWAYS)))
        return IgnorePatterns(pattern for pattern in parsed if isinstance(pattern, Pattern))

    def write(self, path: Path) -> None:
        """Store the rules; the file appears whole or not at all."""
        data = {
            "schema": SCHEMA,
            "prefix": self.prefix,
            "rules": [[rule.base, rule.line] for rule in self.rules],
            "tracked": self.tracked,
        }
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(data), encoding="utf-8")
        os.replace(temporary, path)

    @classmethod
    def read(cls, path: Path) -> IgnoreRules:
        """Read stored rules; raises CheckpointError when they are damaged."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["schema"] != SCHEMA:
                raise CheckpointError(
                    f"{str(path)!r} is {data['schema']!r}, not {SCHEMA!r}: use the version that wrote it"
                )
            rules = tuple(Rule(base, line) for base, line in data["rules"])
            return cls(rules, data["prefix"], tuple(data["tracked"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"the ignore rules in {str(path)!r} are damaged ({error}): remove that file"
            ) from error


def collect(tree: Path) -> IgnoreRules:
    """Read the ignore rules that hold now, and what the user's repository and those inside it track."""
    rules: list[Rule] = []
    tracked: list[str] = []
    shown = _ask(tree, "rev-parse", "--show-prefix")
    prefix, in_repository = _name(shown), bool(shown)
    if in_repository:
        rules += _lines(_user_excludes(tree), "")
    parents = prefix.split("/")[:-1]
    for depth in range(len(parents)):
        base = "".join(f"{name}/" for name in parents[:depth])
        rules += _lines(tree.joinpath(*[".."] * (len(parents) - depth), ".gitignore"), base)
    pending, patterns = [""], IgnoreRules().compile()
    while pending:
        folder = pending.pop()
        base, path = f"{prefix}{folder}", tree / folder
        found: list[Rule] = []
        if in_repository if not folder else os.path.lexists(path / ".git"):
            exclude = _name(_ask(path, "rev-parse", "--git-path", "info/exclude"))
            found += _lines(path / exclude, base if folder else "") if exclude else []
            tracked += [folder + name for name in split_names(_ask(path, "ls-files", "-z"))]
        found += _lines(path / ".gitignore", base)
        if found:
            rules += found
            patterns = IgnoreRules(tuple(rules)).compile()
        names = _folders(path)
        pending += [f"{folder}{name}/" for name in names if not patterns.ignores(f"{base}{name}", folder=True)]
    return IgnoreRules(tuple(rules), prefix, tuple(tracked))


def _user_excludes(tree: Path) -> Path:
    configured = _name(_ask(tree, "config", "--path", "core.excludesFile"))
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.environ.get("HOME", ""), ".config")
    return tree / (configured or os.path.join(home, "git", "ignore"))


def _folders(folder: Path) -> list[str]:
    """List the folders to look into: no links, no repository's own or ours, no virtual environment."""
    try:
        with os.scandir(folder) as entries:
            names = sorted((entry.name for entry in entries if entry.is_dir(follow_symlinks=False)), reverse=True)
    except OSError:
        return []
    return [
        name
        for name in names
        if name not in {".git", ".fireloop"} and not os.path.lexists(folder / name / ENVIRONMENT_MARK)
    ]


def _lines(path: Path, base: str) -> list[Rule]:
    try:
        text = os.fsdecode(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except OSError:
        return []
    return [Rule(base, line) for line in text.split("\n") if parse(line) is not None]


def _name(output: bytes) -> str:
    return os.fsdecode(output.removesuffix(b"\n"))


def _ask(folder: Path, *words: str) -> bytes:
    """Ask the user's git, which writes nothing for these questions; nothing when it has no answer."""
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key in _CONFIGURATION
    }
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", *words]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return b""
    return done.stdout if done.returncode == 0 else b""
