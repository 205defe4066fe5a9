"""One finding of the comparison, and what each kind means for a green run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

BLOCKER, WARNING = "blocker", "warning"
DETAIL_LIMIT = 300


@dataclass(frozen=True, slots=True)
class Kind:
    """A blocker makes a green false, a warning is for a person to look at.

    `decided_by_run`: a run with the tests of the start answers this better than the comparison can.
    """

    severity: str
    decided_by_run: bool = False


KINDS = {
    # tests
    "test_removed": Kind(BLOCKER),
    "test_replaced": Kind(WARNING, decided_by_run=True),
    "test_changed": Kind(WARNING, decided_by_run=True),
    "test_unreadable": Kind(BLOCKER),
    "test_skipped": Kind(BLOCKER),
    "conditional_skip": Kind(WARNING),
    "test_xfailed": Kind(BLOCKER),
    "test_not_run": Kind(BLOCKER),
    "test_retried": Kind(BLOCKER),
    "assertion_removed": Kind(BLOCKER),
    "assertion_weakened": Kind(BLOCKER),
    "assertion_changed": Kind(WARNING, decided_by_run=True),
    "expected_value_changed": Kind(BLOCKER, decided_by_run=True),
    "early_return": Kind(BLOCKER),
    "exception_swallowed": Kind(BLOCKER),
    "parameters_removed": Kind(BLOCKER),
    "parameters_changed": Kind(BLOCKER, decided_by_run=True),
    "unit_mocked": Kind(BLOCKER, decided_by_run=True),
    "doctest_changed": Kind(BLOCKER),
    "doctest_edited": Kind(WARNING),
    # what surrounds them
    "expected_data_changed": Kind(BLOCKER, decided_by_run=True),
    "helper_emptied": Kind(BLOCKER),
    "helper_changed": Kind(WARNING, decided_by_run=True),
    "fixture_patches": Kind(BLOCKER, decided_by_run=True),
    "module_patched": Kind(BLOCKER, decided_by_run=True),
    "conftest_hook": Kind(BLOCKER),
    "conftest_hook_changed": Kind(WARNING, decided_by_run=True),
    "collection_narrowed": Kind(BLOCKER, decided_by_run=True),
    "configuration_narrowed": Kind(BLOCKER),
    "configuration_relaxed": Kind(WARNING, decided_by_run=True),
    "configuration_changed": Kind(WARNING),
    "configuration_added": Kind(BLOCKER),
    "project_file_changed": Kind(WARNING),
    "shadowing_module": Kind(BLOCKER),
    # product code
    "environment_probe": Kind(BLOCKER),
    "mentions_pytest": Kind(WARNING),
    "environment_set": Kind(BLOCKER),
    "environment_written": Kind(WARNING),
    "frame_inspection": Kind(BLOCKER),
    "frame_used": Kind(WARNING),
    "reads_test_data": Kind(BLOCKER),
    "place_probe": Kind(WARNING),
    "always_equal": Kind(BLOCKER),
    "reports_patched": Kind(BLOCKER),
    "process_exit": Kind(BLOCKER),
    "exit_hook": Kind(WARNING),
    "mock_in_product": Kind(WARNING),
    "library_patched": Kind(BLOCKER),
    "library_set": Kind(WARNING),
    "hidden_code": Kind(BLOCKER),
    "code_from_text": Kind(WARNING),
    "chance_used": Kind(WARNING),
    "special_case": Kind(WARNING),
    "byte_code_added": Kind(BLOCKER),
    "binary_added": Kind(WARNING),
    "binary_shadows_source": Kind(BLOCKER),
    "build_product_changed": Kind(WARNING),
    "test_command_changed": Kind(WARNING),
    "start_of_tests_changed": Kind(BLOCKER),
    # found by running
    "environment_changed": Kind(BLOCKER),
    "package_changed": Kind(BLOCKER),
    "package_installed": Kind(WARNING),
    "start_file_changed": Kind(WARNING),
    "test_alone_fails": Kind(WARNING),
    "link_leads_out": Kind(BLOCKER),
    "test_unsteady": Kind(WARNING),
    "expectation_ignored": Kind(BLOCKER),
    "acts_for_tests": Kind(BLOCKER),
    "right_at_first": Kind(BLOCKER),
    "edit_forbidden": Kind(BLOCKER),
    "edit_unverifiable": Kind(BLOCKER),
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
        return cls(kind, KINDS[kind].severity, path, line, " ".join(detail.split())[:DETAIL_LIMIT])

    def to_json(self) -> dict[str, Any]:
        """Return the finding as it stands in a summary."""
        return {name: getattr(self, name) for name in self.__slots__}


def after_run_of_start(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Weigh findings again once the tests of the start have decided: one step down for what such a run decides."""
    return tuple(
        replace(finding, severity=WARNING) if KINDS[finding.kind].decided_by_run else finding
        for finding in findings
        if not (KINDS[finding.kind].decided_by_run and finding.severity == WARNING)
    )
