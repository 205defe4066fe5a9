"""What is a test file, and what is configuration."""

from __future__ import annotations

import pytest

from pytest_fireloop.observe.test_files import doctest_modules, is_configuration, is_test_file, predicate_of, with_data


@pytest.mark.parametrize(
    "path",
    [
        "test_a.py",
        "pkg/deep/a_test.py",
        "pkg/tests.py",
        "conftest.py",
        "pkg/conftest.py",
        "tests/helpers.py",
        "tests/data/expected.json",
        "pkg/test/fixture.bin",
        "Tests/a.txt",
        "pkg/__snapshots__/a.ambr",
        "pkg/a.snap",
        "pkg/a.approved.txt",
        "pkg/testdata/x",
        "pkg/cassettes/x.yaml",
    ],
)
def test_names_and_folders_of_tests(path: str) -> None:
    assert is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "a.py",
        "pkg/a.py",
        "latest.py",
        "contest.py",
        "pkg/test.py",
        "attests/a.py",
        "tests",
        "test_a.txt",
        "testimony.py",
    ],
)
def test_product(path: str) -> None:
    assert not is_test_file(path)
    assert is_test_file(path, {path})


def test_a_module_collected_only_for_its_doctests_is_product() -> None:
    collected = {"pkg/a.py", "pkg/check_b.py", "tests/test_c.py", "README.md"}
    doctests = {"pkg/a.py", "tests/test_c.py"}
    found = {path for path in collected if is_test_file(path, collected, doctests=doctests)}
    assert found == {"pkg/check_b.py", "tests/test_c.py", "README.md"}


def test_doctests_are_told_from_tests_by_their_node_ids() -> None:
    nodeids = [
        "pkg/__init__.py::pkg",
        "pkg/a.py::pkg.a.function",
        "pkg/a.py::pkg.a.Class.method",
        "src/pkg/b.py::pkg.b",
        "odd.name/d.py::odd_name.d.function",
        "pkg/both.py::pkg.both.function",
        "pkg/both.py::test_it",
        "pkg/check_c.py::check_c_works",
        "pkg/check_c.py::TestC::test_c[pkg.check_c.x]",
        "README.md::README.md",
        "tests/test_e.py::test_e",
    ]
    assert doctest_modules(nodeids) == {"pkg/__init__.py", "pkg/a.py", "src/pkg/b.py", "odd.name/d.py"}


def test_doctests_of_a_real_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        **{
            "pkg/__init__": '"""\n>>> 1\n1\n"""',
            "pkg/a": 'def f():\n    """\n    >>> 1\n    1\n    """',
            "pkg/test_b": "def test_b():\n    pass",
        }
    )
    output = pytester.runpytest_subprocess(
        "--doctest-modules", "--collect-only", "-q", "-p", "no:cacheprovider"
    ).outlines
    nodeids = [line for line in output if "::" in line]
    assert len(nodeids) == 3
    assert doctest_modules(nodeids) == {"pkg/__init__.py", "pkg/a.py"}


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        *((name, True) for name in ("conftest.py", "pkg/conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml")),
        *((name, True) for name in (".pytest.toml", "pyproject.toml", "sub/pyproject.toml", "tox.ini", "setup.cfg")),
        *((name, True) for name in ("sitecustomize.py", "usercustomize.py", "lib/evil.pth")),
        *((name, False) for name in ("a.py", "my_conftest.py", "pyproject.toml.orig", "setup.py", "pth", "pytest.py")),
    ],
)
def test_configuration(path: str, wanted: bool) -> None:
    assert is_configuration(path) is wanted


def test_a_name_alone_is_no_test_where_pytest_collected_others() -> None:
    predicate = predicate_of(["tests/test_a.py::test_x", "pkg/check_test.py::test_y"], ["odd_test.py"])
    found = {
        path: predicate(path) for path in ("pkg/ab_test.py", "pkg/check_test.py", "odd_test.py", "tests/new_test.py")
    }
    assert found == {"pkg/ab_test.py": False, "pkg/check_test.py": True, "odd_test.py": True, "tests/new_test.py": True}
    assert predicate("pkg/testing/tools.py") is False


FILES = (
    "spec/test_a.py",
    "spec/data/a.json",
    "spec/__init__.py",
    "app/test_b.py",
    "app/models.py",
    "app/b.json",
    "c.json",
)


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("spec/test_a.py", True),
        ("spec/data/a.json", True),
        ("spec/__init__.py", True),
        ("app/test_b.py", True),
        ("app/b.json", False),
        ("app/models.py", False),
        ("c.json", False),
    ],
)
def test_data_beside_tests_is_theirs_where_no_product_lies(path: str, wanted: bool) -> None:
    nodeids = ["spec/test_a.py::test_one", "app/test_b.py::test_two"]
    assert with_data(predicate_of(nodeids), nodeids, FILES)(path) is wanted
