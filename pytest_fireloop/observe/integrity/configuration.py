"""Compares the files that say how tests are collected and run."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_fireloop.observe.integrity.finding import Finding

#: Files that outrank a project's pyproject.toml, even when they are empty.
OUTRANKING = frozenset({"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"})
#: Settings that decide what is collected.
COLLECTING = frozenset(
    {
        "testpaths",
        "python_files",
        "python_classes",
        "python_functions",
        "norecursedirs",
        "collect_imported_tests",
        "confcutdir",
        "required_plugins",
        "usefixtures",
    }
)
#: Settings that decide how strictly a run is judged.
STRICTNESS = frozenset(
    {
        "filterwarnings",
        "xfail_strict",
        "strict",
        "empty_parameter_set_mark",
        "faulthandler_timeout",
        "timeout",
        "reruns",
    }
)
#: Parts of a project's file that say what it is and needs.
PACKAGING = frozenset({"project", "metadata", "options.extras_require"})
#: Words of `addopts` that leave tests out, change the plugins or do not run anything.
NARROWING = re.compile(
    r"(?:^|\s)(?:-[a-zA-Z]*k|-[a-zA-Z]*m|--deselect|--ignore(?:-glob)?|--co|--collect-?only|--lf|--last-failed|--sw|--stepwise"
    r"|-p|-x|--exitfirst|--maxfail|--noconftest|--setup-(?:only|plan)|--fixtures|--markers|--runxfail|--rootdir|-c|-o"
    r"|--override-ini|--confcutdir|--import-mode|--reruns|--pyargs|--version|--help|-h)(?=[\s=:\w'\"]|$)"
)


def compare_configuration(path: str, old: bytes | None, new: bytes | None) -> Iterator[Finding]:
    """Compare what pytest reads from a file, and what else stands in it."""
    name = path.rpartition("/")[2]
    if old is None and name in OUTRANKING:
        yield Finding.of("configuration_added", path, 0, "no such file -> it outranks the project's own configuration")
        return
    if new is None and name in OUTRANKING:
        yield Finding.of("configuration_narrowed", path, 0, "pytest's configuration -> no such file")
        return
    (before, rest_before), (after, rest_after) = _read(name, old), _read(name, new)
    for setting in sorted(before.keys() | after.keys()):
        was, now = before.get(setting), after.get(setting)
        if was != now:
            yield Finding.of(_kind(setting, was, now), path, _line(new, setting), f"{setting}: {was!r} -> {now!r}")
    changed = sorted(
        key for key in rest_before.keys() | rest_after.keys() if rest_before.get(key) != rest_after.get(key)
    )
    if changed and old is not None:
        yield Finding.of("project_file_changed", path, 0, f"apart from pytest's settings: {', '.join(changed)}")


def decides_runs(path: str, old: bytes, new: bytes) -> bool:
    """Whether an edit of a project's file may change how its tests are run; comments and its packages do not."""
    name = path.rpartition("/")[2]
    (before, rest_before), (after, rest_after) = _read(name, old), _read(name, new)
    rest = {key for key in rest_before.keys() | rest_after.keys() if rest_before.get(key) != rest_after.get(key)}
    return before != after or not rest <= PACKAGING


def _kind(setting: str, was: Any, now: Any) -> str:
    if setting in COLLECTING and not _only_gained(was, now):
        return "configuration_narrowed"
    if setting == "addopts" and len(NARROWING.findall(_words(now))) > len(NARROWING.findall(_words(was))):
        return "configuration_narrowed"
    return "configuration_relaxed" if setting in STRICTNESS else "configuration_changed"


def _only_gained(was: Any, now: Any) -> bool:
    """Whether a list of places or patterns only gained some; where there was none, naming some leaves out the others."""
    return was is not None and now is not None and set(_words(was).split()) <= set(_words(now).split())


def _read(name: str, content: bytes | None) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return pytest's settings and everything else by table; what cannot be read is one setting of its own."""
    if content is None:
        return {}, {}
    source = content.decode("utf-8", "replace")
    try:
        return _read_toml(name, source) if name.endswith(".toml") else _read_ini(name, source)
    except (tomllib.TOMLDecodeError, configparser.Error, AttributeError, TypeError) as error:
        return {"testpaths": f"unreadable: {error}"}, {}


def _read_toml(name: str, source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    data = tomllib.loads(source)
    if name != "pyproject.toml":
        return dict(data.get("pytest", data)), {}
    tool = data.get("tool", {})
    pytest = dict(tool.get("pytest", {}))
    rest = {f"tool.{key}": value for key, value in tool.items() if key != "pytest"}
    rest |= {key: value for key, value in data.items() if key != "tool"}
    return {**{k: v for k, v in pytest.items() if k != "ini_options"}, **pytest.get("ini_options", {})}, rest


def _read_ini(name: str, source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(source)
    wanted = "tool:pytest" if name == "setup.cfg" else "pytest"
    sections = {section: dict(parser[section]) for section in parser.sections()}
    return sections.pop(wanted, {}), sections


def _line(content: bytes | None, setting: str) -> int:
    for number, line in enumerate((content or b"").decode("utf-8", "replace").splitlines(), 1):
        if line.strip().startswith(setting):
            return number
    return 0


def _words(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value if value is not None else "")
