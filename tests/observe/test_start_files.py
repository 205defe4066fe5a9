"""Which files start the tests, by a command and what it leads through."""

from __future__ import annotations

import json
import shlex

import pytest

from pytest_fireloop.observe.integrity.start_files import same_start, start_files

TREE = {
    "ci/check": 'python -m pytest "$@"\n',
    "ci/all.sh": 'HERE=$(dirname "$0")\n. "$HERE/settings.env"\nPATH=$PWD/bin:$PATH sh ${HERE}/check --report out/j.xml\n',
    "ci/settings.env": "STYLE=point\n",
    "Makefile": "include config.mk\ntest: calc\n\t./ci/all.sh\ncalc: src/calc.c\n\tcc -o calc src/calc.c\n",
    "config.mk": "STYLE = point\n",
    "src/calc.c": "int main(void) { return 0; }\n",
    "package.json": json.dumps({"main": "index.js", "scripts": {"test": "node scripts/run.js && sh ci/check"}}),
    ".npmrc": "script-shell=sh\n",
    "index.js": "module.exports = 1\n",
    "scripts/run.js": "require('../index.js')\n",
    "runtests.py": "import helper\nimport calc\n",
    "helper.py": "",
    "calc.py": "",
    "sub/Makefile": "all:\n",
}


def started(command: str) -> set[str]:
    found = start_files(
        shlex.split(command), TREE, lambda path: TREE[path].encode(), {"calc.py", "index.js"}.__contains__
    )
    return set(found.paths)


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("sh ci/check {pytest_args}", {"ci/check"}),
        ("./ci/check", {"ci/check"}),
        ("sh ci/all.sh", {"ci/all.sh", "ci/settings.env", "ci/check"}),
        ("make test", {"Makefile", "config.mk", "ci/all.sh", "ci/settings.env", "ci/check", "sub/Makefile"}),
        ("npm test", {"package.json", ".npmrc", "scripts/run.js", "ci/check"}),
        ("python runtests.py", {"runtests.py", "helper.py"}),
        ("env STYLE=point python3.12 -X dev runtests.py", {"runtests.py", "helper.py"}),
        ("tox -p -- {pytest_args}", set()),
    ],
)
def test_a_command_is_followed_through_what_it_names(command: str, paths: set[str]) -> None:
    assert started(command) == paths


@pytest.mark.parametrize(
    ("command", "path", "taken"),
    [
        ("make test", "GNUmakefile", True),
        ("npm test", ".yarnrc", True),
        ("sh ci/all.sh", "bin/python", True),
        ("sh ci/all.sh", "bin/other", False),
        ("make test", "src/other.c", False),
        ("tox", "GNUmakefile", False),
        ("tox", ".env", True),
    ],
)
def test_a_new_file_may_take_over(command: str, path: str, taken: bool) -> None:
    found = start_files(shlex.split(command), TREE, lambda path: TREE[path].encode(), lambda _: False)
    assert found.takes_over(path) is taken


@pytest.mark.parametrize(
    ("path", "change", "same"),
    [
        ("package.json", {"dependencies": {"left-pad": "1"}}, True),
        ("package.json", {"version": "2"}, True),
        ("package.json", {"scripts": {"test": "true"}}, False),
        ("package.json", {"jest": {"testMatch": []}}, False),
        ("other.json", {"version": "2"}, False),
    ],
)
def test_what_a_project_needs_is_no_start(path: str, change: dict[str, object], same: bool) -> None:
    before = {"name": "x", "scripts": {"test": "jest"}}
    assert same_start(path, json.dumps(before).encode(), json.dumps({**before, **change}).encode()) is same


@pytest.mark.parametrize("content", [b"\xff\x00", b"[" * 100_000, b"[1]", b""])
def test_what_cannot_be_read_is_compared_as_it_is(content: bytes) -> None:
    assert same_start("package.json", content, content)
    assert not same_start("package.json", content, b'{"scripts": {}}')
    found = start_files(["npm"], ["package.json"], lambda _: content, lambda _: False)
    assert found.paths == {"package.json"}
