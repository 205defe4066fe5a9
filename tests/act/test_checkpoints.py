"""Checkpoints by real git, in real trees."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from pytest_fireloop.act.checkpoints import CheckpointError, Checkpoints, Restored
from pytest_fireloop.act.tree_index import UNSETTLED

ODD_NAMES = [
    "with space.txt",
    "new\nline.txt",
    "-dash.py",
    'quo"te.py',
    "caf\u00e9.txt",
    "back\\slash",
    "tab\there",
    ":(top)x",
    "*.glob",
    "git~1",
    os.fsdecode(b"raw-\xff.bin"),
]

State = dict[str, tuple[str, bytes]]


def git(tree: Path, *words: str) -> str:
    base = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-C", str(tree)]
    return subprocess.run([*base, *words], check=True, capture_output=True, text=True).stdout


def write(tree: Path, *paths: str, content: str = "x\n") -> None:
    for path in paths:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(content)


def state(folder: Path) -> State:
    """Everything below a folder: kind, and bytes or link target; empty folders are not kept."""
    found: State = {}
    for base, folders, names in os.walk(folder):
        for name in [*names, *(each for each in folders if os.path.islink(os.path.join(base, each)))]:
            path = os.path.join(base, name)
            relative = os.path.relpath(path, folder)
            if os.path.islink(path):
                found[relative] = ("link", os.fsencode(os.readlink(path)))
            else:
                kind = "executable" if os.stat(path).st_mode & 0o100 else "file"
                found[relative] = (kind, Path(path).read_bytes())
    return found


def digest(folder: Path) -> str:
    rows = [
        f"{path} {path.lstat().st_mode} {path.lstat().st_mtime_ns} {path.read_bytes() if path.is_file() else ''!r}"
        for path in sorted(folder.rglob("*"))
    ]
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogateescape")).hexdigest()


def settle() -> None:
    """Let stamps grow old enough to be believed."""
    time.sleep(2 * UNSETTLED / 1_000_000_000)


def opened(tree: Path) -> Checkpoints:
    return Checkpoints.open(tree.parent / "state" / "checkpoints.git", tree)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree without a repository."""
    tree = tmp_path / "tree"
    write(tree, "src/a.py", content="A = 1\n")
    write(tree, "run.sh", content="#!/bin/sh\n")
    (tree / "run.sh").chmod(0o755)
    (tree / "link").symlink_to("src/a.py")
    return tree


@pytest.fixture
def odd_tree(tree: Path, tmp_path: Path) -> Path:
    """With all that git tends to change or to choke on."""
    (tree / "crlf.txt").write_bytes(b"a\r\nb\n\r\n$Id$\n")
    (tree / "utf16.txt").write_bytes("a\n".encode("utf-16"))
    (tree / "broken").symlink_to("nowhere")
    (tree / "outside").symlink_to(tmp_path)
    (tree / "folder").symlink_to("src")
    (tree / "empty.txt").touch()
    attributes = "* text=auto eol=crlf\n*.py filter=lfs ident -diff\n*.txt working-tree-encoding=UTF-16 ident text\n"
    (tree / ".gitattributes").write_text(attributes)
    for name in ODD_NAMES:
        (tree / name).write_bytes(b"\x00\xff" + os.fsencode(name))
    write(tree, *(f"src/{name}" for name in ODD_NAMES))
    return tree


