"""What must happen before the project's first conftest is imported, and when its import goes wrong."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from . import outcome, scope
from .last_word import FALSE_GREEN, INSIDE_LOOP, LastWord
from .record_file import SCHEMA, RecordFile, loads

if TYPE_CHECKING:
    from collections.abc import Generator

USAGE = 4


class Beginning:
    """A run of which no session exists yet; a fault of ours in it is left for later."""

    def __init__(self, options: Any, root: str) -> None:
        scope.settle_record_path(options)
        self._options, self._root = options, root
        self._wanted = not scope.is_no_run(options) and "PYTEST_XDIST_WORKER" not in os.environ
        self._judged = self._wanted and options.fire_loop and not os.environ.get(INSIDE_LOOP)
        self._header = {
            "schema": SCHEMA,
            "run_id": os.urandom(8).hex(),
            "started": "",
            "rootdir": root,
            "python": "",
            "pytest": "",
            "environment": scope.environment_name(),
            "scope": "",
            "partial": False,
        }

    def begin(self) -> None:
        """Guard the end of the process, and replace an earlier run's record, so that nobody takes it for this run's."""
        if self._judged:
            LastWord(None).stand_guard()
        if self._wanted and self._options.fire_loop_record:
            with suppress(OSError):
                RecordFile(self._options.fire_loop_record, self._header).close()

    def ended(self, code: Any) -> int | None:
        """Return the exit code for a conftest that ends the process as if all were well, or None to let it be."""
        if code or not self._wanted or not self._options.fire_loop:
            return None
        sys.stderr.write(
            f"fire-loop: exit code {FALSE_GREEN}: a conftest ended the process with 0 before any test was collected\n"
        )
        return FALSE_GREEN

    def broken(self, error: Exception) -> None:
        """Record a conftest that cannot be imported as the collection error that it is, and have it judged."""
        if not self._wanted or type(error).__name__ != "ConftestImportFailure":
            return
        with suppress(Exception):
            relative = os.path.relpath(getattr(error, "path", "conftest.py"), self._root).replace(os.sep, "/")
            self._record(relative, _facts_of(error, relative, self._root))

    def _record(self, path: str, facts: dict[str, Any]) -> None:
        from .failures import collection_error

        options = self._options
        with tempfile.TemporaryDirectory() as folder:
            file = RecordFile(options.fire_loop_record or os.path.join(folder, "record.json"), self._header)
            file.finish(
                {
                    "duration_s": 0.0,
                    "exit_code": USAGE,
                    "complete": False,
                    "incomplete_reason": f"{path} cannot be loaded",
                    "collected": 0,
                    "counts": dict.fromkeys(outcome.OUTCOMES, 0),
                    "in_flight": None,
                    "not_run": [],
                    "collection_errors": [collection_error(path, facts, facts["message"])],
                    "failures": [],
                }
            )
            if self._judged:
                from .referee_call import RefereeCall

                RefereeCall(options, self._root).ask("judge", record=file.path, forced=False)


class Watch:
    """Looks at what comes out of a run in the end."""

    def __init__(self, config: Any) -> None:
        from .registration import last_word_of

        self._last_word = last_word_of(config)
        if scope.is_no_run(config.option):
            self._last_word.let_be()

    def main(self) -> Generator[None, Any, Any]:
        """Wrap pytest's main: a plain 0, or an exit with 0, is taken for what the run came to."""
        try:
            code = yield
        except SystemExit as error:
            if error.code:
                raise
            raise SystemExit(self._last_word.of(0)) from None
        return code or self._last_word.of(code)


class _Report:
    longrepr = None
    when = "collect"

    def __init__(self, nodeid: str) -> None:
        self.nodeid = nodeid


class _ExceptionInfo:
    def __init__(self, value: BaseException) -> None:
        self.value = value


def _facts_of(error: Exception, path: str, root: str) -> dict[str, Any]:
    from .failure import describe
    from .noise import Noise

    noise = Noise(((root, "<root>"),))
    facts: dict[str, Any] = loads(describe(_Report(path), _ExceptionInfo(error), root, noise))
    return facts
