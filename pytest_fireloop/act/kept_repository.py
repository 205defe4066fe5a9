"""The user's repository as it was at a checkpoint: every file of it stored beside ours, its objects linked."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

from pytest_fireloop.act.git_places import WORKTREES, GitPlaces
from pytest_fireloop.act.object_reader import CheckpointError, ObjectReader
from pytest_fireloop.act.object_store import ObjectStore
from pytest_fireloop.act.shadow_git import ShadowGit
from pytest_fireloop.act.stored_files import StoredFiles, stamp
from pytest_fireloop.act.tree_writer import LINK, TreeWriter, git_mode

SCHEMA = "fireloop.repository/1"
#: In a stored state: where the parts lay, and the names of the object files.
PLACES, NAMES = "places.json", "objects.txt"
#: The file that a linked work tree has in place of a repository; git stores nothing of that name.
LEADING = "top/git"
SIZE_LIMIT = 200_000_000
#: Folders without which git takes a folder for no repository.
NEEDED = ("refs/heads", "refs/tags", "objects/info", "objects/pack")


class KeptRepository:
    """Reads the user's repository and stores it in ours; writes to it only in `put_back`."""

    def __init__(self, git: ShadowGit, tree: Path, store: ObjectStore) -> None:
        self._git, self._tree, self._objects = git, tree, store
        self._stored = StoredFiles(git)
        self._names: frozenset[str] = frozenset()
        self._latest: tuple[GitPlaces, str] | None = None
        #: What could not be kept, so that it could not be restored.
        self.left_out: tuple[str, ...] = ()

    def keep(self) -> str | None:
        """Store the repository as it is now and return the commit, the last one when nothing moved; None without one."""
        places = GitPlaces.find(self._tree)
        if places is None:
            return None
        found = {name: (path, status) for name, path, status in places.files() if "\n" not in path}
        # after the files: what a ref names is there already
        names, missed = self._objects.keep(places)
        stamps = {name: stamp(status) for name, (_, status) in found.items()}
        known = {name: stored.stamp for name, stored in self._stored.rows.items()}
        if self._latest is not None and self._latest[0] == places and stamps == known and names == self._names:
            return self._latest[1]
        large = [name for name, (_, status) in found.items() if status.st_size > SIZE_LIMIT]
        for name in large:
            del found[name]
        self.left_out = (*sorted(large), *([f"{len(missed)} files of objects"] if missed else []))
        self._stored.store(found)
        self._names = names
        self._latest = (places, self._commit(places, names - missed))
        return self._latest[1]

    def put_back(self, commit: str) -> list[str]:
        """Make the repository what it was, and return what could not be written; the caller has kept its present state."""
        with self._git.objects() as objects:
            places, names, entries = self._read(objects, commit)
            _lead(places)
            for folder in places.roots.values():
                folder.mkdir(parents=True, exist_ok=True)
            failed = self._objects.put_back(names, places.roots)
            theirs = _current(places, places.other_heads())
            now = {name: path for name, path, _ in places.files()}
            for root, folder in places.roots.items():
                with TreeWriter(folder, force=True) as writer:
                    # what could not be kept could not be brought back
                    surplus = [name for name in now if name not in entries and name in self._stored.rows]
                    failed += _remove(writer, root, surplus, entries)
                    failed += _write(writer, root, folder, entries, objects)
                for needed in NEEDED if folder == places.common else ():
                    (folder / needed).mkdir(parents=True, exist_ok=True)
            if "top/.git" in entries:
                with TreeWriter(places.top) as writer:
                    failed += _write(writer, "top", places.top, entries, objects)
        _keep_theirs(places, theirs)
        self._latest = None
        return failed

    def forget_all_but(self, commits: Collection[str]) -> None:
        """Drop the objects that no kept state of the repository had."""
        wanted: set[str] = set()
        with self._git.objects() as objects:
            for commit in commits:
                wanted |= set(self._read(objects, commit)[1])
        self._objects.forget_all_but(wanted)

    def _commit(self, places: GitPlaces, names: Collection[str]) -> str:
        said = {"schema": SCHEMA, "link": places.link}
        said |= {part: str(getattr(places, part)) for part in ("top", "own", "common")}
        listed = b"".join(os.fsencode(name) + b"\n" for name in sorted(names))
        more = {PLACES: json.dumps(said).encode("ascii"), NAMES: listed}
        if (places.top / ".git").is_file():
            more[LEADING] = (places.top / ".git").read_bytes()
        blobs = [(name, self._stored.content(content)) for name, content in more.items()]
        return self._stored.commit("the user's repository", blobs)

    def _read(self, objects: ObjectReader, commit: str) -> tuple[GitPlaces, list[str], dict[str, tuple[str, str]]]:
        entries = objects.entries(commit)
        try:
            said = json.loads(objects.read(entries.pop(PLACES)[1]))
            if said["schema"] != SCHEMA:
                raise CheckpointError(f"the repository was kept as {said['schema']!r}: use the version that kept it")
            names = os.fsdecode(objects.read(entries.pop(NAMES)[1])).splitlines()
            places = GitPlaces(Path(said["top"]), Path(said["own"]), Path(said["common"]), said.get("link"))
        except (KeyError, ValueError) as error:
            raise CheckpointError(f"{commit[:10]} holds no state of a repository") from error
        if LEADING in entries:
            entries["top/.git"] = entries.pop(LEADING)
        return places, names, entries


