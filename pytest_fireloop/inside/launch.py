"""Starts pytest as `python -m pytest` does, but so that the project cannot shadow pytest or this plugin.

Run by path: `python launch.py PARTS MAP_FROM MAP_TO PYTEST_ARGS...`; PARTS is the folder that holds the plugin, the
two MAP words are empty, or a folder of the original tree and the room that stands for it.
"""

import contextlib
import json
import os
import sys


def mapped(path: str, origin: str, room: str) -> str:
    """Return the path with the original tree replaced by the room; what is installed in the environment stays."""
    real = os.path.realpath(path)
    environment = os.path.realpath(sys.prefix)
    if environment != origin and (real == environment or real.startswith(environment + os.sep)):
        return path
    if real == origin or real.startswith(origin + os.sep):
        return room + real[len(origin) :]
    return path


def map_imports(origin: str, room: str) -> None:
    """Point path entries and the finders of editable installs at the room."""
    sys.path[:] = [mapped(entry, origin, room) if entry else entry for entry in sys.path]
    for finder in sys.meta_path:
        module = sys.modules.get(getattr(finder, "__module__", ""), None)
        for table in (getattr(module, "MAPPING", None), getattr(finder, "known_source_files", None)):
            if isinstance(table, dict):
                for name, target in list(table.items()):
                    if isinstance(target, str):
                        table[name] = mapped(target, origin, room)
    sys.path_importer_cache.clear()


def import_first(wanted_path: str) -> None:
    """Import the product before pytest is loaded, with nothing in sight that tells of a test run."""
    with open(wanted_path, encoding="utf-8") as file:
        wanted = json.load(file)
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("FIRELOOP_")}
    arguments, search, home = sys.argv, list(sys.path), os.getcwd()
    if wanted["folder"]:
        os.chdir(wanted["folder"])
    sys.argv, sys.path[:] = [""], wanted["path"]
    try:
        for name in wanted["modules"]:
            with contextlib.suppress(Exception, SystemExit):
                __import__(name)
    finally:
        os.chdir(home)
        sys.argv, sys.path[:] = arguments, search
        os.environ.update(kept)


def main() -> int:
    """Run pytest in this process and return its exit code."""
    parts, origin, room, *arguments = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    if origin:
        map_imports(os.path.realpath(origin), room)
    disguise = os.environ.get("FIRELOOP_DISGUISE")
    if disguise:
        import_first(disguise)
    try:
        import pytest
    except ImportError as error:
        sys.stderr.write(f"fire-loop: this interpreter has no pytest: {error}\n")
        return 97
    sys.path.insert(0, os.getcwd())
    sys.path.insert(0, parts)
    sys.argv = [os.path.join(parts, "pytest"), *arguments]
    return int(pytest.main(arguments))


if __name__ == "__main__":
    sys.exit(main())
