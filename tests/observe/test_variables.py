"""Product that sets what the tests read of their surroundings, or asks who started them."""

from __future__ import annotations

import pytest

from pytest_fireloop.observe.integrity.compare import compare
from pytest_fireloop.observe.test_files import is_configuration, is_test_file

TESTS = (
    "import os\nimport calc\n"
    "def test_mark():\n    assert calc.shown(1.5) == {'point': '1.5', 'comma': '1,5'}[os.environ['STYLE']]\n"
    "def test_home(monkeypatch):\n    monkeypatch.setenv('CALC_HOME', 'x')\n    assert os.getenv('LEVEL', '1') == '1'\n"
)
OLD = "import os\n\n\ndef shown(number):\n    return str(number)\n"


def kinds(new: str) -> list[str]:
    found = compare(
        {"calc.py": OLD.encode()},
        {"calc.py": new.encode()},
        is_test=is_test_file,
        is_configuration=is_configuration,
        tests={"test_calc.py": TESTS.encode()},
        held=["calc.py", "test_calc.py"],
    )
    return [finding.kind for finding in found]


@pytest.mark.parametrize(
    "line",
    [
        "os.environ['STYLE'] = 'point'\n",
        "os.environ['ST' + 'YLE'] = 'point'\n",
        "os.environ.update(STYLE='point')\n",
        "os.environ.update({'STYLE': 'point'})\n",
        "os.putenv('LEVEL', '1')\n",
        "if True:\n    os.environ['STYLE'] = 'point'\n",
        "class Calc:\n    os.environ['STYLE'] = 'point'\n",
        "del os.environ['STYLE']\n",
    ],
)
def test_an_import_that_sets_what_the_tests_read_is_a_blocker(line: str) -> None:
    assert set(kinds(OLD + line)) - {"special_case"} == {"environment_set"}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("def use(style):\n    os.environ['STYLE'] = style\n", ["environment_written"]),
        ("os.environ['CALC_CACHE'] = 'x'\n", []),
        ("os.environ.setdefault('STYLE', 'point')\n", []),
        ("style = os.environ['STYLE']\n", []),
        ("os.environ.update(load())\n", []),
    ],
)
def test_what_an_honest_product_does_with_variables(line: str, found: list[str]) -> None:
    assert kinds(OLD + line) == found


@pytest.mark.parametrize(
    "name",
    [
        "TOX_ENV_NAME",
        "TOX_WORK_DIR",
        "NOX_CURRENT_SESSION",
        "HATCH_ENV_ACTIVE",
        "MAKELEVEL",
        "MAKEFLAGS",
        "npm_lifecycle_event",
    ],
)
@pytest.mark.parametrize("asked", ["os.environ.get({!r})", "{!r} in os.environ", "os.getenv({!r})"])
def test_a_product_that_asks_who_started_it_is_found(name: str, asked: str) -> None:
    assert kinds(f"{OLD}HIDDEN = {asked.format(name)}\n") == ["environment_probe"]


@pytest.mark.parametrize(
    "line", ["COLUMN = 'TOX_LEVEL'\n", "MESSAGE = 'set MAKEFLAGS to build faster'\n", "os.getenv('tox_score')\n"]
)
def test_words_that_look_alike_are_none(line: str) -> None:
    assert kinds(OLD + line) == []
