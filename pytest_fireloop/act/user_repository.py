"""The user's own repository, looked at and never written: what an agent moved in it is named."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fireloop.act.git_places import GitPlaces
from pytest_fireloop.act.stored_files import stamp
from pytest_fireloop.inside.hashing import blake2b
from pytest_fireloop.observe.text import one_line

if TYPE_CHECKING:
    import git

#: What is compared by a hash: name as it is told, and field.
HASHED = (("index", "index"), ("configuration", "config"), ("hooks", "hooks"), ("exclude file", "exclude"))
#: What lies in a repository while something is under way, and after it was bent.
UNDER_WAY = {
    "rebase-merge": "a rebase is under way",
    "rebase-apply": "a rebase is under way",
    "MERGE_HEAD": "a merge is under way",
    "CHERRY_PICK_HEAD": "a cherry-pick is under way",
    "REVERT_HEAD": "a revert is under way",
    "BISECT_LOG": "a bisection is under way",
    "info/grafts": "there are grafts",
    "info/attributes": "there are attributes of the repository alone",
    "info/sparse-checkout": "the checkout is sparse",
    "shallow": "the history is cut",
}
#: Git must not refresh the index, start a monitor, ask, or follow variables that lead to another repository.
ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
}


@dataclass(frozen=True, slots=True)
class RepositoryState:
    """HEAD's commit ("" before the first), branch (None: detached), refs and ids, stash newest first, and hashes.

    `index` covers what is staged, not git's notes of file times. `problem` says why a repository cannot be read.
    """

    head: str = ""
    branch: str | None = None
    refs: tuple[tuple[str, str], ...] = ()
    stash: tuple[str, ...] = ()
    index: str = ""
    config: str = ""
    hooks: str = ""
    exclude: str = ""
    under_way: tuple[str, ...] = ()
    worktrees: tuple[str, ...] = ()
    reflog: str = ""
    reflog_entries: int = 0
    reflog_last: str = ""
    problem: str | None = None
    #: Where it lies, and what git says of objects that are not there.
    place: str = ""
    missing: str = ""


class RepositoryLook:
    """Looks at one repository again and again; git is asked only when a file of it is not what it was."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._last: tuple[object, RepositoryState | None] | None = None

    def read(self) -> RepositoryState | None:
        """Return the state as `read_state` would."""
        places = GitPlaces.find(self._tree)
        if places is None:
            return read_state(self._tree)
        seen = (
            places,
            tuple((name, stamp(status)) for name, _, status in places.files()),
            tuple(_names(places.common / "worktrees")),
            _folders_of_objects(places.common / "objects"),
        )
        if self._last is None or self._last[0] != seen:
            self._last = seen, read_state(self._tree)
        return self._last[1]


def read_state(tree: Path) -> RepositoryState | None:
    """Return the state of the repository that a tree belongs to, None without one."""
    top = _top(tree)
    if top is None:
        return None
    try:
        import git
    except ImportError as error:
        return RepositoryState(problem=_problem(error))
    try:
        with git.Repo(top, expand_vars=False) as repository:
            return _read(repository)
    except git.InvalidGitRepositoryError:
        return RepositoryState(problem=one_line(f"{str(top / '.git')!r} is damaged"))
    except (git.GitError, ValueError, OSError, KeyError, TypeError, AttributeError) as error:
        return RepositoryState(problem=_problem(error))


def moves(before: RepositoryState | None, after: RepositoryState | None) -> tuple[str, ...]:
    """Name what moved between two looks, one line each."""
    if before is None:
        return ("a repository was made",) if after is not None else ()
    if after is None:
        return ("the repository is gone",)
    if after.problem is not None:
        return () if before.problem else (f"the repository cannot be read any more: {after.problem}",)
    return () if before.problem else tuple(one_line(line) for line in _moves(before, after))


def _moves(before: RepositoryState, after: RepositoryState) -> Iterator[str]:
    if before.place != after.place:
        yield f"the repository lay in {before.place!r}, and lies in {after.place!r} now"
    if after.missing and not before.missing:
        yield f"objects of the repository are gone: {after.missing}"
    if (before.head, before.branch) != (after.head, after.branch):
        yield f"HEAD moved from {_place(before)} to {_place(after)}"
    elif after.reflog_entries > before.reflog_entries:
        gained = _entries(after.reflog_entries - before.reflog_entries)
        yield f"HEAD is at {_place(after)} as before, its reflog gained {gained}, the last: {after.reflog_last}"
    if after.reflog_entries < before.reflog_entries:
        yield f"the reflog of HEAD lost {_entries(before.reflog_entries - after.reflog_entries)}"
    elif after.reflog_entries == before.reflog_entries and after.reflog != before.reflog:
        yield "the reflog of HEAD was rewritten"
    told = {"refs/stash", after.branch if before.branch == after.branch else None}
    old, new = dict(before.refs), dict(after.refs)
    for name in sorted(old.keys() | new.keys()):
        if name not in told and old.get(name) != new.get(name):
            yield _ref_move(_short(name), old.get(name), new.get(name))
    dropped = (Counter(before.stash) - Counter(after.stash)).total()
    added = (Counter(after.stash) - Counter(before.stash)).total()
    for count, what in ((dropped, "dropped"), (added, "added")):
        if count:
            yield f"stash: {_entries(count)} {what}"
    for word, here, there in (("added", after, before), ("removed", before, after)):
        for name in sorted(set(here.worktrees) - set(there.worktrees)):
            yield f"the work tree {name!r} was {word}"
    yield from (f"{what} now" for what in after.under_way if what not in before.under_way)
    yield from (f"no longer: {what}" for what in before.under_way if what not in after.under_way)
    for name, field in HASHED:
        if getattr(before, field) != getattr(after, field):
            yield f"the {name} changed"


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


