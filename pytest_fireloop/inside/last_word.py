"""Exit code 0 only where the referee knows of it: a process may end itself, or a conftest may answer for pytest."""

from __future__ import annotations

import os
import sys
from typing import Any

FALSE_GREEN = 13
#: Set by `fireloop-test` for its agent: a run that the agent starts by itself is no iteration.
INSIDE_LOOP = "FIRELOOP_LOOP"
LINE = "exit code {code}: the process ended with 0 before its run was judged; that is no green"

_original, _getpid = os._exit, os.getpid
#: The modules that hold `_exit`: `os` has it from the system's own.
_HOLDERS = tuple(sys.modules[name] for name in ("os", "posix", "nt") if name in sys.modules)
_current: LastWord | None = None


class LastWord:
    """The code that a run of `pytest --fire-loop` may end with; until it is known, 0 is none."""

    def __init__(self, config: Any) -> None:
        # held until the code is known: with it a process would hold all its tests to its very end, and end slowly
        self._config = config
        self.early = config is None
        self._pid = _getpid()
        self._known: int | None = None
        self._armed = True
        self._before: LastWord | None = None

    def stand_guard(self) -> None:
        """Take part when tested code ends this very process with `os._exit(0)`, be it at the very end."""
        global _current
        # one that stood before a configuration was there stood for the same run
        self._before = None if _current is None or _current.early else _current
        _current = self
        _give(leave)
        if self._config is not None and (self._before is not None or not _is_pytest_itself()):
            self._config.add_cleanup(self._stand_down)

    def _stand_down(self) -> None:
        """Give `os._exit` back where the process goes on after this run: in a run within a run, in another program."""
        global _current
        _current = self._before
        if _current is None:
            _give(_original)

    def let_be(self) -> None:
        """Have no say any more: the run is not judged."""
        self._armed = False
        self._config = None

    def known(self, code: int) -> None:
        """Note the code of the judged run."""
        self._known = code
        self._config = None

    def of(self, code: Any) -> Any:
        """Return the code to end with, given the one that somebody wants."""
        if code or not self._armed or _getpid() != self._pid:
            return code
        if self._known is None:
            self._say(LINE.format(code=FALSE_GREEN))
            return FALSE_GREEN
        return self._known or code

    def _say(self, line: str) -> None:
        """Say it past pytest's capture, for no hook may be called any more."""
        capture = self._config.pluginmanager.get_plugin("capturemanager") if self._config is not None else None
        if capture is not None:
            capture.suspend(in_=True)
        if sys.__stderr__ is not None:
            sys.__stderr__.write(f"fire-loop: {line}\n")
            sys.__stderr__.flush()


def _give(function: Any) -> None:
    for module in _HOLDERS:
        module._exit = function  # type: ignore[attr-defined]  # noqa: SLF001 - documented, for all its name


def _is_pytest_itself() -> bool:
    main = sys.modules.get("__main__")
    name = getattr(getattr(main, "__spec__", None), "name", None) or os.path.basename(
        getattr(main, "__file__", None) or ""
    )
    return name in {"pytest.__main__", "pytest", "py.test"}


def leave(status: int) -> None:
    """Stand for `os._exit`; a function of a module, so that it can be sent to other processes as the original can."""
    if status == 0 and _current is not None:
        try:
            status = _current.of(status)
        except Exception:  # noqa: BLE001 - the process ends here, whatever happens
            status = FALSE_GREEN
    _original(status)
