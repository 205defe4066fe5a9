"""Change sets: line counts, shares, meaning, fingerprints."""

from __future__ import annotations

import warnings

import pytest

from pytest_fireloop.observe.changes import ChangeSet, FileChange, approach_of, edit_digest, is_meaningful


def is_test(path: str) -> bool:
    return path.startswith("tests/")


def test_lines_are_counted_by_kind() -> None:
    found = ChangeSet.of(
        [
            FileChange("tests/test_a.py", 3, 1),
            FileChange("src/b.py", 10, 2),
            FileChange("uv.lock", 900, 800),
            FileChange("src/api_pb2.py", 50, 0),
            FileChange("build/lib/b.py", 10, 2),
            FileChange("tests/build/data.txt", 4, 0),
        ],
        is_test,
    )
    assert {change.path: change.kind for change in found.files} == {
        "build/lib/b.py": "generated",
        "src/api_pb2.py": "generated",
        "src/b.py": "source",
        "tests/build/data.txt": "test",
        "tests/test_a.py": "test",
        "uv.lock": "generated",
    }
    assert (found.source_lines, found.test_lines, found.test_fix_ratio) == (12, 8, 0.4)
    assert found.to_json() == {
        "files": ["build/lib/b.py", "src/api_pb2.py", "src/b.py", "tests/build/data.txt", "tests/test_a.py", "uv.lock"],
        "source_lines": 12,
        "test_lines": 8,
        "test_fix_ratio": 0.4,
    }


@pytest.mark.parametrize(
    "name",
    [
        *("poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "Cargo.lock", "yarn.lock", "bun.lockb", "pixi.lock"),
        *(
            "package-lock.json",
            "pnpm-lock.yaml",
            "go.sum",
            "pylock.toml",
            "pylock.dev.toml",
            "app.min.js",
            "a.egg-info/x",
        ),
    ],
)
def test_lock_and_generated_files_count_no_lines(name: str) -> None:
    found = ChangeSet.of([FileChange(f"sub/{name}", 5, 5)])
    assert (found.files[0].kind, found.source_lines, found.test_fix_ratio) == ("generated", 0, None)


@pytest.mark.parametrize("changes", [[], [FileChange("uv.lock", 3, 3)], [FileChange("run.sh", 0, 0)]])
def test_no_counted_line_gives_no_ratio(changes: list[FileChange]) -> None:
    found = ChangeSet.of(changes, is_test)
    assert found.test_fix_ratio is None
    assert (found.approach is None) is (not changes)


@pytest.mark.parametrize(
    ("path", "before", "after", "wanted"),
    [
        ("a.py", b"x = 1\n", b"x = 1  # why\n\n\n", False),
        ("a.py", b"x = [1, 2]\n", b"x = [\n    1,\n    2,\n]\n", False),
        ("a.py", b"x = 'a'\n", b'x = "a"\n', False),
        ("a.py", b"# one\nx = 1\n", b"x = 1\n", False),
        ("a.py", b"x = 1\r\n", b"x = 1\n", False),
        ("a.py", b"x = 1\n", b"x = 2\n", True),
        ("a.py", b"x = 'a b'\n", b"x = 'ab'\n", True),
        ("a.py", b"if x:\n    y()\nz()\n", b"if x:\n    y()\n    z()\n", True),
        ("a.py", b'"""Says."""\n', b'"""Says more."""\n', True),
        ("a.py", b"def f(:\n", b"def  f( :\n\n", False),
        ("a.py", b"def f(:\n", b"def g(:\n", True),
        ("a.py", b"if x:\ny()\n", b"if x:\n    y()\n", True),
        ("a.py", b"x = 1\n", b"x =\n", True),
        ("a.pyi", b"x: int\n", b"x: int  # said\n", False),
        ("a.py", b"x = '\\d'\n", b"x = '\\d' # \n", False),
        ("a.txt", b"one two\n", b"one\n  two\n\n", False),
        ("a.txt", b"one two\n", b"one three\n", True),
        ("a.json", b'{"a":1}', b'{\n  "a": 1\n}\n', False),
        ("a.cfg", b"# one\n", b"# two\n", True),
        ("a.bin", b"\0 a", b"\0a", True),
        ("a.txt", None, b"", True),
        ("a.py", b"# only a comment\n", None, True),
        ("a.txt", b"same", b"same", False),
    ],
)
def test_what_is_meaningful(path: str, before: bytes | None, after: bytes | None, wanted: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert is_meaningful(path, before, after) is wanted


def test_source_that_no_parser_can_take_is_compared_as_text() -> None:
    deep = b"x = " + b"(" * 5000 + b")" * 5000
    assert is_meaningful("a.py", deep, deep + b"\n\n") is False
    assert is_meaningful("a.py", deep, deep + b"\ny = 1\n") is True


def test_an_approach_is_what_the_edit_does() -> None:
    base = [("a.py", [b"x = 1"], [b"x = 2", b"y = 3"])]
    assert approach_of(base) == approach_of([("a.py", [b"   x  =  1\r"], [b"", b"\tx = 2", b"y = 3", b"  "])])
    others = [
        [("b.py", [b"x = 1"], [b"x = 2", b"y = 3"])],
        [("a.py", [b"x = 1"], [b"x = 2"])],
        [("a.py", [b"x = 2", b"y = 3"], [b"x = 1"])],
        [("a.py", [b"x = 1", b"x = 2"], [b"y = 3"])],
        [("a.py", [b"x = 1"], [b"y = 3", b"x = 2"])],
        [*base, ("c.py", [], [b"z"])],
    ]
    fingerprints = [approach_of(base), *(approach_of(each) for each in others)]
    assert len(set(fingerprints)) == len(fingerprints)
    assert approach_of([*base, ("c.py", [], [b"z"])]) == approach_of([("c.py", [], [b"z"]), *base])
    assert approach_of([]) is None


def test_a_change_set_has_the_approach_of_its_edits() -> None:
    edits = [("a.py", [b"x"], [b"y"]), ("caf\udce9.txt", [], [b"\xff"])]
    changes = [FileChange(path, 1, 1, digest=edit_digest(old, new)) for path, old, new in edits]
    assert ChangeSet.of(changes).approach == approach_of(edits)
