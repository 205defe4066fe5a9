"""Asks the referee, in a process of its own, so that the tested process imports and holds nothing of it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from . import scope
from .record_file import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Variables that would make our own process measure coverage, or run as something else than it is.
HIDDEN = ("COVERAGE_", "COV_CORE_", "PYTEST_", "PYTHON")
#: Started without the packages of the environment, a third of an interpreter's start: the referee needs none of them.
CODE = "import sys; sys.path += {paths!r}; from pytest_fireloop.act.referee_process import main; sys.exit(main())"
FLAGS = ("-E", "-P", "-S", "-W", "ignore")
#: Their folders are named all the same, for what is installed is compared with.
PACKAGES = ("site-packages", "dist-packages")
#: What the reply stands behind, for an interpreter may print lines of its own.
MARK = b"fire-loop-reply:"
TIMEOUT_S = 300.0


class RefereeCall:
    """Holds what the referee needs as it was when pytest began, for tested code may change it."""

    def __init__(self, options: Any, tree: str, outputs: Sequence[str] = (), started_in: str = "") -> None:
        import subprocess

        self._start, self._nothing, self._pipe = subprocess.Popen, subprocess.DEVNULL, subprocess.PIPE
        self._question = {
            "tree": tree,
            "folder": options.fire_loop_dir,
            "profile": options.fire_loop_profile,
            "test_edits": options.fire_loop_test_edits,
            "force": bool(options.fire_loop_force),
            "environment": scope.environment_name(),
            "outputs": list(outputs),
            "started_in": started_in or tree,
        }
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith(HIDDEN)}
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        paths += [path for path in sys.path if os.path.basename(path) in PACKAGES]
        self._argv = [sys.executable, *FLAGS, "-c", CODE.format(paths=[root, *paths])]

    def ask(self, what: str, **more: Any) -> dict[str, Any]:
        """Return the referee's reply; `problem` says in one line why there is none."""
        question = dumps({"ask": what, **self._question, **more})
        try:
            process = self._start(
                [*self._argv, question],
                stdin=self._nothing,
                stdout=self._pipe,
                stderr=self._pipe,
                env=self._environment,
                cwd=str(self._question["tree"]),
            )
            with process:
                output, errors = process.communicate(timeout=TIMEOUT_S)
            _, mark, text = output.rpartition(MARK)
            if not mark:
                last = errors.decode("utf-8", "replace").strip().splitlines()[-1:]
                return {"problem": f"the referee ended with {process.returncode}: {''.join(last)[:300]}"}
            reply: dict[str, Any] = loads(text)
        except Exception as error:  # noqa: BLE001 - tested code may have replaced what starts a process
            return {"problem": f"the referee did not answer: {type(error).__name__}: {error}"}
        return reply
