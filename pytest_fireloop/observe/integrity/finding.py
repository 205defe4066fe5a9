"""One finding of the comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BLOCKER, WARNING = "blocker", "warning"

#: Kind to severity: a blocker makes a green false, a warning is for a person to look at.
KINDS = {
    "test_removed": BLOCKER,
    "test_replaced": WARNING,
    "test_skipped": BLOCKER,
    "test_xfailed": BLOCKER,
    "conditional_skip": WARNING,
    "test_retried": BLOCKER,
    "assertion_removed": BLOCKER,
    "assertion_changed": WARNING,
    "exception_swallowed": BLOCKER,
    "parameters_removed": BLOCKER,
    "helper_emptied": BLOCKER,
    "test_data_changed": WARNING,
    "test_unreadable": BLOCKER,
    "conftest_hook": BLOCKER,
    "fixture_patches": BLOCKER,
    "configuration_narrowed": BLOCKER,
    "configuration_changed": WARNING,
    "shadowing_module": BLOCKER,
    "environment_probe": BLOCKER,
    "frame_inspection": WARNING,
    "reads_test_data": BLOCKER,
    "always_equal": BLOCKER,
    "process_exit": BLOCKER,
    "exit_hook": WARNING,
    "mock_in_product": WARNING,
    "test_alone_fails": WARNING,
    "edit_forbidden": BLOCKER,
    "edit_unverifiable": BLOCKER,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found where; `line` is 0 for a whole file, `detail` holds before and after on one line."""

    kind: str
    severity: str
    path: str
    line: int
    detail: str

    @classmethod
    def of(cls, kind: str, path: str, line: int, detail: str) -> Finding:
        """Make a finding with the severity of its kind."""
        return cls(kind, KINDS[kind], path, line, " ".join(detail.split())[:300])

    def to_json(self) -> dict[str, Any]:
        """Return the finding as it stands in a summary."""
        return {name: getattr(self, name) for name in self.__slots__}
