"""Asks the referee, in a process of its own, so that the tested process imports and holds nothing of it."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable

from .record_file import dumps, loads

#: Variables that would make our own process measure coverage, or run as something else than it is.
HIDDEN = ("COVERAGE_", "COV_CORE_", "PYTEST_", "PYTHON")
CODE = (
    "import sys; sys.path.insert(0, {root!r}); sys.path += {paths!r}; "
    "from pytest_fireloop.act.referee_process import main; sys.exit(main())"
)
TIMEOUT_S = 300.0


class RefereeCall:
    """Holds what the referee needs as it was when pytest began, for tested code may change it."""

    def __init__(self, **question: Any) -> None:
        import subprocess

        self._nothing = subprocess.DEVNULL
        self._run, self._errors = subprocess.run, (OSError, subprocess.SubprocessError)
        self._question = question
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith(HIDDEN)}
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        self._argv = [sys.executable, "-E", "-P", "-W", "ignore", "-c", CODE.format(root=root, paths=paths)]
        self._exit = os._exit

    def ask(self, what: str, **more: Any) -> dict[str, Any]:
        """Return the referee's reply; `problem` says in one line why there is none."""
        question = dumps({"ask": what, **self._question, **more})
        try:
            done = self._run(
                [*self._argv, question],
                stdin=self._nothing,
                capture_output=True,
                check=False,
                env=self._environment,
                cwd=self._question["tree"],
                timeout=TIMEOUT_S,
            )
            reply: dict[str, Any] = loads(done.stdout)
        except self._errors as error:
            return {"problem": f"the referee did not answer: {type(error).__name__}: {error}"}
        except ValueError:
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            return {"problem": f"the referee ended with {done.returncode}: {''.join(last)[:300]}"}
        return reply

    def guard_exit(self, ended: Callable[[], int]) -> None:
        """Take part when tested code ends this very process with `os._exit(0)`, which would look like a green run."""
        original, owner, getpid = self._exit, os.getpid(), os.getpid

        def _exit(status: int) -> None:
            if status == 0 and getpid() == owner:
                try:
                    status = ended()
                except Exception:  # noqa: BLE001 - the process ends here, whatever happens
                    status = 13
            original(status)

        os._exit = _exit  # type: ignore[assignment]

    def release_exit(self) -> None:
        """Give `os._exit` back."""
        os._exit = self._exit