def _lead(places: GitPlaces) -> None:
    """Let `.git` be the folder again that it was, or the link: what stands there since leads elsewhere."""
    leading = places.top / ".git"
    if leading != places.own or not os.path.lexists(leading):
        return
    if leading.is_symlink() and os.readlink(leading) == places.link:
        return
    if leading.is_symlink() or not leading.is_dir():
        leading.unlink()
        if places.link is not None:
            leading.symlink_to(places.link)


def _remove(writer: TreeWriter, root: str, names: list[str], entries: Mapping[str, object]) -> list[str]:
    """Remove what came since; another work tree that was there already is left to who works in it."""
    failed = []
    for name in names:
        if not name.startswith(f"{root}/") or _of_other_tree(name, entries):
            continue
        try:
            writer.remove(name.removeprefix(f"{root}/"))
        except OSError:
            failed.append(name)
    return failed


def _write(
    writer: TreeWriter, root: str, folder: Path, entries: Mapping[str, tuple[str, str]], objects: ObjectReader
) -> list[str]:
    failed = []
    for name in sorted(entries):
        path = name.removeprefix(f"{root}/")
        if not name.startswith(f"{root}/") or (_of_other_tree(name, entries) and (folder / path).exists()):
            continue
        mode, oid = entries[name]
        content = objects.read(oid)
        if _is_there(folder / path, mode, content):
            continue
        try:
            writer.write(path, mode, content)
        except OSError:
            failed.append(name)
    return failed


def _of_other_tree(name: str, entries: Mapping[str, object]) -> bool:
    parts = name.split("/")
    return parts[1] == WORKTREES and len(parts) > 3 and f"{parts[0]}/{WORKTREES}/{parts[2]}/HEAD" in entries


def _is_there(path: Path, mode: str, content: bytes) -> bool:
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return mode == LINK and os.fsencode(os.readlink(path)) == content
        same = mode == git_mode(status.st_mode)
        return stat.S_ISREG(status.st_mode) and same and path.read_bytes() == content
    except OSError:
        return False


def _current(places: GitPlaces, refs: Collection[str]) -> dict[str, str]:
    """Return where branches stand now, as git would find them."""
    packed = {}
    try:
        for line in (places.common / "packed-refs").read_text("utf-8", "surrogateescape").splitlines():
            oid, _, name = line.partition(" ")
            packed[name] = oid
    except OSError:
        pass
    found = {}
    for ref in refs:
        try:
            found[ref] = (places.common / ref).read_text("utf-8").strip()
        except OSError:
            if ref in packed:
                found[ref] = packed[ref]
    return found


def _keep_theirs(places: GitPlaces, theirs: Mapping[str, str]) -> None:
    """Leave the branches of other work trees where they are."""
    for ref, oid in theirs.items():
        if _current(places, [ref]).get(ref) != oid:
            (places.common / ref).parent.mkdir(parents=True, exist_ok=True)
            (places.common / ref).write_text(f"{oid}\n", "utf-8")
