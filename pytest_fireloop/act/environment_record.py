"""What an interpreter loads before and around any test: noted at the start, compared before green counts."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_fireloop.act.installed_files import InstalledFiles
from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.patches import imported_names
from pytest_fireloop.observe.integrity.shadowing import PYTEST_MODULES, START_MODULES
from pytest_fireloop.observe.integrity.syntax import dotted, parse

PROBE = """
import json, os, site, sys
folders = [path for path in sys.path if path.rstrip("/").endswith(("site-packages", "dist-packages"))]
folders += [site.getusersitepackages(), os.path.dirname(os.__file__)]
print(json.dumps([sys.prefix, sys.executable, list(dict.fromkeys(folders))]))
"""
PROBE_TIMEOUT_S = 60
#: Packages whose every module is compared.
WATCHED = PYTEST_MODULES - {"py", "packaging", "pygments", "tomli"}
PLUGIN_GROUP = re.compile(rb"^\s*\[pytest11\]\s*$", re.MULTILINE)
STARTS_CODE = re.compile(rb"^import[ \t]", re.MULTILINE)
#: What setuptools writes for an editable package.
FINDER = re.compile(rb"import (__editable___\w+_finder); \1\.install\(\)")
FINDER_IMPORTS = frozenset({"__future__", "sys", "importlib", "itertools", "pathlib", "types", "typing"})
RUNNING = frozenset({"exec", "eval", "compile", "setattr", "delattr", "__import__", "import_module", "exec_module"})
#: Programs beside the interpreter that people start tests with.
PROGRAMS = ("pytest", "py.test")


@dataclass(frozen=True, slots=True)
class EnvironmentRecord:
    """Hashes by path; empty where the interpreter could not be asked."""

    prefix: Path
    interpreter: Path
    folders: tuple[Path, ...]
    files: Mapping[str, str]
    installed: InstalledFiles

    @classmethod
    def take(cls, python: Path, environment: Mapping[str, str]) -> EnvironmentRecord:
        """Ask the interpreter for its folders, and note what lies there."""
        try:
            done = subprocess.run(
                [str(python), "-c", PROBE],
                capture_output=True,
                check=True,
                cwd="/",
                env=dict(environment),
                timeout=PROBE_TIMEOUT_S,
            )
            prefix, interpreter, folders = json.loads(done.stdout)
        except (OSError, ValueError, subprocess.SubprocessError):
            return cls(python, python, (), {}, InstalledFiles.look(()))
        places = tuple(map(Path, folders))
        files = dict(_files(Path(prefix), Path(interpreter), places))
        return cls(Path(prefix), Path(interpreter), places, files, InstalledFiles.look(places))

    def changes(self) -> Iterator[Finding]:
        """Look again, without starting the interpreter, and yield what came, went or changed."""
        now = dict(_files(self.prefix, self.interpreter, self.folders))
        for path in sorted(self.files.keys() | now.keys()):
            was, here = self.files.get(path), now.get(path)
            if was != here and self.folders:
                change = "changed" if was and here else "new" if here else "gone"
                kind = "start_file_changed" if is_harmless(Path(path)) else "environment_changed"
                yield Finding.of(kind, path, 0, f"as it was at the start -> {change}")
        yield from self._packages(now.keys() | self.files.keys())

    def modules(self) -> frozenset[str]:
        """Return the names of the packages that were installed at the start."""
        tops = (
            os.path.relpath(self._package(path), folder)
            for folder in self.folders
            for path in self.installed.code
            if path.startswith(f"{folder}{os.sep}")
        )
        return frozenset(top.partition(".")[0] for top in tops) - {""}

    def byte_code_changed(self) -> bool:
        """Whether byte code in the environment is not what it was, so that a run must not read it."""
        return self.installed.byte_code_changed(InstalledFiles.look(self.folders))

    def _packages(self, told: Collection[str]) -> Iterator[Finding]:
        """Find changed code of packages; a product that is right only by them is right on this machine alone."""
        now = InstalledFiles.look(self.folders)
        kind = "package_installed" if self.installed.installer_ran(now) else "package_changed"
        first: dict[str, str] = {}
        for path in self.installed.changed_code(now):
            if path not in told:
                first.setdefault(self._package(path), path)
        for path in first.values():
            yield Finding.of(kind, path, 0, "as it was at the start -> changed in the environment")

    def _package(self, path: str) -> str:
        folders = (str(folder) for folder in self.folders if path.startswith(f"{folder}{os.sep}"))
        top = max(folders, key=len, default="")
        return f"{top}{os.sep}{path[len(top) + 1 :].partition(os.sep)[0]}"


def _files(prefix: Path, interpreter: Path, folders: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    yield str(prefix / "pyvenv.cfg"), digest(prefix / "pyvenv.cfg")
    yield str(interpreter), str(interpreter.resolve())
    for name in PROGRAMS:
        found = digest(interpreter.parent / name)
        if found:
            yield str(interpreter.parent / name), found
    for folder in folders:
        for path in _watched(folder):
            found = digest(path)
            if found:
                yield str(path), found


def _watched(folder: Path) -> Iterator[Path]:
    standard_library = (folder / "os.py").is_file()
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        module = entry.name.partition(".")[0]
        if entry.suffix == ".pth" or module in START_MODULES:
            yield from entry.rglob("*.py") if entry.is_dir() else [entry]
        elif standard_library:
            continue
        elif entry.name.endswith((".dist-info", ".egg-info")):
            listed = entry / "entry_points.txt"
            if PLUGIN_GROUP.search(_content(listed)):
                yield listed
        elif module in WATCHED:
            yield from sorted(entry.rglob("*.py")) if entry.is_dir() else [entry]


def is_harmless(path: Path) -> bool:
    """Whether a path file only names folders, or is what an installer writes."""
    if path.suffix != ".pth":
        return False
    content = _content(path)
    if STARTS_CODE.search(content):
        return _is_of_installer(path, content)
    lines = (line.strip() for line in content.decode("utf-8", "replace").splitlines())
    folders = [path.parent / line for line in lines if line and not line.startswith("#")]
    return not any((folder / f"{name}.py").exists() for folder in folders for name in START_MODULES)


def _is_of_installer(path: Path, content: bytes) -> bool:
    """Whether an installer writes such a file: it starts the finder of an editable package, and that only finds."""
    match = FINDER.fullmatch(content.strip())
    if match is None or not path.name.startswith("__editable__"):
        return False
    tree = parse(_content(path.parent / f"{match[1].decode()}.py"))
    if tree is None:
        return False
    imported = {name.partition(".")[0] for name in imported_names(tree).values()}
    stores = [each for each in ast.walk(tree) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)]
    called = {dotted(each).rpartition(".")[2] for each in ast.walk(tree) if isinstance(each, ast.Call)}
    return imported <= FINDER_IMPORTS and not stores and not called & RUNNING


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def digest(path: str | Path) -> str:
    """Return the hash of a file's content, empty where there is none, or no file."""
    if not os.path.isfile(path):
        return ""
    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256")
            return found.hexdigest() if file.tell() else ""
    except OSError:
        return ""
