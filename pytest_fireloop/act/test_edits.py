"""Which files of the start stand in a clean room, by what the user allows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from pytest_fireloop.observe.integrity.finding import Finding
from pytest_fireloop.observe.record import RunRecord
from pytest_fireloop.observe.test_files import is_configuration, predicate_of

#: Programs, which are product wherever they lie outside the tests' folders, though a test names the one that it runs.
SOURCES = (
    *(
        ".py",
        ".pyi",
        ".sh",
        ".bash",
        ".bat",
        ".cmd",
        ".ps1",
        ".js",
        ".mjs",
        ".cjs",
        ".ts",
        ".rb",
        ".pl",
        ".php",
        ".lua",
    ),
    *(".c", ".cc", ".cpp", ".h", ".hpp", ".rs", ".go", ".java", ".kt", ".cs", ".swift", ".pyx", ".pxd"),
)
#: Paths whose answer is kept: all of a tree are asked for in every iteration.
REMEMBERED = 200_000


@dataclass(frozen=True, slots=True)
class EditPolicy:
    """`mode` is review, forbid or allow; `globs` open single paths whatever the mode; `is_test` is asked by path."""

    mode: str
    globs: tuple[str, ...]
    is_test: Callable[[str], bool]

    @classmethod
    def of(
        cls,
        baseline: RunRecord,
        mode: str,
        globs: Sequence[str],
        *,
        held: Collection[str],
        read_all: Callable[[Iterable[str]], Mapping[str, bytes]],
    ) -> EditPolicy:
        """Make the policy for what pytest collected at the start, or failed to collect; `held` are the files of then."""
        broken = [error.path for error in baseline.collection_errors]
        named = predicate_of(baseline.outcomes, broken)
        sources = b"\n".join(read_all(path for path in held if path.endswith(".py") and named(path)).values())

        @lru_cache(REMEMBERED)
        def is_test(path: str) -> bool:
            return named(path) or _is_mentioned(path, held, sources)

        return cls(mode, tuple(globs), is_test)

    def is_opened(self, path: str) -> bool:
        """Whether the user lets the agent's file stand for the baseline's."""
        if any(fnmatchcase(path, glob) for glob in self.globs):
            return True
        decides = is_configuration(path) and not path.endswith("conftest.py")
        return self.mode == "allow" and self.is_test(path) and not decides

    def keeps(self, path: str) -> bool:
        """Whether the baseline's file stands in the room: tests and configuration, unless the user opened them."""
        return not self.is_opened(path) and (is_configuration(path) or self.is_test(path))

    def forbidden(self, changed: Iterable[str], held: Collection[str], found: Iterable[Finding]) -> Iterator[Finding]:
        """Find the edits that the mode `forbid` rejects: of existing tests, and of what configures them."""
        if self.mode != "forbid":
            return
        configured = {
            each.path for each in found if is_configuration(each.path) and each.kind != "project_file_changed"
        }
        for path in changed:
            new_conftest = path not in held and path.endswith("conftest.py")
            if path in configured or new_conftest or (path in held and self.is_test(path)):
                yield Finding.of("edit_forbidden", path, 0, "as it was at the start -> edited, which is forbidden")


def _is_mentioned(path: str, held: Collection[str], sources: bytes) -> bool:
    """Whether a file is data that a test of the start mentions by its name."""
    name = path.rpartition("/")[2]
    is_data = not name.endswith(SOURCES) and "." in name
    return is_data and path in held and name.encode("utf-8", "surrogateescape") in sources
