"""Compares two runs: which tests of the first one the second one leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.integrity.python_tests import defined_tests

#: Outcomes of a test that gave its word on the product.
DECIDING = frozenset({"passed", "failed", "error", "xpassed"})
LEFT_OUT = {"skipped": "test_skipped", "xfailed": "test_xfailed"}


def compare_runs(
    before: Mapping[str, str], after: Mapping[str, str], *, still_there: Callable[[str, str], bool]
) -> Iterator[Finding]:
    """Find tests that decided in the first run and are skipped, expected to fail or absent in the second.

    `still_there` says, by path and qualified name, whether a test stands in some test file: one that does not is found by
    comparing files.
    """
    present = {_function(nodeid)[1] for nodeid in after}
    # a test that moved into a class, or to another file, bears its own name there
    moved = {_function(nodeid)[1].rpartition("::")[2] for nodeid in after.keys() - before.keys()}
    found: dict[tuple[str, str], list[str]] = {}
    for nodeid, outcome in before.items():
        if outcome not in DECIDING:
            continue
        path, function = _function(nodeid)
        now = after.get(nodeid)
        if now in LEFT_OUT:
            found.setdefault((LEFT_OUT[now], path), []).append(f"{function}: {outcome} -> {now}")
        elif (
            now is None
            and not {function, function.rpartition("::")[2]} & (present | moved)
            and still_there(path, function)
        ):
            found.setdefault(("test_not_run", path), []).append(f"{function}: {outcome} -> not run")
    for (kind, path), details in found.items():
        distinct = list(dict.fromkeys(details))
        more = f", and {len(distinct) - 1} more" if len(distinct) > 1 else ""
        yield Finding.of(kind, path, 0, f"{distinct[0]}{more}")


def left_out(
    before: Mapping[str, str],
    after: Mapping[str, str],
    files: Mapping[str, bytes],
    found: Iterable[Finding],
    *,
    untouched: Callable[[str], bool] = lambda _: False,
) -> tuple[Finding, ...]:
    """Compare two runs, where `files` are the test files that changed and `found` is what they told by themselves.

    A test stands in a file that is `untouched`, or where its name is defined; a skip is not told twice.
    """
    names = {name.rpartition("::")[2] for path, source in files.items() for name in defined_tests(path, source)}
    skipped = {finding.path for finding in found if finding.kind == "test_skipped"}
    compared = compare_runs(
        before, after, still_there=lambda path, name: untouched(path) or name.rpartition("::")[2] in names
    )
    return tuple(each for each in compared if each.kind != "test_skipped" or each.path not in skipped)


def _function(nodeid: str) -> tuple[str, str]:
    """Return path and qualified name without parameters."""
    path, _, rest = nodeid.partition("::")
    return path, rest.partition("[")[0]
