"""The text of a failed comparison, less what depends on verbosity, width and the order of hashes."""

from __future__ import annotations

import re

from .literals import one_order

#: Longer values are cut by pytest when a difference follows; so many characters of both ends it always shows.
WHOLE, HEAD, TAIL = 28, 12, 13
#: The length to which pytest cuts them, with some room for what masks made of them.
WIDTH = 34
#: Values in lines that say where a value came from are cut further on.
LONG = 160
#: Characters that pytest leaves beside a difference.
BESIDE = 8

OPERATOR = re.compile(r" (==|!=|<=|>=|<|>|not in|in|is not|is) ")
QUOTED = re.compile(r"'(?:[^'\\\n]|\\.){0,400}'|\"(?:[^\"\\\n]|\\.){0,400}\"")
#: How much of an explanation pytest shows by default, and what it may be longer without being cut.
LINES, TOLERATED_LINES, CHARACTERS, TOLERATED_CHARACTERS, EDGE = 8, 2, 640, 50, 40
WHERE = re.compile(r" {1,3}\+ {1,40}(?:where|and) ")
DROPPED = re.compile(
    r"\s{0,8}(?:Omitting \d{1,9} |Skipping \d{1,9} |Use -vv? to |\.\.\.Full output truncated|"
    r"\? |Strings contain only whitespace|(?:identical|same) as )"
)
#: Headers of what is equal, shown at `-vv` only, and of the whole difference, which says once more what is different.
EQUAL = ("Common items:", "Matching attributes:")
WHOLE_DIFF = ("Full diff", "Full Diff")
UNORDERED = re.compile(
    r"Extra items in the (?:left|right) set:|Differing items:|(?:Left|Right) contains \d{1,9} more items?:|"
    r"Items in the (?:first|second) set but not the (?:first|second):|Both sets are equal|"
    r"(?:Missing|Unexpected|Extra|Differing) (?:keys|items|values|elements|fields)\b[^\n]{0,80}:$"
)
#: What was measured with a clock is not the same twice, whatever it is compared with.
MEASURED = re.compile(
    r"elapsed|duration|took|latency|perf_counter|monotonic|seconds|\btime\b|_time\b|\bspent\b", re.IGNORECASE
)
EXACT_NUMBER = re.compile(r"(?<![\w.])\d{1,9}\.\d{4,20}(?:e-?\d{1,3})?\b|\b\d\.?\d{0,17}e-\d{1,3}\b|timedelta\([^()\n]{0,60}microseconds=\d{1,6}\)")  # fmt: skip


def assertion(lines: list[str], statement: str) -> list[str]:
    """Return the stable lines of `assert …` with its explanation, its origins and its notes."""
    shown, origins, notes = _parts(lines[1:])
    left, operator, right = operands(lines[0])
    explanation = []
    if any(line.strip() for line in shown) and operator:
        width = sum(min(len(side), WIDTH) for side in (left, right)) + len(f"assert  {operator} ")
        explanation = _explanation(shown, width, is_text=left.startswith(("'", '"')))
        told = any(line.strip() for line in explanation)
        left, right = _operand(left, told), _operand(right, told)
    else:
        left, right = (one_order(side, shorten=True) for side in (left, right))
    summary = f"assert {left} {operator} {right}"
    if MEASURED.search(statement) and operator in {"<", ">", "<=", ">="}:
        summary = f"assert {EXACT_NUMBER.sub('<measured>', left)} {operator} {EXACT_NUMBER.sub('<measured>', right)}"
        origins = [EXACT_NUMBER.sub("<measured>", line) for line in origins]
    return [
        summary,
        *explanation,
        *(_cut(one_order(" ".join(line.split()), shorten=True), LONG) for line in origins),
        *notes,
    ]


def comparison(lines: list[str]) -> list[str]:
    """Return the stable lines of a comparison that is not pytest's: unittest's, a mock's, numpy's."""
    return [one_order(line) for line in _sections(_differences([line for line in lines if line.strip()], whole=True))]


