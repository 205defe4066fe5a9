"""What can be read from a failure as pytest prints it, in any of its styles, where the exception is out of reach."""

from __future__ import annotations

import re
from typing import NamedTuple

from .colour import without_colour

LIBRARY = re.compile(r"[/\\](?:site-packages|dist-packages|_pytest)[/\\]|^<|[/\\]lib[/\\]python3")
LONG = re.compile(r"([^\s:'\"<>][^:\n]{0,400}):(\d{1,7}): ?(?:in (\S{1,200})|[\w.]{0,200})$")
NATIVE = re.compile(r"\s{0,40}File \"([^\"\n]{1,400})\", line (\d{1,7}),? in (\S{1,200})")
#: How the source of a function begins, which pytest shows whole with `--tb=long`.
DEFINITION = re.compile(r"(?:[> ] {3})?(?:async )?def (\w{1,200})\(")
BROKEN = re.compile(r"(?:E\s{1,8})?\s{0,8}File \"([^\"\n]{1,400})\", line \d{1,7}$")
LINKS = re.compile(
    r"^(?:The above exception was the direct cause of the following exception:|"
    r"During handling of the above exception, another exception occurred:)$",
    re.MULTILINE,
)
EXCEPTION = re.compile(r"([A-Za-z_][\w.]{0,200})(?:: |:?$)")
TREE = re.compile(r"^[ |]{0,80}\+-[+-]{0,4}-{2,80} ?(?:\d{1,4}|\.\.\.)? ?-{0,80}$")
BRANCH = re.compile(r"^[ ]{0,80}[|] ?")
#: Characters that are looked at, half of them at the end, where the failure's place is; and lines.
LIMIT, LINES = 60_000, 2_000
LEAVES_LIMIT = 50
MESSAGE_LIMIT = 2_000


class Place(NamedTuple):
    """One frame of the project's own code, as it is printed; function and source as far as they are shown."""

    path: str
    function: str
    statement: str
    line: int = 0


def own_places(text: str, root: str) -> list[Place]:
    """Return the frames of the project in a printed traceback, outermost first, for long, short and native styles."""
    places: list[Place] = []
    lines = _lines(text)
    pending = defined = ""
    for number, line in enumerate(lines):
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        opened = DEFINITION.match(line)
        # a report may strip the text, and with it what stands before its first line
        if opened is not None and (number == 0 or line.startswith((" ", ">"))):
            defined = opened[1]
        if line.startswith(">"):
            pending = line[1:].strip()
        if line.startswith(">") or opened is not None:
            continue
        native = NATIVE.match(line)
        found = native or LONG.match(line)
        if found is None:
            continue
        path = _own(found[1], root)
        if native is not None:
            function, statement = native[3], "" if following.startswith("File ") else following
        elif found[3]:
            function, statement = found[3], following
        else:
            function, statement = defined, pending
        pending = defined = ""
        if path is not None:
            places.append(Place(path, function, statement, int(found[2])))
    return places


def chained_places(text: str, root: str) -> list[tuple[str, str]]:
    """Return (path, statement) where each of the chained causes was raised, the nearest cause first."""
    found = []
    for part in reversed(parts(text)[:-1]):
        places = own_places(part, root)
        found.append((places[-1].path, places[-1].statement) if places else ("", ""))
    return found


def broken_source(text: str, root: str) -> tuple[str, str]:
    """Return path and source line of what cannot be compiled, empty when they are not shown."""
    lines = _lines(text)
    for number, line in enumerate(lines[:-1]):
        found = BROKEN.match(line)
        if found is not None:
            return _own(found[1], root) or found[1].rpartition("/")[2], lines[number + 1].lstrip("E ").strip()
    return "", ""


def leaves(text: str) -> tuple[tuple[str, str], ...]:
    """Return types and texts of what a printed exception group holds, sorted, for tasks end in any order."""
    found: list[tuple[str, str]] = []
    block: list[str] = []
    inside = False
    for line in [*_lines(text), "+---- end ----"]:
        if TREE.match(line) or line == "+---- end ----":
            if inside and block:
                found += _leaf(block)
            inside, block = True, []
        elif inside:
            bare = line
            while BRANCH.match(bare):
                bare = BRANCH.sub("", bare, count=1)
            block.append(bare)
        if len(found) >= LEAVES_LIMIT:
            break
    return tuple(sorted(found))


def doctest_lines(text: str) -> str:
    """Return the failing example with what was expected and got, less the lines before it and their numbers."""
    lines = [re.sub(r"^\d{3,6} ", "", line) for line in _lines(text)]
    examples = [number for number, line in enumerate(lines) if line.lstrip().startswith(">>>")]
    if not examples:
        return text
    return "\n".join(line for line in lines[examples[-1] :] if not LONG.match(line))


def _leaf(block: list[str]) -> list[tuple[str, str]]:
    """Read one exception of a group: its name and text follow its frames, which are indented."""
    for number, line in enumerate(block):
        name = EXCEPTION.match(line)
        if name is None or line.startswith(("Traceback", "Exception Group Traceback")):
            continue
        if name[1].endswith("ExceptionGroup"):
            return [(name[1], re.sub(r"\(\d{1,6} sub-exceptions?\)", "", line))]
        places = own_places("\n".join(block[:number]), "")
        where = [(f"at {places[-1].function}", places[-1].statement)] if places else []
        return [(name[1], "\n".join(block[number:])[:MESSAGE_LIMIT]), *where]
    return []


def _own(path: str, root: str) -> str | None:
    """Return the path below the root, None for a library's."""
    if LIBRARY.search(path):
        return None
    if root and path.startswith(f"{root}/"):
        return path[len(root) + 1 :]
    return None if root and path.startswith("/") else path


def parts(text: str) -> list[str]:
    """Split a printed chain of exceptions, the first cause first, at what Python writes between them."""
    plain = _plain(text)
    return LINKS.split(plain) if "exception" in plain else [plain]


def _lines(text: str) -> list[str]:
    """Return the lines that are looked at: all of them, or as many at the start as at the end."""
    lines = _plain(text).split("\n")
    return lines if len(lines) <= LINES else [*lines[: LINES // 2], *lines[-LINES // 2 :]]


def _plain(text: str) -> str:
    if len(text) > LIMIT:
        text = f"{text[: LIMIT // 2]}\n{text[-LIMIT // 2 :]}"
    return without_colour(text).replace("\r\n", "\n")
