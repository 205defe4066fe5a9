from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from pytest_fireloop.agents.repair.edits import TABLE, Edit, edits_of
from pytest_fireloop.agents.repair.source import Project, SourceFile, read_source

KINDS = {kind.name: kind for kind in TABLE}
#: A kind of edit, a module, and the module after each edit of that kind.
ROWS = [
    ("boundary", "x = a < b <= c\n", ["x = a <= b <= c\n", "x = a < b < c\n"]),
    ("boundary", "if (a  # a < b\n    >= b):\n    pass\n", ["if (a  # a < b\n    > b):\n    pass\n"]),
    ("boolean", "x = a and b and c\n", ["x = a or b and c\n", "x = a and b or c\n"]),
    ("not_dropped", "x = not (a or b) and c\n", ["x = (a or b) and c\n"]),
    ("opposite", "x = a not  in b\n", ["x = a in b\n"]),
    ("opposite", "x = a is None\n", ["x = a is not None\n", "x = a == None\n"]),
    ("opposite", "x = a == b\n", ["x = a != b\n"]),
    ("arguments_swapped", "f(a, b, *c, x=1, y=2)\n", ["f(b, a, *c, x=1, y=2)\n", "f(a, b, *c, x=2, y=1)\n"]),
    ("raise_added", "def f():\n    ValueError('no')\n", ["def f():\n    raise ValueError('no')\n"]),
    (
        "sibling_method",
        "def f(email):\n    return email.strip().lower()\ndef g(email):\n    return email.strip()\n",
        [
            "def f(email):\n    return email.strip().lower().strip()\ndef g(email):\n    return email.strip()\n",
            "def f(email):\n    return email.strip().lower()\ndef g(email):\n    return email.strip().lower()\n",
        ],
    ),
    ("truth_flipped", "x = True\n", ["x = False\n"]),
    ("arithmetic", "x = a * b\n", ["x = a / b\n", "x = a // b\n", "x = a ** b\n"]),
    ("arithmetic", "x += 1\n", ["x -= 1\n"]),
    ("arithmetic", "x = '%s' % (a,)\n", ["x = '%s' // (a,)\n"]),
    ("one_more_or_less", "x = 1\n", ["x = 0\n", "x = 2\n"]),
    ("one_more_or_less", "x = a[-1]\n", ["x = a[0]\n", "x = a[-2]\n"]),
    (
        "near_attribute",
        "class A:\n    def __init__(self, size):\n        self.total_size = size\n    def f(self):\n        return self.totl_size\n",
        [
            "class A:\n    def __init__(self, size):\n        self.total_size = size\n    def f(self):\n        return self.total_size\n"
        ],
    ),
    (
        "near_name",
        "def f(count, counts):\n    return coutn\n",
        ["def f(count, counts):\n    return count\n", "def f(count, counts):\n    return counts\n"],
    ),
    (
        "near_text",
        'x = {"purpose": 1}\ny = x["pupose"]\n',
        ['x = {"pupose": 1}\ny = x["pupose"]\n', 'x = {"purpose": 1}\ny = x["purpose"]\n'],
    ),
    ("counterpart", "x = min(a.lower(), b)\n", ["x = max(a.lower(), b)\n", "x = min(a.upper(), b)\n"]),
    (
        "negated",
        "if a == b:\n    x = c or d\n",
        ["if not (a == b):\n    x = c or d\n", "if a == b:\n    x = not c or d\n", "if a == b:\n    x = c or not d\n"],
    ),
    ("negated", "while a():\n    pass\n", ["while not a():\n    pass\n"]),
    (
        "self_added",
        "class A:\n    def __init__(self):\n        self._rate = 1\n    def f(self):\n        return rate\n",
        ["class A:\n    def __init__(self):\n        self._rate = 1\n    def f(self):\n        return self._rate\n"],
    ),
    ("offset_dropped", "x = a[len(a) - 1]\n", ["x = a[len(a)]\n"]),
    (
        "accumulated",
        "def f():\n    x = 1\n    y += x\n",
        ["def f():\n    x += 1\n    y += x\n", "def f():\n    x = 1\n    y = x\n"],
    ),
    ("operands_swapped", "x = a - b\ny = a + b\n", ["x = b - a\ny = a + b\n"]),
    ("return_added", "def f(a):\n    'doc'\n    a + 1\n", ["def f(a):\n    'doc'\n    return a + 1\n"]),
    (
        "method_called",
        "class A:\n    def size(self): ...\nx = a.size > 1\ny = a.size()\n",
        ["class A:\n    def size(self): ...\nx = a.size() > 1\ny = a.size()\n"],
    ),
    (
        "other_exception",
        "from errors import A, B\nraise A('x')\n",
        [
            "from errors import A, B\nraise B('x')\n",
            "from errors import A, B\nraise ValueError('x')\n",
            "from errors import A, B\nraise TypeError('x')\n",
            "from errors import A, B\nraise KeyError('x')\n",
        ],
    ),
    ("awaited", "async def f():\n    return g() + await h()\n", ["async def f():\n    return await g() + await h()\n"]),
    ("fallback_dropped", "x = a if b else c\n", ["x = c if b else a\n"]),
    ("other_constant", "LOW = 1\nHIGH = 2\nx = LOW\n", ["LOW = 1\nHIGH = 2\nx = HIGH\n"]),
    ("jump_swapped", "for x in y:\n    break\n", ["for x in y:\n    continue\n"]),
    (
        "offset_by_one",
        "x = a[i]\ny = range(n)\nz = f(n)\n",
        [
            "x = a[i - 1]\ny = range(n)\nz = f(n)\n",
            "x = a[i + 1]\ny = range(n)\nz = f(n)\n",
            "x = a[i]\ny = range(n - 1)\nz = f(n)\n",
            "x = a[i]\ny = range(n + 1)\nz = f(n)\n",
        ],
    ),
    (
        "sibling_attribute",
        "class A:\n    b: int\n    c: int\n    def d(self): ...\nx = a.b\n",
        ["class A:\n    b: int\n    c: int\n    def d(self): ...\nx = a.c\n"],
    ),
    (
        "moved_out",
        "def f(x):\n    for y in x:\n        g(y)\n        return y\n",
        ["def f(x):\n    for y in x:\n        g(y)\n    return y\n"],
    ),
    (
        "self_dropped",
        "class A:\n    def f(self, rate):\n        return self.rate\n",
        ["class A:\n    def f(self, rate):\n        return rate\n"],
    ),
    ("operand_dropped", "x = a and b and c\n", ["x = a and b\n", "x = b and c\n"]),
    (
        "guard_added",
        "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return x\n\n\ndef g(x):\n    'doc'\n    return x + 1\n",
        [
            "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return x\n\n\ndef g(x):\n    'doc'\n    if x < 0:\n        raise ValueError(x)\n    return x + 1\n"
        ],
    ),
    ("method_dropped", "x = a.lower()\na.b()\n", ["x = a\na.b()\n"]),
    (
        "moved_in",
        "def f(x):\n    for y in x:\n        g(y)\n    h(y)\n    return y\n",
        ["def f(x):\n    for y in x:\n        g(y)\n        h(y)\n    return y\n"],
    ),
    ("other_local", "def f(a, b):\n    return a\n", ["def f(a, b):\n    return b\n"]),
    ("lookup_softened", "x = a[k]\ny = a[1:2]\n", ["x = a.get(k)\ny = a[1:2]\n"]),
    (
        "other_number",
        "LIMIT = 5\nx = 3\n",
        ["LIMIT = 3\nx = 3\n", "LIMIT = LIMIT\nx = 3\n", "LIMIT = 5\nx = 5\n", "LIMIT = 5\nx = LIMIT\n"],
    ),
    (
        "any_method",
        "def f(a, b):\n    return a\nc.title()\n",
        [
            "def f(a, b):\n    return a.title()\nc.title()\n",
            "def f(a, b):\n    return a.lower()\nc.title()\n",
            "def f(a, b):\n    return a.strip()\nc.title()\n",
            "def f(a, b):\n    return a.copy()\nc.title()\n",
        ],
    ),
    ("other_text", "x = \"one\"\ny = 'two'\n", ["x = \"two\"\ny = 'two'\n", "x = \"one\"\ny = 'one'\n"]),
    ("boundary", "naïve = 'é' if ä < ß else 1\r\nz = 2\r\n", ["naïve = 'é' if ä <= ß else 1\r\nz = 2\r\n"]),
]


