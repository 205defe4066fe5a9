"""What an agent does to the user's repository is named, and can be undone to the byte."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fireloop.act.checkpoints import CheckpointError, Checkpoints
from pytest_fireloop.act.git_places import GitPlaces
from pytest_fireloop.act.object_store import ObjectStore
from pytest_fireloop.act.user_repository import RepositoryLook, moves, read_state

SEEDS = 12
STEPS = 5
Files = dict[str, tuple[str, bytes]]


def git(tree: Path, *words: str, check: bool = True) -> str:
    base = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "gc.auto=0", "-C", str(tree)]
    done = subprocess.run([*base, *words], check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout.strip()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Loose and packed refs and objects, a tag, two stashes, a staged file, a hook, and files that git does not know."""
    tree = tmp_path_factory.mktemp("pattern") / "tree"
    tree.mkdir()
    git(tree, "init", "--quiet", "--initial-branch=main", ".")
    for number in range(4):
        write(tree / "src" / f"{number}.py", f"A = {number}\n")
        write(tree / "shared.txt", f"line {number}\n" * 5)
        git(tree, "add", ".")
        git(tree, "commit", "--quiet", "-m", f"commit {number}")
        git(tree, "branch", f"side/{number}")
    git(tree, "tag", "-a", "-m", "a tag", "v1", "HEAD~1")
    write(tree / "shared.txt", "the first stash\n")
    git(tree, "stash", "push", "--quiet")
    git(tree, "gc", "--quiet")
    # a name that git's own folders have too
    git(tree, "branch", "objects/side", "side/1")
    write(tree / "new.txt", "the second stash\n")
    git(tree, "stash", "push", "--quiet", "--include-untracked")
    write(tree / "staged.txt", "staged\n")
    git(tree, "add", "staged.txt")
    write(tree / "staged.txt", "and edited\n")
    write(tree / "notes.txt", "untracked\n")
    write(tree / ".git" / "hooks" / "pre-push", "#!/bin/sh\n")
    (tree / ".git" / "hooks" / "pre-push").chmod(0o755)
    (tree / ".git" / "hooks" / "link").symlink_to("pre-push")
    return tree


@pytest.fixture
def tree(pattern: Path, tmp_path: Path) -> Path:
    shutil.copytree(pattern, tmp_path / "tree", symlinks=True)
    git(tmp_path / "tree", "update-index", "--refresh", "-q", check=False)
    return tmp_path / "tree"


@pytest.fixture
def checkpoints(tree: Path) -> Checkpoints:
    return Checkpoints.open(tree.parent / "state" / "checkpoints.git", tree, with_repository=True)


def commit(tree: Path, chance: random.Random) -> None:
    write(tree / "src" / "0.py", f"A = {chance.random()}\n")
    git(tree, "commit", "--quiet", "--all", "-m", "by the agent", check=False)


def wipe(tree: Path, _: random.Random) -> None:
    for path in tree.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def replace(tree: Path, _: random.Random) -> None:
    git(tree, "replace", "--force", "side/3", "side/1", check=False)


def hook(tree: Path, chance: random.Random) -> None:
    if (tree / ".git").is_dir():
        write(tree / ".git" / "hooks" / chance.choice(["pre-commit", "pre-push"]), f"#!/bin/sh\n# {chance.random()}\n")


def another(tree: Path, _: random.Random) -> None:
    shutil.rmtree(tree / ".git", ignore_errors=True)
    git(tree, "init", "--quiet")


def stopped_rebase(tree: Path, chance: random.Random) -> None:
    commit(tree, chance)
    git(tree, "checkout", "--quiet", "--force", "-B", "clash", "side/0", check=False)
    write(tree / "src" / "0.py", "A = 'clash'\n")
    git(tree, "commit", "--quiet", "--all", "-m", "clash", check=False)
    git(tree, "rebase", "main", check=False)