def _ref_move(name: str, old: str | None, new: str | None) -> str:
    if old is None or new is None:
        return f"{name} appeared at {(new or '')[:7]}" if old is None else f"{name} is gone, it was at {old[:7]}"
    return f"{name} moved from {old[:7]} to {new[:7]}"


def _place(state: RepositoryState) -> str:
    return f"{state.head[:7] or 'no commit'} ({_short(state.branch) if state.branch else 'detached'})"


def _short(ref: str) -> str:
    return ref.removeprefix("refs/").removeprefix("heads/")


def _read(repository: git.Repo) -> RepositoryState:
    own, common = Path(repository.git_dir), Path(repository.common_dir)
    ask = repository.git
    ask.update_environment(**ENVIRONMENT, GIT_DIR=str(own), GIT_INDEX_FILE=str(own / "index"))
    if repository.working_tree_dir is not None:
        ask.update_environment(GIT_WORK_TREE=str(repository.working_tree_dir))
    head = (own / "HEAD").read_text(encoding="utf-8", errors="surrogateescape").strip()
    refs = tuple(
        (name, oid)
        for line in ask.for_each_ref("--format=%(objectname) %(refname)").split("\n")
        for oid, _, name in (line.partition(" "),)
        if name
    )
    stash = ask.stash("list", "--format=%H") if any(name == "refs/stash" for name, _ in refs) else ""
    reflog = _bytes(own / "logs" / "HEAD")
    newest = reflog.rstrip(b"\n").rpartition(b"\n")[2]
    return RepositoryState(
        head=ask.rev_parse("--verify", "--quiet", "HEAD", with_exceptions=False),
        branch=head.removeprefix("ref:").strip() if head.startswith("ref:") else None,
        refs=refs,
        stash=tuple(stash.split()),
        index=_hash(ask.ls_files("--stage", "-v", "-z").encode("utf-8", "surrogateescape")),
        config=_hash(_bytes(common / "config"), _bytes(own / "config.worktree")),
        hooks=_hash(*_folder(common / "hooks")),
        exclude=_hash(_bytes(common / "info" / "exclude")),
        under_way=tuple(dict.fromkeys(what for name, what in UNDER_WAY.items() if os.path.lexists(own / name))),
        worktrees=tuple(_names(common / "worktrees")),
        reflog=_hash(reflog),
        reflog_entries=reflog.count(b"\n"),
        place=os.path.realpath(own),
        missing=_missing(ask),
        reflog_last=one_line(newest.partition(b"\t")[2].decode("utf-8", "replace"), 80),
    )


def _missing(ask: git.Git) -> str:
    """Return git's word on the first object of a ref, or of the state that is checked out, that is not there."""
    for words in (["for-each-ref", "--format=%(objecttype)"], ["rev-list", "--objects", "--max-count=1", "HEAD", "--"]):
        status, _, said = ask.execute(["git", *words], with_extended_output=True, with_exceptions=False)
        # before the first commit there is nothing that could be missing
        if status and "ambiguous argument 'HEAD'" not in str(said) and "bad revision 'HEAD'" not in str(said):
            return one_line(str(said).strip().rpartition("\n")[2], 160) or f"git ends with {status}"
    return ""


def _folders_of_objects(folder: Path) -> tuple[tuple[str, int], ...]:
    """Return what changes when files of objects come or go."""
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                found.append((entry.name, entry.stat(follow_symlinks=False).st_mtime_ns))
    return tuple(sorted(found))


def _top(tree: Path) -> Path | None:
    """Return the nearest folder that holds a repository, whole or damaged."""
    absolute = Path(os.path.abspath(tree))
    return next((folder for folder in (absolute, *absolute.parents) if os.path.lexists(folder / ".git")), None)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _folder(folder: Path) -> Iterator[bytes]:
    """Yield names, permissions and contents, so that a hook that becomes executable counts."""
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(base, name)
            yield os.fsencode(path.relative_to(folder))
            yield oct(os.lstat(path).st_mode).encode()
            yield _bytes(path)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _hash(*parts: bytes) -> str:
    found = blake2b(digest_size=8)
    for part in parts:
        found.update(b"%d:" % len(part))
        found.update(part)
    return found.hexdigest()


def _problem(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return one_line(f"{type(error).__name__}: {lines[-1] if lines else ''}")