def made(name: str, text: str) -> Iterator[str]:
    source = SourceFile("a.py", text)
    project = Project({"a.py": source})
    for node in ast.walk(source.tree):
        for span in KINDS[name].spans(node, source, project):
            yield Edit("a.py", 1, KINDS[name], span, 0.0).apply(text)


@pytest.mark.parametrize(("kind", "before", "after"), ROWS)
def test_kind_makes_exactly_these_edits(kind: str, before: str, after: list[str]) -> None:
    assert list(made(kind, before)) == after


def test_every_kind_of_the_table_is_shown_above() -> None:
    assert {kind for kind, _, _ in ROWS} == set(KINDS)


def test_every_kind_has_a_reason_and_a_prior() -> None:
    assert all(kind.reason and 0 < kind.prior <= 1 for kind in TABLE)


def edits(text: str, scores: dict[int, float]) -> list[Edit]:
    source = SourceFile("a.py", text)
    return edits_of(source, Project({"a.py": source}), scores)


def test_the_most_suspicious_line_and_the_likeliest_kind_come_first() -> None:
    found = edits("x = a < b\ny = c < d\n", {1: 0.5, 2: 1.0})
    assert [(edit.line, edit.kind.name, edit.weight) for edit in found[:3]] == [
        (2, "boundary", 1.0),
        (2, "opposite", 0.8),
        (1, "boundary", 0.5),
    ]


