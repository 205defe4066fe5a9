"""Where an agent is installed and in which version, without starting it."""

from __future__ import annotations

import json
import re
from pathlib import Path

_DEPTH = 6
_VERSION = re.compile(r"\d{1,6}\.\d{1,6}[\w.+-]{0,30}")


def installed_version(program: str, package: str) -> str | None:
    """Return the version that stands beside a program: in its npm package, its Python environment, or its path; else None."""
    real = Path(program).resolve()
    return _npm(real, package) or _python(Path(program), package) or _python(real, package) or _path(real)


def _npm(real: Path, package: str) -> str | None:
    for folder in list(real.parents)[:_DEPTH]:
        try:
            data = json.loads((folder / "package.json").read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        version = data.get("version") if isinstance(data, dict) and data.get("name") == package else None
        if isinstance(version, str):
            return version[:40]
    return None


def _python(program: Path, package: str) -> str | None:
    name = package.replace("-", "_")
    for found in sorted(program.parent.parent.glob(f"lib/python3*/site-packages/{name}-*.dist-info")):
        return found.name.removeprefix(f"{name}-").removesuffix(".dist-info")[:40]
    return None


def _path(real: Path) -> str | None:
    """Read installers that keep one folder or file a version."""
    return next((part for part in reversed(real.parts) if _VERSION.fullmatch(part)), None)
