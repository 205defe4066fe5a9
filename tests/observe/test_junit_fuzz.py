"""A thousand damaged or random JUnit files: an error in one line or a decision each, and no green without evidence."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pytest_fireloop.cli.fireloop import main

DATA = Path(__file__).parents[1] / "data" / "junit"
SEEDS = range(1_000)
PASS = b'<testsuites tests="2"><testsuite name="s" tests="2"><testcase name="a"/><testcase name="b"/></testsuite></testsuites>'
NUMBERS = ("-1", "0", "NaN", "inf", "1e308", "9" * 40, "", " ", "0x10", "\u0663", "1.5", "None")
TAGS = ("testsuites", "testsuite", "testcase", "failure", "error", "skipped", "flakyFailure", "rerunError", "properties",
        "property", "system-out", "x")  # fmt: skip
ATTRIBUTES = ("name", "classname", "time", "tests", "failures", "errors", "skipped", "status", "result", "type", "message",
              "hostname", "timestamp", "value")  # fmt: skip
#: What may hold elements that are no part of the report.
HIDING = ("system-out", "system-err", "testcase", "failure", "error", "skipped", "flakyFailure", "rerunError", "x")
#: What lies in an attempt that was mended is its own.
MENDED = frozenset({"flakyFailure", "flakyError", "rerunFailure", "rerunError"})
ENCODINGS = ("utf-16", "utf-7", "cp037", "ascii", "big5", "hex", "unicode_escape", "utf-32")


def bytes_changed(draw: random.Random, content: bytes) -> bytes:
    damaged = bytearray(content)
    for _ in range(draw.randrange(1, 6)):
        start = draw.randrange(len(damaged) or 1)
        damaged[start : start + draw.randrange(1, 60)] = draw.randbytes(draw.randrange(4))
    return bytes(damaged)


def cut(draw: random.Random, content: bytes) -> bytes:
    return content[: draw.randrange(len(content))]


def doubled(draw: random.Random, content: bytes) -> bytes:
    start = draw.randrange(len(content))
    end = draw.randrange(start, len(content))
    return content[:end] + content[start:]


def numbers_changed(draw: random.Random, content: bytes) -> bytes:
    def other(found: re.Match[bytes]) -> bytes:
        return found[1] + draw.choice(NUMBERS).encode() + b'"' if draw.random() < 0.3 else found[0]

    return re.sub(rb'((?:tests|failures|errors|skipped|time|line)=")[^"]*"', other, content)


def recoded(draw: random.Random, content: bytes) -> bytes:
    name = draw.choice(ENCODINGS)
    head = f'<?xml version="1.0" encoding="{name}"?>'
    text = head + content.decode("utf-8", "replace").partition("?>")[2]
    return text.encode(name if name != "hex" and draw.random() < 0.5 else "utf-8", "replace")


def structure_changed(draw: random.Random, content: bytes) -> bytes:
    root = ET.fromstring(content)
    for _ in range(draw.randrange(1, 12)):
        nodes = list(root.iter())
        node, other = draw.choice(nodes), draw.choice(nodes)
        kind = draw.randrange(5)
        if kind == 0:
            node.tag = draw.choice(TAGS)
        elif kind == 1:
            node.set(draw.choice(ATTRIBUTES), draw.choice((*NUMBERS, "fail", "notrun", "a::b: c", "x" * 3000)))
        elif kind == 2 and len(other):
            other.remove(draw.choice(list(other)))
        elif kind == 3 and all(other is not each for each in node.iter()):
            other.append(node)
        else:
            node.attrib.pop(draw.choice(ATTRIBUTES), None)
        if len(nodes) > 2_000:
            break
    return ET.tostring(root)


def nonsense(draw: random.Random, _: bytes) -> bytes:
    def grown(depth: int) -> str:
        tag = draw.choice(TAGS)
        said = "".join(f' {name}="{draw.choice(NUMBERS)}"' for name in draw.sample(ATTRIBUTES, draw.randrange(4)))
        inner = "".join(grown(depth - 1) for _ in range(draw.randrange(4))) if depth else draw.choice(("", "text"))
        return f"<{tag}{said}>{inner}</{tag}>"

    return grown(draw.randrange(1, 7)).encode()


def nested(draw: random.Random, content: bytes) -> bytes:
    depth = draw.choice((10, 150, 5_000))
    inner = re.sub(rb"^<\?xml[^>]*\?>", b"", content)
    return b"<testsuites>" + b'<testsuite name="n">' * depth + inner + b"</testsuite>" * depth + b"</testsuites>"


KINDS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    bytes_changed, cut, doubled, numbers_changed, recoded, structure_changed, nonsense, nested,
)  # fmt: skip


def evidence(content: bytes) -> bool:
    """Whether a file, as another reader sees it, holds a test, and none that its runner calls red."""
    try:
        root = ET.fromstring(content)
    except (ET.ParseError, LookupError, ValueError):
        # the other reader knows fewer encodings
        return b"encoding" in content[:200] and b"testcase" in content
    cases = [node for node in root.iter() if local(node) == "testcase"]
    mended = {inner for node in root.iter() if local(node) in MENDED for inner in node.iter()}
    expected = {inner for case in cases if is_expected(case) for inner in case.iter()}
    red = {node for node in root.iter() if local(node) in {"failure", "error"}} - mended - expected
    hidden = {inner for node in root.iter() if node.tag in HIDING for inner in node.iter() if inner is not node}
    seen = [case for case in cases if case not in hidden]
    return bool(seen) and not red


def local(node: ET.Element) -> str:
    return node.tag.rpartition("}")[2]


def is_expected(case: ET.Element) -> bool:
    return any(child.tag == "skipped" and child.get("type") in {"todo", "pytest.xfail"} for child in case)


def test_a_thousand_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources = [*(path.read_bytes() for path in sorted(DATA.glob("*.xml"))), *[PASS] * 6]
    reds = [path.read_bytes() for path in sorted(DATA.glob("*.xml"))]
    path = tmp_path / "damaged.xml"
    codes: dict[int, int] = {}
    for seed in SEEDS:
        draw = random.Random(seed)
        content = KINDS[seed % len(KINDS)](draw, draw.choice(sources))
        path.write_bytes(content)
        code = main(["decide", str(path)])
        captured = capsys.readouterr()
        codes[code] = codes.get(code, 0) + 1
        assert code in {0, 1, 4, 5, 10, 11, 13}, (seed, captured.err)
        if code == 4:
            assert (captured.out, captured.err.count("\n")) == ("", 1), seed
            assert "damaged.xml" in captured.err, seed
        else:
            assert captured.out.rstrip().endswith(f"(exit {code})"), seed
        if code == 0:
            assert evidence(content), seed
    assert codes.keys() >= {0, 1, 4, 5, 13}
    # of red files, however they are cut, none is green
    for seed, content in enumerate(reds):
        for size in range(0, len(content) - 20, max(1, len(content) // 10)):
            path.write_bytes(content[:size])
            assert main(["decide", str(path)]) == 4, (seed, size)