class TestRoundTrip:
    def test_bytes_modes_and_links_come_back(self, odd_tree: Path) -> None:
        checkpoints, before = opened(odd_tree), state(odd_tree)
        first = checkpoints.take("first")
        assert (first.files, first.left_out) == (len(before), ())
        checkpoints.export(first.commit, odd_tree.parent / "export")
        assert state(odd_tree.parent / "export") == before
        assert {name: checkpoints.read(first.commit, name) for name in before} == {
            name: content for name, (_, content) in before.items()
        }
        for name in os.listdir(odd_tree):
            if not (odd_tree / name).is_dir() or (odd_tree / name).is_symlink():
                (odd_tree / name).unlink()
        shutil.rmtree(odd_tree / "src")
        done = checkpoints.restore(first.commit, later=[])
        assert (sorted(done.written), done.removed, done.failed) == (sorted(before), (), ())
        assert state(odd_tree) == before

    @pytest.mark.parametrize("seed", range(8))
    def test_random_trees_come_back(self, tmp_path: Path, seed: int) -> None:
        source = random.Random(seed)
        tree = tmp_path / "tree"
        tree.mkdir()
        checkpoints = opened(tree)
        names = ["a", "b", "b/c", "b/d e", "f/g/h.py", "f/g", "i.sh", "j/k", *ODD_NAMES[:5]]

        def mutate() -> None:
            for name in names:
                path, draw = tree / name, source.random()
                if any(parent.is_symlink() or parent.is_file() for parent in path.parents if tree in parent.parents):
                    continue
                if draw < 0.3 and os.path.lexists(path):
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
                elif draw < 0.6 and not path.is_dir():
                    path.unlink(missing_ok=True)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(source.randbytes(source.randrange(40)))
                    path.chmod(source.choice((0o644, 0o755)))
                elif draw < 0.7 and not os.path.lexists(path):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.symlink_to(source.choice(["a", "/", "nowhere", "f"]))

        taken: list[tuple[str, State]] = []
        for number in range(5):
            mutate()
            taken.append((checkpoints.take(str(number)).commit, state(tree)))
        for (before, _), (after, _) in itertools.pairwise(source.sample(taken, len(taken))):
            # what is held in memory from checkpoint to checkpoint is what another process reads
            assert checkpoints.files(after) == opened(tree).files(after)
            differing = [change.path for change in opened(tree).changes(before, after)]
            assert checkpoints.changed(before, after) == sorted(set(differing))
        for commit, wanted in source.sample(taken, len(taken)):
            done = checkpoints.restore(commit, later=[each for each, _ in taken])
            assert done.failed == ()
            assert state(tree) == wanted
            checkpoints.export(commit, tmp_path / "room")
            for path in state(tmp_path / "room").keys() - wanted.keys():
                (tmp_path / "room" / path).unlink()
            assert state(tmp_path / "room") == wanted

    def test_a_file_keeps_its_permissions(self, tree: Path) -> None:
        checkpoints = opened(tree)
        (tree / "src" / "a.py").chmod(0o600)
        first = checkpoints.take("first")
        (tree / "src" / "a.py").write_text("A = 2\n")
        checkpoints.restore(first.commit, later=[])
        assert (tree / "src" / "a.py").read_text() == "A = 1\n"
        assert (tree / "src" / "a.py").stat().st_mode & 0o777 == 0o600

    def test_export_of_some_makes_way_for_them(self, tree: Path, tmp_path: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        room = tmp_path / "room"
        checkpoints.export(first.commit, room, ["src/a.py"])
        assert state(room) == {"src/a.py": ("file", b"A = 1\n")}
        shutil.rmtree(room / "src")
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (room / "src").symlink_to(elsewhere)
        write(room, "run.sh/in the way")
        checkpoints.export(first.commit, room, ["src/a.py", "run.sh"])
        assert list(elsewhere.iterdir()) == []
        assert state(room) == {"src/a.py": ("file", b"A = 1\n"), "run.sh": ("executable", b"#!/bin/sh\n")}
        with pytest.raises(CheckpointError, match="holds no file 'nowhere'"):
            checkpoints.export(first.commit, room, ["nowhere"])


class TestTheUsersRepository:
    def test_nothing_of_it_changes(self, odd_tree: Path) -> None:
        tree = odd_tree
        attributes = (tree / ".gitattributes").read_text()
        (tree / ".gitattributes").unlink()
        git(tree, "init", "--quiet", ".")
        git(tree, "add", "src/a.py", "run.sh")
        git(tree, "commit", "--quiet", "-m", "start")
        write(tree, "src/a.py", content="A = 3\n")
        git(tree, "stash")
        write(tree, "src/a.py", content="A = 4\n")
        write(tree, ".gitattributes", content=attributes)
        os.utime(tree / "run.sh", (1, 1))  # an index that git would like to refresh
        write(tree, ".git/hooks/post-checkout", content=f"#!/bin/sh\ntouch '{tree}/hooked'\n")
        (tree / ".git" / "hooks" / "post-checkout").chmod(0o755)
        git(tree, "config", "filter.lfs.clean", f"touch '{tree}/filtered'")
        git(tree, "config", "core.fsmonitor", f"touch '{tree}/monitored'")
        before = digest(tree / ".git")
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        write(tree, "new.txt", "src/a.py")
        second = checkpoints.take("second")
        checkpoints.changes(first.commit, second.commit)
        checkpoints.diff(first.commit, second.commit)
        checkpoints.export(first.commit, tree.parent / "export")
        checkpoints.restore(first.commit, later=[second.commit])
        assert digest(tree / ".git") == before
        assert not {"new.txt", "hooked", "filtered", "monitored"} & set(os.listdir(tree))

    def test_variables_and_settings_of_git_change_nothing(
        self, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(
            tmp_path,
            "home/.gitconfig",
            content="[core]\n\tautocrlf = true\n[init]\n\ttemplateDir = /nowhere\n[nonsense\n",
        )
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
            monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
        monkeypatch.delenv("GIT_CONFIG_GLOBAL")
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        checkpoints = opened(tree)
        assert sorted(checkpoints.files(checkpoints.take("first").commit)) == ["link", "run.sh", "src/a.py"]
        assert not (tmp_path / "elsewhere").exists()

    def test_a_bare_environment_is_enough(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = os.environ["PATH"]
        for name in list(os.environ):
            monkeypatch.delenv(name)
        monkeypatch.setenv("PATH", path)
        assert opened(tree).take("first").files == 3

    def test_without_git_the_message_says_so(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(CheckpointError, match="git is not installed, and checkpoints need it: install git"):
            opened(tree)


class TestIgnoreRules:
    def test_those_of_the_start_hold(self, tree: Path) -> None:
        git(tree, "init", "--quiet", ".")
        write(tree, ".gitignore", content="*.log\n/build/\n!keep.log\n")
        write(tree, "src/.gitignore", content="data/\n/only_here.txt\n!special.log\n")
        write(tree, ".git/info/exclude", content="private.txt\n")
        write(tree, "forced.log", "build/forced")
        git(tree, "add", "--force", "forced.log", "build/forced")
        shown = ["keep.log", "forced.log", "build/forced", "src/sub/only_here.txt", "src/special.log"]
        hidden = ["x.log", "build/out", "src/data/d", "src/only_here.txt", "src/x.log", "private.txt"]
        write(tree, *shown, *hidden)
        checkpoints = opened(tree)
        names = set(checkpoints.files(checkpoints.take("first").commit))
        listed = git(tree, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
        assert names == set(filter(None, listed))
        assert set(shown) <= names
        write(tree, ".gitignore", content="*\n")
        write(tree, ".git/info/exclude", content="*\n")
        write(tree, "hidden.py", "build/later")
        assert set(checkpoints.files(checkpoints.take("second").commit)) == {*names, "hidden.py"}
        checkpoints.refresh_rules()
        assert set(checkpoints.files(checkpoints.take("third").commit)) == {"forced.log", "build/forced"}

    def test_those_of_the_next_start_hold_from_then_on(self, tree: Path) -> None:
        checkpoints = opened(tree)
        write(tree, "data.log")
        settle()
        assert "data.log" in checkpoints.files(checkpoints.take("second").commit)
        write(tree, ".gitignore", content="*.log\n")
        assert "data.log" in checkpoints.files(checkpoints.take("third").commit)
        checkpoints.refresh_rules()
        assert "data.log" not in checkpoints.files(checkpoints.take("fourth").commit)

    def test_those_of_the_user_and_of_the_folders_above(
        self, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        git(tmp_path, "init", "--quiet", ".")
        write(tmp_path, "global", content="[core]\n\texcludesFile = ~/mine\n")
        write(tmp_path, "mine", content="*.mine\n")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "global"))
        write(tmp_path, ".gitignore", content="*.top\n/tree/anchored\n/anchored\n")
        write(tree, "a.mine", "a.top", "anchored", "src/anchored", "src/forced.top")
        git(tree, "add", "--force", "src/forced.top")
        checkpoints = opened(tree)
        names = set(checkpoints.files(checkpoints.take("first").commit))
        assert names == {"link", "run.sh", "src/a.py", "src/anchored", "src/forced.top"}

    def test_a_tree_without_repository_has_its_own(self, tree: Path) -> None:
        write(tree, ".gitignore", content="\ufeff*.log\r\n# no\r\n")
        write(tree, "a.log", "src/b.log")
        checkpoints = opened(tree)
        assert set(checkpoints.files(checkpoints.take("").commit)) == {".gitignore", "link", "run.sh", "src/a.py"}

    def test_caches_environments_and_reports_are_left_out(self, tree: Path) -> None:
        caches = (
            "__pycache__",
            ".tox",
            ".nox",
            "node_modules",
            ".pytest_cache",
            ".mypy_cache",
            ".ruff_cache",
            ".hypothesis",
        )
        write(tree, *(f"src/{name}/x" for name in caches), "a.pyc", ".coverage", ".coverage.host.1", "htmlcov/x")
        write(tree, "env/pyvenv.cfg", "env/lib/x.py", ".fireloop/view.md", ".fireloop/.gitignore", ".git/x")
        write(tree, ".gitignore", content="!node_modules/\n!*.pyc\n")
        write(tree, ".fireloop/.gitignore", content="*\n!skills\n")
        write(tree, ".fireloop/skills/own.md", ".coveragerc")
        checkpoints = opened(tree)
        assert set(checkpoints.files(checkpoints.take("first").commit)) == {
            *(".coveragerc", ".fireloop/skills/own.md", ".gitignore", "link", "run.sh", "src/a.py"),
        }

    def test_tracked_files_are_never_left_out(self, tree: Path) -> None:
        git(tree, "init", "--quiet", ".")
        write(tree, "env/pyvenv.cfg", "env/kept.py", "node_modules/kept.js")
        git(tree, "add", "--force", ".")
        write(tree, "env/not_kept.py")
        checkpoints = opened(tree)
        assert {"env/pyvenv.cfg", "env/kept.py", "node_modules/kept.js"} == set(
            checkpoints.files(checkpoints.take("first").commit)
        ) - {"link", "run.sh", "src/a.py"}

    def test_an_environment_is_named_unless_a_rule_ignores_it(self, tree: Path) -> None:
        write(tree, "env/pyvenv.cfg", "env/lib/a.py", ".venv/pyvenv.cfg")
        write(tree, ".gitignore", content=".venv\n")
        assert opened(tree).take("first").left_out == ("env/",)

    def test_a_mark_of_an_environment_hides_nothing_that_was_there(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        write(tree, "src/pyvenv.cfg", "src/b.py", "fresh/pyvenv.cfg", "fresh/lib/x.py")
        second = checkpoints.take("second")
        assert [each.path for each in checkpoints.changes(first.commit, second.commit)] == [
            "src/b.py",
            "src/pyvenv.cfg",
        ]

    def test_nested_repositories_are_walked_by_their_own_rules(self, tree: Path) -> None:
        git(tree, "init", "--quiet", ".")
        inner = tree / "vendor" / "inner"
        inner.mkdir(parents=True)
        git(inner, "init", "--quiet", ".")
        write(inner, "code.py", "data/kept", "x.tmp")
        write(inner, ".gitignore", content="/data/\n")
        write(inner, ".git/info/exclude", content="*.tmp\n")
        write(tree, "vendor/data/kept", "vendor/x.tmp")
        git(inner, "add", "--force", "data/kept")
        checkpoints = opened(tree)
        before = digest(inner / ".git")
        names = set(checkpoints.files(checkpoints.take("first").commit)) - {"link", "run.sh", "src/a.py"}
        assert names == {
            *("vendor/inner/.gitignore", "vendor/inner/code.py", "vendor/inner/data/kept"),
            *("vendor/data/kept", "vendor/x.tmp"),
        }
        assert digest(inner / ".git") == before

    def test_a_submodule_and_a_linked_worktree(self, tree: Path, tmp_path: Path) -> None:
        source = tmp_path / "source"
        write(source, "lib.py")
        for folder in (source, tree):
            git(folder, "init", "--quiet", ".")
            git(folder, "add", ".")
            git(folder, "commit", "--quiet", "-m", "start")
        git(tree, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source), "sub")
        git(tree, "commit", "--quiet", "-m", "submodule")
        git(tree, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
        checkpoints = opened(tree)
        assert set(checkpoints.files(checkpoints.take("first").commit)) == {
            *(".gitmodules", "link", "run.sh", "src/a.py", "sub/lib.py")
        }
        linked = Checkpoints.open(tmp_path / "state" / "linked.git", tmp_path / "linked")
        assert set(linked.files(linked.take("first").commit)) == {".gitmodules", "link", "run.sh", "src/a.py"}

    def test_our_own_state_in_the_tree_is_left_out(self, tree: Path) -> None:
        checkpoints = Checkpoints.open(tree / ".state" / "checkpoints.git", tree)
        write(tree, ".state/journal.sqlite")
        assert checkpoints.take("first").files == 3


class TestTake:
    def test_what_cannot_be_stored_is_named(self, tree: Path) -> None:
        write(tree, "limit.bin", content="x" * 1000)
        write(tree, "large.bin", content="x" * 1001)
        write(tree, "deep/.GIT/config")
        (tree / ".gitmodules").symlink_to("x")
        os.mkfifo(tree / "pipe")
        Checkpoints.open(tree.parent / "state", tree)
        first = Checkpoints(tree.parent / "state", tree, size_limit=1000).take("first")
        assert first.left_out == (".gitmodules", "deep/.GIT/config", "large.bin")
        assert first.files == 4

    @pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
    def test_unreadable_files_and_folders_are_named(self, tree: Path) -> None:
        write(tree, "closed/x")
        (tree / "src" / "a.py").chmod(0)
        (tree / "closed").chmod(0)
        first = opened(tree).take("first")
        (tree / "closed").chmod(0o700)
        assert first.left_out == ("closed/", "src/a.py")

    def test_an_edit_of_the_same_size_with_the_same_time_is_seen(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        stamp = (tree / "src" / "a.py").stat()
        (tree / "src" / "a.py").write_text("A = 7\n")
        os.utime(tree / "src" / "a.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        second = checkpoints.take("second")
        assert [change.path for change in checkpoints.changes(first.commit, second.commit)] == ["src/a.py"]

    @pytest.mark.parametrize(
        ("between", "seen"), [("another process", True), ("the clock goes back", True), ("nothing", False)]
    )
    def test_no_stamp_is_believed_for_ever(
        self, tree: Path, monkeypatch: pytest.MonkeyPatch, between: str, seen: bool
    ) -> None:
        # stands for a file system whose clock is too coarse for two edits
        monkeypatch.setattr("pytest_fireloop.act.tree_files.stamp", lambda found: (found.st_mode, 0, 0, 0, 0))
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        if between == "another process":
            opened(tree).take("beside")
        elif between == "the clock goes back":
            monkeypatch.setattr(time, "time_ns", lambda: UNSETTLED + 1_000)
        (tree / "src" / "a.py").write_text("A = 8\n")
        changed = checkpoints.changed(first.commit, checkpoints.take("edited").commit)
        assert changed == (["src/a.py"] if seen else [])

    def test_the_index_is_as_old_as_the_look_that_it_is_of(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        checkpoints, looked = opened(tree), time.time_ns() - 10_000_000_000
        monkeypatch.setattr(time, "time_ns", lambda: looked)
        checkpoints.take("first")
        assert (checkpoints.repository / "fireloop.index").stat().st_mtime_ns == looked

    def test_an_edit_in_the_second_of_the_last_look_is_seen_by_another_process(self, tree: Path) -> None:
        os.utime(tree / "src" / "a.py", (1, 1))
        first = opened(tree).take("first")
        # the stamps in git's index are whole seconds: some of these edits fall into the one of the look before
        for number in range(6):
            seen = (tree / "src" / "a.py").stat()
            (tree / "src" / "a.py").write_text(f"A = {number + 3}\n")
            os.utime(tree / "src" / "a.py", ns=(seen.st_atime_ns, seen.st_mtime_ns))
            again = opened(tree)
            taken = again.take(str(number))
            assert again.read(taken.commit, "src/a.py") == f"A = {number + 3}\n".encode()
            assert again.changed(first.commit, taken.commit) == ["src/a.py"]

    def test_files_of_another_process_are_found_gone(self, tree: Path) -> None:
        checkpoints = opened(tree)
        checkpoints.take("first")
        write(tree, "added.txt")
        opened(tree).take("beside")
        (tree / "added.txt").unlink()
        assert "added.txt" not in checkpoints.files(checkpoints.take("second").commit)

    def test_the_same_tree_has_the_same_hash(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        write(tree, "src/b.py")
        second = checkpoints.take("second")
        (tree / "src" / "b.py").unlink()
        third = checkpoints.take("third")
        assert first.tree == third.tree != second.tree
        assert len({first.commit, second.commit, third.commit}) == 3

    @pytest.mark.parametrize("damage", ["index", "lock", "folder"])
    def test_what_a_killed_process_left_behind_is_no_obstacle(self, tree: Path, damage: str) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        repository = checkpoints.repository
        if damage == "index":
            (repository / "fireloop.index").write_bytes(b"DIRC nonsense")
        elif damage == "lock":
            (repository / "fireloop.index.lock").touch()
        else:
            write(repository, "index-left/index", "index-left/index.lock")
        write(tree, "src/b.py")
        second = opened(tree).take("second")
        assert [each.path for each in checkpoints.changes(first.commit, second.commit)] == ["src/b.py"]

    def test_two_at_once(self, tree: Path) -> None:
        write(tree, *(f"many/{number}" for number in range(200)))
        first, second = opened(tree), opened(tree)
        found: list[str] = []
        threads = [
            threading.Thread(target=lambda each=each: found.append(each.take("x").tree)) for each in (first, second)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 2
        assert found[0] == found[1]
        assert os.listdir(first.repository).count("fireloop.index") == 1

    def test_a_message_of_any_kind(self, tree: Path) -> None:
        checkpoints = opened(tree)
        assert len({checkpoints.take(message).tree for message in ("", "-x", "a\0b\ud800", "x" * 100_000)}) == 1

    def test_a_folder_that_cannot_be_written(self, tree: Path) -> None:
        (tree.parent / "state").write_text("a file\n")
        with pytest.raises(CheckpointError, match="cannot make"):
            opened(tree)

    def test_damaged_rules_are_no_open_door(self, tree: Path) -> None:
        checkpoints = opened(tree)
        (checkpoints.repository / "fireloop.ignore.json").write_text("{}")
        with pytest.raises(CheckpointError, match="remove that file"):
            opened(tree).take("first")


class TestChanges:
    def test_a_renamed_file_counts_the_lines_that_differ(self, tree: Path) -> None:
        body = "".join(f"line {number}\n" for number in range(100))
        write(tree, "tests/test_a.py", content=body)
        write(tree, "tests/test_b.py", content=body + "more\n" * 10)
        write(tree, "old.py", content="one = 1\ntwo = 2\n")
        (tree / "old.bin").write_bytes(bytes(range(256)))
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        (tree / "unit").mkdir()
        (tree / "tests/test_a.py").rename(tree / "unit/test_a.py")
        (tree / "tests/test_b.py").unlink()
        write(tree, "unit/test_b.py", content=body + "more\n" * 9 + "other\n")
        (tree / "old.py").unlink()
        write(tree, "new.py", content="three = 3\nfour = 4\n")
        (tree / "old.bin").rename(tree / "new.bin")
        second = checkpoints.take("second")
        found = checkpoints.changes(first.commit, second.commit)
        assert {change.path: (change.added, change.removed) for change in found} == {
            "tests/test_a.py": (0, 1),
            "unit/test_a.py": (1, 0),
            "tests/test_b.py": (0, 1),
            "unit/test_b.py": (2, 1),
            "old.py": (0, 2),
            "new.py": (2, 0),
            "old.bin": (0, 1),
            "new.bin": (1, 0),
        }
        assert all(change.meaningful for change in found)
        assert len({change.digest for change in found}) == 8

    def test_lines_and_meaning(self, tree: Path) -> None:
        write(tree, "b.py", content="x = 1\ny = 2\n")
        write(tree, "c.txt", content="one two\n")
        write(tree, "mode.sh", content="x\n")
        write(tree, "gone.txt", content="3\n4\n")
        write(tree, "kind", content="src/a.py")
        write(tree, "trick.txt", content="-- a\n++ b\ndiff --git a/x b/x\n@@ -1 +1 @@\n")
        (tree / "old.bin").write_bytes(b"\0" * 10)
        (tree / "new.bin").write_bytes(b"\0" * 10)
        (tree / ".gitattributes").write_text("*.py -diff\n*.txt binary\n")
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        write(tree, "b.py", content="x = 1  # said\n\ny = 2\n")
        write(tree, "c.txt", content="one\ttwo\n")
        write(tree, "src/a.py", content="A = 9\nB = 2")
        write(tree, "d.py", content="z = 1\n")
        write(tree, "e.py", content="")
        write(tree, "diff --git a\nb", content="1\n2\n")
        write(tree, "trick.txt", content="@@ -1 +1 @@\ndiff --git a/y b/y\n-- c\n")
        (tree / "gone.txt").unlink()
        (tree / "mode.sh").chmod(0o755)
        (tree / "kind").unlink()
        (tree / "kind").symlink_to("src/a.py")
        (tree / "old.bin").unlink()
        (tree / "new.bin").write_bytes(b"\0" * 11)
        (tree / "huge.txt").write_text("line\n" * 500_000)
        second = checkpoints.take("second")
        found = checkpoints.changes(first.commit, second.commit)
        assert {change.path: (change.added, change.removed, change.meaningful) for change in found} == {
            "b.py": (2, 1, False),
            "c.txt": (1, 1, False),
            "d.py": (1, 0, True),
            "diff --git a\nb": (2, 0, True),
            "e.py": (0, 0, True),
            "gone.txt": (0, 2, True),
            "huge.txt": (1, 0, True),
            "kind": (1, 1, True),
            "mode.sh": (0, 0, True),
            "new.bin": (1, 1, True),
            "old.bin": (0, 1, True),
            "src/a.py": (2, 1, True),
            "trick.txt": (2, 3, True),
        }
        assert [change.path for change in found] == sorted(change.path for change in found)
        assert checkpoints.changes(first.commit, first.commit) == ()

    def test_the_same_edit_elsewhere_in_the_file_has_the_same_digest(self, tree: Path) -> None:
        checkpoints = opened(tree)

        def digest_of(before: str, after: str) -> str:
            write(tree, "src/a.py", content=before)
            old = checkpoints.take("old").commit
            write(tree, "src/a.py", content=after)
            return checkpoints.changes(old, checkpoints.take("new").commit)[0].digest

        wanted = digest_of("a\nb\nx = 1\n", "a\nb\nx = 2\n")
        assert digest_of("a\nmore\n\nlines\n    x = 1\nend\n", "a\nmore\n\nlines\n    x  = 2\nend\n") == wanted
        assert digest_of("x = 2\n", "x = 1\n") != wanted

    def test_a_patch(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        write(tree, "src/a.py", content="A = 2\n")
        write(tree, "*.py")
        second = checkpoints.take("second")
        patch = checkpoints.diff(first.commit, second.commit, ["src/a.py"])
        assert patch.splitlines()[-3:] == ["@@ -1 +1 @@", "-A = 1", "+A = 2"]
        assert (
            patch.count("diff --git")
            == checkpoints.diff(first.commit, second.commit, ["*.py"]).count("diff --git")
            == 1
        )
        assert checkpoints.diff(first.commit, second.commit).count("diff --git") == 2


class TestRead:
    def test_what_is_absent(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        assert checkpoints.read(first.commit, "link") == b"src/a.py"
        for path in ("nowhere", "src", "src/a.py/x", ""):
            with pytest.raises(CheckpointError, match="holds no file"):
                checkpoints.read(first.commit, path)
        for commit in ("0" * 40, "nonsense", "", first.tree, "caf\u00e9", "--output=x"):
            with pytest.raises(CheckpointError):
                checkpoints.files(commit)
            with pytest.raises(CheckpointError):
                checkpoints.changes(commit, first.commit)

    def test_a_stored_object_that_was_exchanged_is_not_believed(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        write(tree, "src/a.py", content="A = 2\n")
        second = checkpoints.take("second")

        def stored(oid: str) -> Path:
            return checkpoints.repository / "objects" / oid[:2] / oid[2:]

        real, other = (checkpoints.files(each.commit)["src/a.py"] for each in (first, second))
        stored(real).chmod(0o600)
        stored(real).write_bytes(stored(other).read_bytes())
        with pytest.raises(CheckpointError, match="damaged"):
            checkpoints.read(first.commit, "src/a.py")
        with pytest.raises(CheckpointError, match="damaged"):
            checkpoints.export(first.commit, tree.parent / "room")
        stored(first.tree).chmod(0o600)
        stored(first.tree).write_bytes(stored(second.tree).read_bytes())
        with pytest.raises(CheckpointError, match="damaged"):
            opened(tree).files(first.commit)
        # what was read while it was sound is known
        assert checkpoints.files(first.commit)["src/a.py"] == real

    def test_an_edit_that_hides_is_seen(self, tree: Path) -> None:
        checkpoints = opened(tree)
        path, modified = tree / "src" / "a.py", (tree / "src" / "a.py").stat().st_mtime_ns
        for number in range(20):
            # the same size, the same time of change, in the same moment as the checkpoint before
            path.write_text(f"A = {number:03}\n")
            os.utime(path, ns=(modified, modified))
            taken = checkpoints.take(str(number))
            assert checkpoints.read(taken.commit, "src/a.py").decode() == f"A = {number:03}\n"
            if number % 5 == 0:
                # long enough for the file to count as settled
                time.sleep(0.12)
                checkpoints.take("settled")


class TestRestore:
    def test_only_what_the_loop_added_goes(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        write(tree, "pkg/sub/added.py", "pkg/sub/__pycache__/added.pyc", "other/added.py")
        (tree / "run.sh").unlink()
        (tree / "link").unlink()
        write(tree, "link", content="a file now\n")
        later = checkpoints.take("later")
        write(tree, "users.txt", content="by the user, afterwards\n")
        done = checkpoints.restore(first.commit, later=[later.commit])
        assert done == Restored(
            ("link", "run.sh"), ("other/added.py", "pkg/sub/added.py"), (), done.present, ("users.txt",)
        )
        assert set(state(tree)) == {"src/a.py", "run.sh", "link", "users.txt", "pkg/sub/__pycache__/added.pyc"}
        assert not (tree / "other").exists()
        assert os.access(tree / "run.sh", os.X_OK)
        assert checkpoints.read(done.present, "users.txt") == b"by the user, afterwards\n"

    def test_the_state_before_can_be_restored_in_turn(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        write(tree, "src/a.py", "src/b.py", content="never stored by anybody else\n")
        before = state(tree)
        done = checkpoints.restore(first.commit, later=[checkpoints.take("later").commit])
        assert checkpoints.restore(done.present, later=[]).failed == ()
        assert state(tree) == before

    def test_bytes_that_a_newer_rule_ignores_are_stored_first(self, tree: Path) -> None:
        checkpoints = opened(tree)
        write(tree, "data.log", content="old\n")
        first = checkpoints.take("first")
        write(tree, ".gitignore", content="*.log\n")
        checkpoints.refresh_rules()
        write(tree, "data.log", content="old\n")
        settle()
        assert "data.log" not in checkpoints.files(checkpoints.take("ignored").commit)
        assert checkpoints.restore(first.commit, later=[]).written == ()
        assert "data.log" not in checkpoints.files(checkpoints.take("ignored again").commit)
        write(tree, "data.log", content="new\n")
        done = checkpoints.restore(first.commit, later=[])
        assert done.written == ("data.log",)
        assert checkpoints.read(done.present, "data.log") == b"new\n"
        after = checkpoints.take("after")
        assert "data.log" not in checkpoints.files(after.commit)
        assert after.tree == opened(tree).take("by another process").tree

    def test_bytes_that_cannot_be_stored_stay(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        write(tree, "added.txt")
        later = checkpoints.take("later")
        small = Checkpoints(checkpoints.repository, tree, size_limit=100)
        write(tree, "src/a.py", "added.txt", content="x" * 101)
        done = small.restore(first.commit, later=[later.commit])
        assert (done.written, done.removed, done.failed) == ((), (), ("added.txt", "src/a.py"))
        assert (tree / "src" / "a.py").read_text() == (tree / "added.txt").read_text() == "x" * 101

    def test_permissions_come_back(self, tree: Path) -> None:
        modes = {"secret.env": 0o600, "read.only": 0o444, "tool.sh": 0o750, "src/a.py": 0o640, "gone.txt": 0o600}
        write(tree, "secret.env", "read.only", "tool.sh", "gone.txt")
        for path, mode in modes.items():
            (tree / path).chmod(mode)
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        (tree / "gone.txt").unlink()
        (tree / "secret.env").chmod(0o666)
        (tree / "read.only").chmod(0o644)
        (tree / "read.only").write_text("y\n")
        (tree / "tool.sh").chmod(0o644)
        done = checkpoints.restore(first.commit, later=[])
        assert (set(done.written), done.failed) == ({"secret.env", "read.only", "tool.sh", "gone.txt"}, ())
        assert {path: (tree / path).stat().st_mode & 0o777 for path in modes} == modes
        # and what was there before the restore comes back in turn
        checkpoints.restore(done.present, later=[], known=[first.commit])
        assert (tree / "secret.env").stat().st_mode & 0o777 == 0o666
        assert not (tree / "gone.txt").exists()

    @pytest.mark.parametrize("kind", ["empty folders", "caches", "fifo"])
    def test_what_holds_nothing_makes_way(self, tree: Path, kind: str) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        (tree / "run.sh").unlink()
        if kind == "fifo":
            os.mkfifo(tree / "run.sh")
        else:
            (tree / "run.sh" / "deep").mkdir(parents=True)
        if kind == "caches":
            write(tree, "run.sh/__pycache__/a.pyc")
        assert checkpoints.restore(first.commit, later=[]).failed == ()
        assert (tree / "run.sh").read_text() == "#!/bin/sh\n"

    @pytest.mark.parametrize("kind", ["a repository", "a file too large"])
    def test_what_holds_bytes_that_are_not_stored_stays(self, tree: Path, kind: str) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        (tree / "run.sh").unlink()
        if kind == "a repository":
            git(tree, "init", "--quiet", "run.sh")
        else:
            checkpoints = Checkpoints(checkpoints.repository, tree, size_limit=100)
            write(tree, "run.sh", content="x" * 101)
        assert checkpoints.restore(first.commit, later=[]).failed == ("run.sh",)
        assert (tree / "run.sh").is_dir() == (kind == "a repository")

    def test_what_a_killed_restore_left_goes_with_the_next(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        write(tree, "src/.fireloop-0123456789ab", "src/.fireloop-notes")
        done = checkpoints.restore(first.commit, later=[])
        assert (done.removed, done.kept) == (("src/.fireloop-0123456789ab",), ("src/.fireloop-notes",))
        assert checkpoints.read(done.present, "src/.fireloop-0123456789ab") == b"x\n"

    def test_forth_and_back(self, tree: Path) -> None:
        checkpoints = opened(tree)
        write(tree, "kind", "folder/in.txt", "gone.txt")
        first, before = checkpoints.take("first"), state(tree)
        (tree / "gone.txt").unlink()
        (tree / "kind").unlink()
        write(tree, "kind/in.txt", "new.txt")
        (tree / "folder").rename(tree / "moved")
        (tree / "folder").symlink_to("moved")
        second, after = checkpoints.take("second"), state(tree)
        write(tree, "mine.txt", content="of the user\n")
        mine = {"mine.txt": ("file", b"of the user\n")}
        done = checkpoints.restore(first.commit, later=[second.commit], known=[second.commit])
        assert (state(tree), done.failed, done.kept) == ({**before, **mine}, (), ("mine.txt",))
        write(tree, "gone.txt", content="the user's own now\n")
        done = checkpoints.restore(second.commit, later=[], known=[first.commit])
        changed = {"gone.txt": ("file", b"the user's own now\n")}
        assert (state(tree), done.failed) == ({**after, **mine, **changed}, ())

    def test_nothing_is_written_through_a_link(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        elsewhere = tree.parent / "elsewhere"
        write(elsewhere, "a.py", content="not ours\n")
        shutil.rmtree(tree / "src")
        (tree / "src").symlink_to(elsewhere)
        done = checkpoints.restore(first.commit, later=[])
        assert (done.written, done.removed, done.failed) == ((), (), ("src/a.py",))
        later = checkpoints.take("later")
        done = checkpoints.restore(first.commit, later=[later.commit])
        assert (done.written, done.removed, done.failed) == (("src/a.py",), ("src",), ())
        assert state(elsewhere) == {"a.py": ("file", b"not ours\n")}
        assert not (tree / "src").is_symlink()

    def test_a_file_that_became_a_folder_with_something_else_in_it(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        (tree / "run.sh").unlink()
        write(tree, "run.sh/added", "run.sh/x.pyc")
        later = checkpoints.take("later")
        done = checkpoints.restore(first.commit, later=[later.commit])
        assert (done.written, done.removed, done.failed) == ((), ("run.sh/added",), ("run.sh",))
        assert (tree / "run.sh" / "x.pyc").exists()

    def test_a_forged_checkpoint_leads_nowhere(self, tree: Path) -> None:
        checkpoints = opened(tree)
        first = checkpoints.take("first")
        blob = checkpoints.files(first.commit)["src/a.py"]

        def forged(kind: str, content: bytes) -> str:
            words = [
                "git",
                "-C",
                str(checkpoints.repository),
                "hash-object",
                "--literally",
                "-w",
                "-t",
                kind,
                "--stdin",
            ]
            return subprocess.run(words, input=content, check=True, capture_output=True).stdout.decode().strip()

        inner = forged("tree", b"100644 escaped\0" + bytes.fromhex(blob))
        outer = forged("tree", b"40000 ..\0" + bytes.fromhex(inner))
        commit = forged("commit", f"tree {outer}\nauthor a <a> 0 +0000\ncommitter a <a> 0 +0000\n\nx\n".encode())
        with pytest.raises(CheckpointError, match=r"holds the name '\.\.'"):
            checkpoints.restore(commit, later=[])
        with pytest.raises(CheckpointError, match=r"holds the name '\.\.'"):
            checkpoints.export(commit, tree.parent / "room")
        assert not (tree.parent / "escaped").exists()
