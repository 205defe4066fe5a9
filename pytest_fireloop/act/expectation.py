"""What the run at the start lets one ask of a later run with the same tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from pytest_fireloop.observe.record import GREEN, RED, Failure, RunRecord
from pytest_fireloop.observe.test_files import doctest_modules

#: Outcomes at the start after which a test must pass.
DECIDED = frozenset({"passed", "failed", "error", "xpassed"})
#: How pytest begins the message of an expected failure that passed though it strictly must not.
STRICT_XPASS = "[XPASS(strict)]"


class Expectation:
    """Made from the baseline's record; tests in files that `keeps` does not hold are not asked for.

    Examples in the documentation of the product move with it: those that failed are asked for, unless `opened`.
    """

    def __init__(
        self,
        baseline: RunRecord,
        keeps: Callable[[str], bool],
        opened: Callable[[str], bool] = lambda _: False,
    ) -> None:
        documented = {path for path in doctest_modules(baseline.outcomes) if not opened(path)}
        failed = {node for node in baseline.red if _path(node) in documented}
        kept = {node: said for node, said in baseline.outcomes.items() if keeps(_path(node)) or node in failed}
        self._baseline = baseline
        self._keeps: Callable[[str], bool] = lambda path: keeps(path) or path in documented
        self._must_pass = {node for node, said in kept.items() if said in DECIDED}
        self._xfailed = {node for node, said in kept.items() if said == "xfailed"}
        self._uncollected = {error.path for error in baseline.collection_errors if keeps(_path(error.path))}
        self.known = frozenset(baseline.outcomes)
        self._seconds = {test.nodeid: test.duration_s for test in baseline.tests}
        self._signatures = {test.nodeid: test.signature for test in baseline.tests if test.signature}
        self.failed_before = self._failed_before(kept)
        #: Where each of them failed, as `path:line`.
        self.failed_at = {node: each.location for each in baseline.failures for node in each.nodeids}

    def seconds(self, node: str) -> float:
        """Return how long a test took at the start."""
        return self._seconds.get(node, 0.0)

    def signature(self, node: str) -> str | None:
        """Return the signature by which a test failed at the start."""
        return self._signatures.get(node)

    def short_failures(self, seconds: float) -> list[str]:
        """Return what failed at the start, one a cause first, as far as it took no longer together."""
        return self._within([node for node in self.failed_before if node in self._signatures], seconds)

    def passing_beside_failing(self, most: int, seconds: float) -> list[str]:
        """Return tests that passed at the start, in the files of those that failed."""
        files = set(map(_path, self.failed_before))
        was = self._baseline.outcomes
        return self._within([node for node in was if was[node] == "passed" and _path(node) in files][:most], seconds)

    def _within(self, nodes: Sequence[str], seconds: float) -> list[str]:
        ends = accumulate(map(self.seconds, nodes))
        return [node for node, end in zip(nodes, ends, strict=True) if end <= seconds]

    def not_reproduced(self, record: RunRecord, known_flaky: Collection[str]) -> str | None:
        """Say how a run of the unchanged baseline in another place differs from the baseline."""
        outside = record.extra.get("modules_outside")
        if outside:
            return f"code of the tree itself is loaded elsewhere too: {outside[0]}"
        was, now = self._baseline.outcomes, record.outcomes
        different = sorted(
            {node for node in was.keys() | now.keys() if was.get(node) != now.get(node)} - set(known_flaky)
        )
        if different:
            first = different[0]
            return f"the baseline gives other results elsewhere: {first} {was.get(first)} -> {now.get(first)}"
        errors = [{error.path for error in each.collection_errors} for each in (self._baseline, record)]
        return "other files can be collected elsewhere" if errors[0] != errors[1] else None

    def fault(self, record: RunRecord, apart_from: Collection[str] = ()) -> str | None:
        """Say on one line why a run with the tests of the start is not green, or None when it is."""
        record = self.discounted(record)
        outside = record.extra.get("modules_outside")
        if outside:
            return f"the run loaded code from the tree itself: {outside[0]}"
        if record.collection_errors:
            return f"with the tests of the start, {record.collection_errors[0].path} cannot be collected"
        missing = self.not_passing(sorted(self._must_pass - set(apart_from)), record)
        if missing:
            first = missing[0]
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            said = record.outcomes.get(first, "not run")
            return f"with the tests of the start, {first}{more} must pass; {'the first' if more else 'it'} is {said}"
        silent = sorted(self._uncollected - {_path(node) for node, said in record.outcomes.items() if said in GREEN})
        if silent:
            return f"no test of {silent[0]} passes, a file that could not be collected at the start"
        hidden = self._hidden(record)
        if hidden:
            return f"{hidden[0]} is {record.outcomes[hidden[0]]} now, which it was not at the start"
        forgiven = record.red & set(apart_from)
        red = sorted(record.red - forgiven)
        if red:
            return f"{red[0]} fails"
        gone = sorted(self._xfailed - record.outcomes.keys())
        if gone:
            return f"{gone[0]}, which failed as expected at the start, is not run"
        return self._unsound(record, forgiven)

    def not_passing(self, nodes: Iterable[str], record: RunRecord) -> list[str]:
        """Name those of the tests that a run does not show as passed."""
        return [node for node in nodes if record.outcomes.get(node) not in GREEN]

    def discounted(self, record: RunRecord) -> RunRecord:
        """Return a run in which the baseline's expected failures that only fail because they pass now have passed."""
        strict = [each for each in record.failures if each.message.lstrip().startswith(STRICT_XPASS)]
        cured = {node for each in strict for node in each.nodeids} & self._xfailed & record.red
        if not cured:
            return record
        return replace(
            record,
            tests=tuple(
                test._replace(outcome="xpassed", signature=None, cause=None) if test.nodeid in cured else test
                for test in record.tests
            ),
            failures=tuple(_without(each, cured) for each in record.failures if not cured.issuperset(each.nodeids)),
            exit_code=0 if record.exit_code == 1 and not record.red - cured else record.exit_code,
        )

    def turned(self, record: RunRecord) -> list[str]:
        """Name the red tests of a run that passed at the start."""
        was = self._baseline.outcomes
        return [test.nodeid for test in record.tests if test.outcome in RED and was.get(test.nodeid) in GREEN]

    def _hidden(self, record: RunRecord) -> list[str]:
        """Name the tests that the product takes out by a skip or an expected failure of its own."""
        was = self._baseline.outcomes
        left_out = {node: said for node, said in record.outcomes.items() if said in {"skipped", "xfailed"}}
        return sorted(node for node, said in left_out.items() if was.get(node) != said and self._keeps(_path(node)))

    def _unsound(self, record: RunRecord, forgiven: Collection[str]) -> str | None:
        if not record.complete:
            return f"the run is not complete: {record.incomplete_reason}"
        if record.collected != len(record.tests):
            return f"{record.collected} tests were collected and {len(record.tests)} reported"
        if record.exit_code != 0 and not (forgiven and record.exit_code == 1):
            return f"every test passes and the exit code is {record.exit_code}"
        if not any(said in GREEN or node in forgiven for node, said in record.outcomes.items()):
            return "no test passes"
        return None

    def _failed_before(self, kept: Collection[str]) -> tuple[str, ...]:
        """Order what failed at the start: one a cause first, then the rest."""
        red = [test for test in self._baseline.tests if test.outcome in RED and test.nodeid in kept]
        first: dict[str | None, str] = {}
        for test in red:
            first.setdefault(test.cause, test.nodeid)
        heads = list(first.values())
        return (*heads, *(test.nodeid for test in red if test.nodeid not in heads))


def _without(failure: Failure, nodeids: Collection[str]) -> Failure:
    return replace(failure, nodeids=tuple(node for node in failure.nodeids if node not in nodeids))


def _path(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]
