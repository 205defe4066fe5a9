"""What an interpreter loads before and around any test: noted at the start, compared before green counts."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.shadowing import PYTEST_MODULES, START_MODULES

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
#: What installers write for an editable package or for the build backend.
INSTALLERS = ("__editable__", "_editable_", "distutils-precedence")


@dataclass(frozen=True, slots=True)
class EnvironmentRecord:
    """Hashes by path; empty where the interpreter could not be asked."""

    prefix: Path
    interpreter: Path
    folders: tuple[Path, ...]
    files: Mapping[str, str]

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
            return cls(python, python, (), {})
        places = tuple(map(Path, folders))
        return cls(Path(prefix), Path(interpreter), places, dict(_files(Path(prefix), Path(interpreter), places)))

    def changes(self) -> Iterator[Finding]:
        """Look again, without starting the interpreter, and yield what came, went or changed."""
        now = dict(_files(self.prefix, self.interpreter, self.folders))
        for path in sorted(self.files.keys() | now.keys()):
            was, here = self.files.get(path), now.get(path)
            if was != here and self.folders:
                change = "changed" if was and here else "new" if here else "gone"
                kind = "start_file_changed" if _is_harmless(Path(path)) else "environment_changed"
                yield Finding.of(kind, path, 0, f"as it was at the start -> {change}")


def _files(prefix: Path, interpreter: Path, folders: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    yield str(prefix / "pyvenv.cfg"), _digest(prefix / "pyvenv.cfg")
    yield str(interpreter), str(interpreter.resolve())
    for folder in folders:
        for path in _watched(folder):
            digest = _digest(path)
            if digest:
                yield str(path), digest


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


def _is_harmless(path: Path) -> bool:
    """Whether a path file only names folders, or is what an installer writes."""
    if path.suffix != ".pth":
        return False
    return not STARTS_CODE.search(_content(path)) or path.name.startswith(INSTALLERS)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _digest(path: Path) -> str:
    content = _content(path)
    return hashlib.sha256(content).hexdigest() if content else ""