def test_a_line_without_a_score_is_left_alone() -> None:
    assert {edit.line for edit in edits("x = a < b\ny = c < d\n", {2: 1.0})} == {2}


def test_a_part_of_a_long_statement_ranks_by_the_statement() -> None:
    found = edits("x = f(\n    1,\n    a < b,\n)\n", {1: 1.0})
    assert "x = f(\n    1,\n    a <= b,\n)\n" in [edit.apply("x = f(\n    1,\n    a < b,\n)\n") for edit in found]


def test_what_could_destroy_files_is_never_edited() -> None:
    assert edits("shutil.rmtree(a, b)\nos.remove(a if b else c)\n", {1: 1.0, 2: 1.0}) == []


def test_a_name_in_a_formatted_text_is_edited_in_its_place() -> None:
    text = "def f(price, prize):\n    return f'{prise} coins'\n"
    made_here = [edit.apply(text) for edit in edits(text, {2: 1.0}) if edit.kind.name == "near_name"]
    assert made_here == [text.replace("prise", "price"), text.replace("prise", "prize")]


def test_bytes_of_a_file_stay_as_they_are() -> None:
    data = b"# coding: latin-1\r\nname = '\xe9'\r\nx = 1 < 2\r\n"
    source = read_source("a.py", data)
    assert source is not None
    assert source.data == data
    edit = edits_of(source, Project({"a.py": source}), {3: 1.0})[0]
    assert edit.apply(source.text).encode(source.encoding) == data.replace(b"<", b"<=")


@pytest.mark.parametrize("data", [b"x = (\n", b"# coding: nonsense\n", b"\xff\xfe", b"x = '\x00'\n"])
def test_a_file_that_python_cannot_read_is_left_out(data: bytes) -> None:
    assert read_source("a.py", data) is None
