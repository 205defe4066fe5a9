"""Keeps a fault of ours out of the user's test run."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from typing import Any, Callable, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class Guarded:
    """A plugin object whose hook bodies never raise: the first fault is kept and switches the object off."""

    fault: str | None = None

    def disable(self, error: BaseException) -> None:
        """Remember the fault, and say it once."""
        self.fault = f"{type(error).__name__}: {error}"
        text = f"fire-loop: switched off by a fault of its own ({self.fault}); the tests are not affected\n"
        sys.stderr.write(text.encode("ascii", "backslashreplace").decode("ascii"))
        if os.environ.get("FIRELOOP_DEBUG"):
            traceback.print_exception(type(error), error, error.__traceback__)


def guarded(function: Function) -> Function:
    """Turn an exception of a hook body into a switched-off plugin; `pytest.exit` and the like pass through."""

    @functools.wraps(function)
    def body(self: Guarded, *args: Any, **kwargs: Any) -> Any:
        if self.fault is not None:
            return None
        try:
            return function(self, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - any fault of ours must not reach the user's run
            self.disable(error)
            return None

    return body  # type: ignore[return-value]