def _parts(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Split what follows the summary: indented explanation, lines of origin, and notes added to the exception."""
    shown: list[str] = []
    origins: list[str] = []
    notes: list[str] = []
    for line in lines:
        if WHERE.match(line):
            origins.append(line)
        elif notes or (line and not line.startswith("  ")):
            notes += [line.rstrip()] if line.strip() else []
        else:
            shown.append(line[2:])
    return shown, origins, notes


def _explanation(lines: list[str], width: int, is_text: bool) -> list[str]:
    by_default, cut = _as_by_default(lines)
    if is_text:
        by_default = _from_first_change(by_default)
    shown, cut = _as_truncated(by_default, cut, width)
    kept = [line for line in shown if line.strip(" .") and not DROPPED.match(line)]
    return [one_order(line, shorten=True) for line in _sections(_differences(kept, whole=False, cut=cut), cut)]


def _as_by_default(lines: list[str]) -> tuple[list[str], bool]:
    """Undo what verbosity adds, and tell whether lines are missing at the end."""
    kept: list[str] = []
    equal = False
    for line in lines:
        if line.startswith(WHOLE_DIFF):
            while kept and not kept[-1].strip():
                kept.pop()
            return [*kept, "Use -v to get more diff"], False
        if line.startswith("...Full output truncated"):
            while kept and not kept[-1].strip():
                kept.pop()
            if kept and kept[-1].endswith("..."):
                kept[-1] = kept[-1][:-3]
            return kept, True
        header = line.rstrip().endswith(":") and not line.startswith((" ", "-", "+", "{", "[", "("))
        equal = line.startswith(EQUAL) or (equal and not header)
        if not equal:
            kept.append(line)
        elif line.startswith(EQUAL):
            kept.append("Omitting 1 identical items")
    return kept, False


def _from_first_change(lines: list[str]) -> list[str]:
    """Leave out what two texts have in common before they differ, which pytest skips unless it is told not to."""
    first = next((number for number, line in enumerate(lines) if line[:2] in {"- ", "+ ", "-", "+"}), len(lines))
    return [line for line in lines[:first] if line[:2] != "  "] + lines[first:]


def _as_truncated(lines: list[str], cut: bool, width: int) -> tuple[list[str], bool]:
    """Cut an explanation where pytest cuts it for people: continuous integration and `-vv` show all of it."""
    if not cut and len(lines) + 1 > LINES + TOLERATED_LINES:
        lines, cut = lines[: LINES - 1], True
    left = CHARACTERS - width
    if sum(map(len, lines)) > left + (0 if cut else TOLERATED_CHARACTERS) - (EDGE if cut else 0):
        kept = []
        for line in lines:
            left -= len(line)
            if left < EDGE:
                break  # where exactly a line is cut depends on names that differ between machines
            kept.append(line)
        return kept, True
    return lines, cut


def _sections(lines: list[str], cut: bool = False) -> list[str]:
    """Sort what stands below a header of something without an order; of what is cut any part may be missing."""
    made: list[str] = []
    items: list[str] = []
    unordered = False
    for line in lines:
        if unordered and not UNORDERED.match(line):
            items.append(one_order(line.strip()))
            continue
        made += sorted(items)
        items = []
        unordered = UNORDERED.match(line) is not None
        made.append(line)
    return made if cut else made + sorted(items)


def _differences(lines: list[str], whole: bool, cut: bool = False) -> list[str]:
    """Reduce a difference of lines to what changed in it; of what is cut only the first change is always shown."""
    changed = [line for line in lines if line[:1] in {"-", "+"} and line[1:2] in {" ", ""}]
    is_diff = all(any(line[0] == sign for line in changed) for sign in "-+") or any(line[:1] == " " for line in lines)
    if not changed or (whole and not is_diff):
        return lines
    others = [line for line in lines if line[:1] not in {"-", "+", "?", " "}]
    first: list[str] = []
    index = 0
    while index < len(changed):
        one = changed[index]
        other = changed[index + 1] if index + 1 < len(changed) else ""
        if one[0] == "-" and other[:1] == "+":
            first += _trimmed(one, other)
            index += 2
        else:
            first.append(one.rstrip() if whole else one[:60].rstrip())
            index += 1
        if cut:
            break
    return others + first


def _trimmed(minus: str, plus: str) -> list[str]:
    """Keep of two lines what differs with a little on both sides: pytest skips the rest when it is long."""
    left, right = minus[2:], plus[2:]
    shortest = min(len(left), len(right))
    start = 0
    while start < shortest and left[start] == right[start]:
        start += 1
    end = 0
    while end < shortest - start and left[-1 - end] == right[-1 - end]:
        end += 1
    begin, rest = max(0, start - BESIDE), max(0, end - BESIDE)
    return [f"- {left[begin : len(left) - rest]}", f"+ {right[begin : len(right) - rest]}"]


def operands(summary: str) -> tuple[str, str, str]:
    """Split at the operator: of values cut in the middle by their length, else outside of strings and brackets."""
    bare = summary[len("assert ") :]
    if "..." in bare:
        # where a value was cut, brackets and quotes no longer match
        for found in OPERATOR.finditer(bare):
            if found.start() <= WIDTH and len(bare) - found.end() <= WIDTH:
                return bare[: found.start()], found[1], bare[found.end() :]
    if bare.startswith(("'", '"')):
        # a text too long to be matched as one
        for found in OPERATOR.finditer(bare):
            if found.start() > 1 and bare[found.start() - 1] == bare[0]:
                return bare[: found.start()], found[1], bare[found.end() :]
    plain = QUOTED.sub(lambda found: "_" * len(found[0]), bare)
    first = None
    for found in OPERATOR.finditer(plain):
        first = first or found
        before = plain[: found.start()]
        if all(before.count(one) == before.count(other) for one, other in ("()", "[]", "{}")):
            first = found
            break
    return (bare[: first.start()], first[1], bare[first.end() :]) if first else (bare, "", "")


def _operand(text: str, told: bool) -> str:
    """Return a side of a comparison; where what differs is told below, a long one says no more than its type."""
    text = text.strip()
    if "..." not in text or len(text) > WIDTH:
        text = one_order(text, shorten=True)
    if told and text.startswith("{") and ": " in text:
        return "{}"  # what pytest shows of a dictionary depends on width and release
    if len(text) <= WHOLE and "..." not in text:
        return text
    if text[:1] in {"'", '"'}:
        return "'…'" if told else f"{text[:HEAD]}…{text[-TAIL:]}"
    return f"{text[:1]}…" if told and text[:1] in {"[", "(", "{"} else f"{text[:HEAD]}…"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit // 2]