def written_over(tree: Path, chance: random.Random) -> None:
    """Damage files of objects and of git's own, some in place and some by a new file."""
    found = sorted(path for path in (tree / ".git").rglob("*") if path.is_file() and not path.is_symlink())
    for path in chance.sample(found, len(found) // 3):
        if chance.random() < 0.5 and path.suffix not in {".pack", ".idx"}:
            path.chmod(0o644)
            path.write_bytes(b"")
        else:
            path.unlink()
            path.write_bytes(b"nonsense")


def moved_away(tree: Path, chance: random.Random) -> None:
    """Let a link or a file lead to the repository in another place."""
    if (tree / ".git").is_symlink() or not (tree / ".git").is_dir():
        return
    elsewhere = tree.parent / f"elsewhere-{chance.random()}"
    (tree / ".git").rename(elsewhere)
    if chance.random() < 0.5:
        (tree / ".git").symlink_to(elsewhere)
    else:
        (tree / ".git").write_text(f"gitdir: {elsewhere}\n")


def words(*commands: str) -> Callable[[Path, random.Random], None]:
    """Make an act of git command lines, of which any may fail."""

    def act(tree: Path, _: random.Random) -> None:
        for command in commands:
            git(tree, *command.split(), check=False)

    return act


ACTS: dict[str, Callable[[Path, random.Random], None]] = {
    "commit": commit,
    "amend": words("commit --quiet --all --amend -m amended"),
    "reset": words("reset --quiet --hard HEAD~1"),
    "soft reset": words("reset --quiet --soft side/0"),
    "switch": words("switch --quiet -c agent"),
    "checkout": words("checkout --quiet --force side/1"),
    "detach": words("checkout --quiet --force --detach side/2"),
    "stash": words("stash push --quiet"),
    "stash drop": words("stash drop"),
    "stash clear": words("stash clear"),
    "gc": words("reflog expire --expire=now --expire-unreachable=now --all", "gc --quiet --prune=now"),
    "clean": words("clean --quiet -fdx"),
    "no repository": lambda tree, _: shutil.rmtree(tree / ".git", ignore_errors=True),
    "nothing left": wipe,
    "branch gone": words("branch -D side/0 side/1"),
    "tag": words("tag --force v1 HEAD", "tag v2"),
    "hook": hook,
    "configuration": words("config user.name agent", "config core.hooksPath /tmp"),
    "rebase": stopped_rebase,
    "work tree": words("worktree add --quiet --force ../elsewhere side/2"),
    "replacement": replace,
    "another repository": another,
    "merge": words("merge --quiet --no-edit side/0"),
    "staged": words("add --all"),
    "unborn": words("checkout --quiet --orphan new"),
    "refs packed": words("pack-refs --all"),
    "objects gone": lambda tree, _: shutil.rmtree(tree / ".git" / "objects", ignore_errors=True),
    "written over": written_over,
    "moved away": moved_away,
    "index over packs": words("repack --quiet -a -d --write-midx"),
}


#: Each act twice, in sequences by chance.
PLAN = random.Random(0).sample([*ACTS, *ACTS], 2 * len(ACTS))[: SEEDS * STEPS]


def repository(tree: Path) -> Files:
    """All of a repository but its objects and their packs, to the byte."""
    found: Files = {}
    for base, folders, names in os.walk(tree / ".git"):
        folders[:] = [name for name in folders if Path(base, name) != tree / ".git" / "objects"]
        for name in [*names, *(each for each in folders if os.path.islink(os.path.join(base, each)))]:
            path = Path(base, name)
            kind = "link" if path.is_symlink() else oct(path.stat().st_mode & 0o100)
            content = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
            found[path.relative_to(tree).as_posix()] = kind, content
    return found


def files(tree: Path) -> dict[str, bytes]:
    return {
        path.relative_to(tree).as_posix(): path.read_bytes()
        for path in sorted(tree.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(tree).parts
    }


def contents(tree: Path) -> str:
    """Every object that any ref, reflog, stash or the index leads to; git fails where one is missing."""
    return git(tree, "rev-list", "--objects", "--all", "--reflog", "--indexed-objects")


def seen(tree: Path) -> dict[str, str]:
    """What git itself says stands where, by the word that must name a change of it."""
    if not os.path.lexists(tree / ".git"):
        return {}
    try:
        git(tree, "for-each-ref", "--format=%(objecttype)")
        index = git(tree, "ls-files", "--stage")
        git(tree, "rev-parse", "--verify", "HEAD^{tree}")
    except AssertionError:
        return {"damaged": ""}
    found = {"HEAD": git(tree, "rev-parse", "HEAD", check=False) + git(tree, "symbolic-ref", "HEAD", check=False)}
    found["stash"] = git(tree, "stash", "list", "--format=%H", check=False)
    found["index"] = index
    folder = Path(git(tree, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    found["lay in"] = os.path.realpath(folder)
    found["configuration"] = (folder / "config").read_text()
    hooks = folder / "hooks"
    found["hooks"] = (
        repr(sorted((each.name, each.read_bytes()) for each in hooks.iterdir())) if hooks.is_dir() else "[]"
    )
    for line in git(tree, "for-each-ref", "--format=%(refname) %(objectname)").splitlines():
        name, _, oid = line.partition(" ")
        if name != "refs/stash":
            found[name.removeprefix("refs/").removeprefix("heads/")] = oid
    return found


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_operations_are_named_and_undone(tree: Path, checkpoints: Checkpoints, seed: int) -> None:
    _named_and_undone(tree, checkpoints, PLAN[seed * STEPS : (seed + 1) * STEPS], random.Random(seed))


@pytest.mark.parametrize("name", ACTS)
def test_each_operation_is_named_and_undone(tree: Path, checkpoints: Checkpoints, name: str) -> None:
    # of what is done by chance both ways are taken
    _named_and_undone(tree, checkpoints, [name], random.Random(1))
    _named_and_undone(tree, checkpoints, [name], random.Random(2))


def _named_and_undone(tree: Path, checkpoints: Checkpoints, done: list[str], chance: random.Random) -> None:
    before, wanted, reachable = repository(tree), files(tree), contents(tree)
    first = checkpoints.take("start")
    assert first.left_out == ()
    state, told = read_state(tree), seen(tree)
    for name in done:
        ACTS[name](tree, chance)
    _, now = moves(state, read_state(tree)), seen(tree)
    _named(_, told, now, done)
    after, left = repository(tree), files(tree)

    # without git in mind the files alone come back
    present = checkpoints.restore(first.commit, later=[checkpoints.take("later").commit])
    assert present.failed == ()
    assert (files(tree), repository(tree)) == (wanted, after), done

    assert checkpoints.restore_repository(first.commit) == [], done
    assert repository(tree) == before, done
    assert contents(tree) == reachable, done
    assert git(tree, "fsck", "--full", "--no-dangling") == "", done

    # and that can be undone; where there was no repository, none is taken away
    checkpoints.restore(present.present, later=[first.commit])
    assert files(tree) == left, done
    if after:
        assert checkpoints.restore_repository(present.present) == [], done
    assert repository(tree) == (after or before), done
    checkpoints.restore(first.commit, later=[present.present])
    assert checkpoints.restore_repository(first.commit) == [], done


def _named(lines: tuple[str, ...], before: dict[str, str], after: dict[str, str], done: list[str]) -> None:
    if not after:
        assert lines == ("the repository is gone",), done
        return
    if "damaged" in after:
        told = ("the repository cannot be read any more", "objects of the repository are gone", "HEAD moved from ")
        assert any(line.startswith(told) for line in lines), (lines, done)
        return
    changed = [name for name in before.keys() | after if before.get(name) != after.get(name)]
    # of the branch that HEAD stands on, the move of HEAD tells
    for name in changed:
        on_it = any(line.startswith("HEAD moved") and f"({name})" in line for line in lines)
        assert on_it or any(name in line for line in lines), (name, lines, done)


def test_keeping_writes_nothing_to_the_repository(tree: Path, checkpoints: Checkpoints) -> None:
    def stamps() -> list[tuple[str, int, int, int]]:
        rows = [(path, path.lstat()) for path in sorted((tree / ".git").rglob("*"))]
        return [(str(path), found.st_mtime_ns, found.st_size, found.st_mode) for path, found in rows]

    before = stamps()
    checkpoints.take("one")
    write(tree / "src" / "0.py", "A = 7\n")
    checkpoints.take("two")
    assert stamps() == before


def test_what_does_not_move_is_stored_once(tree: Path, checkpoints: Checkpoints) -> None:
    first = checkpoints.kept_repository(checkpoints.take("one").commit)
    write(tree / "src" / "0.py", "A = 7\n")
    assert checkpoints.kept_repository(checkpoints.take("two").commit) == first
    commit(tree, random.Random(0))
    assert checkpoints.kept_repository(checkpoints.take("three").commit) != first


def test_what_could_not_be_kept_is_not_removed(
    tree: Path, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_fireloop.act.kept_repository.SIZE_LIMIT", 20_000)
    names = ["annex/large.bin", "annex/a\nname"]
    write(tree / ".git" / names[0], "x" * 20_001)
    write(tree / ".git" / names[1], "x")
    first = checkpoints.take("start")
    assert first.left_out == (".git: own/annex/large.bin",)
    commit(tree, random.Random(0))
    checkpoints.take("later")
    assert checkpoints.restore_repository(first.commit) == []
    assert all((tree / ".git" / name).exists() for name in names)


def test_objects_that_are_gone_are_named(tree: Path) -> None:
    look = RepositoryLook(tree)
    before = look.read()
    assert moves(before, look.read()) == ()
    packs = tree / ".git" / "objects" / "pack"
    packs.rename(tree.parent / "packs")
    packs.mkdir()
    assert moves(before, look.read())[0].startswith("objects of the repository are gone: fatal: missing object ")


def test_an_object_that_is_written_over_in_place_comes_back(tree: Path, checkpoints: Checkpoints) -> None:
    commit(tree, random.Random(0))
    head = git(tree, "rev-parse", "HEAD")
    first = checkpoints.take("start")
    file = tree / ".git" / "objects" / head[:2] / head[2:]
    file.chmod(0o644)
    file.write_bytes(b"")
    assert checkpoints.restore_repository(first.commit) == []
    assert git(tree, "fsck", "--full", "--no-dangling") == ""


def test_an_index_over_packs_is_the_one_of_its_time(tree: Path, checkpoints: Checkpoints) -> None:
    git(tree, "repack", "--quiet", "-a", "-d", "--write-midx")
    first = checkpoints.take("start")
    commit(tree, random.Random(0))
    git(tree, "repack", "--quiet", "-a", "-d", "--write-midx")
    second = checkpoints.take("repacked")
    for taken in (second, first, second):
        shutil.rmtree(tree / ".git")
        assert checkpoints.restore_repository(taken.commit) == []
        assert git(tree, "fsck", "--full", "--no-dangling") == ""


def test_a_tree_without_a_repository_has_none(tmp_path: Path) -> None:
    write(tmp_path / "tree" / "a.py", "A = 1\n")
    plain = Checkpoints.open(tmp_path / "state" / "checkpoints.git", tmp_path / "tree", with_repository=True)
    taken = plain.take("one")
    assert plain.kept_repository(taken.commit) is None
    with pytest.raises(CheckpointError, match="without a repository"):
        plain.restore_repository(taken.commit)


def test_a_linked_work_tree_comes_back_and_the_main_one_is_left_alone(tree: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(tree, "worktree", "add", "--quiet", "-b", "topic", str(linked), "side/2")
    write(linked / "staged.txt", "x\n")
    git(linked, "add", ".")
    checkpoints = Checkpoints.open(tmp_path / "state2" / "checkpoints.git", linked, with_repository=True)
    first = checkpoints.take("start")
    before = {
        name: git(linked, *name.split()) for name in ("rev-parse HEAD", "ls-files --stage", "branch --show-current")
    }
    git(linked, "commit", "--quiet", "-m", "by the agent")
    git(linked, "switch", "--quiet", "-c", "agent")
    git(linked, "branch", "-D", "side/0")
    (linked / ".git").unlink()
    # meanwhile the user works in the main tree
    commit(tree, random.Random(1))
    mine, index = git(tree, "rev-parse", "HEAD"), (tree / ".git" / "index").read_bytes()
    checkpoints.restore(first.commit, later=[])
    assert checkpoints.restore_repository(first.commit) == []
    assert {name: git(linked, *name.split()) for name in before} == before
    assert git(linked, "rev-parse", "--verify", "side/0")
    assert (git(tree, "rev-parse", "HEAD"), (tree / ".git" / "index").read_bytes()) == (mine, index)


def test_objects_that_nothing_kept_needs_are_dropped(tree: Path, checkpoints: Checkpoints) -> None:
    commit(tree, random.Random(0))
    lost = git(tree, "rev-parse", "HEAD")
    name = f"own/objects/{lost[:2]}/{lost[2:]}"
    checkpoints.take("with it")
    git(tree, "reset", "--quiet", "--hard", "HEAD~1")
    ACTS["gc"](tree, random.Random(0))
    last = checkpoints.take("without it").commit
    store = tree.parent / "state" / "repository-objects"
    assert (store / name).exists()
    checkpoints.forget_all_but([last])
    assert not (store / name).exists()
    shutil.rmtree(tree / ".git")
    assert checkpoints.restore_repository(last) == []
    assert git(tree, "fsck", "--full", "--no-dangling") == ""


def test_what_cannot_be_linked_is_copied_up_to_a_limit(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    # stands for a state on another file system, of which a test has none
    monkeypatch.setattr(os, "link", refuse)
    places = GitPlaces.find(tree)
    assert places is not None
    names, missed = ObjectStore(tmp_path / "copies").keep(places)
    assert names
    assert not missed
    small = ObjectStore(tmp_path / "few", copy_limit=200)
    names, missed = small.keep(places)
    assert missed < names
    assert sum(path.stat().st_size for path in (tmp_path / "few").rglob("*") if path.is_file()) <= 200
