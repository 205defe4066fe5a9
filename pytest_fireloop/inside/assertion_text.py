"""The text of a failed comparison, less what depends on verbosity, width and the order of hashes."""

from __future__ import annotations

import re

from .literals import one_order

#: Longer values are cut by pytest when a difference follows; so many characters of both ends it always shows.
WHOLE, HEAD, TAIL = 28, 12, 13
#: Values in lines that say where a value came from are cut further on.
LONG = 160
#: Changed lines that are always shown; of a longer difference only the first change is.
SHOWN_LINES = 4
#: Characters that pytest leaves beside a difference.
BESIDE = 8

OPERATOR = re.compile(r" (==|!=|<=|>=|<|>|not in|in|is not|is) ")
QUOTED = re.compile(r"'(?:[^'\\\n]|\\.){0,400}'|\"(?:[^\"\\\n]|\\.){0,400}\"")
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
    explanation = _explanation(shown)
    summary = one_order(lines[0], shorten=True)
    if explanation:
        summary = _cut_operands(summary)
    if MEASURED.search(statement):
        left, operator, right = _operands(summary)
        if operator in {"<", ">", "<=", ">="}:
            summary = f"{EXACT_NUMBER.sub('<measured>', left)} {operator} {EXACT_NUMBER.sub('<measured>', right)}"
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


def _explanation(lines: list[str]) -> list[str]:
    kept: list[str] = []
    equal = False
    cut = any("Full output truncated" in line for line in lines)
    for line in lines:
        if line.startswith(WHOLE_DIFF):
            break
        if not line.strip() or DROPPED.match(line):
            continue
        header = line.rstrip().endswith(":") and not line.startswith((" ", "-", "+", "{", "[", "("))
        equal = line.startswith(EQUAL) or (equal and not header)
        if not equal:
            kept.append(line)
    if cut and kept and kept[-1].endswith("..."):
        kept[-1] = kept[-1][:-3]
    return [one_order(line, shorten=True) for line in _sections(_differences(kept, whole=False))]


def _sections(lines: list[str]) -> list[str]:
    """Sort what stands below a header of something without an order."""
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
    return made + sorted(items)


def _differences(lines: list[str], whole: bool) -> list[str]:
    """Reduce a difference of lines to what changed in it."""
    changed = [line for line in lines if line[:1] in {"-", "+"} and line[1:2] in {" ", ""}]
    if not changed or (whole and not all(any(line[0] == sign for line in changed) for sign in "-+")):
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
        if not whole and len(changed) > SHOWN_LINES:
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


def _operands(summary: str) -> tuple[str, str, str]:
    """Split at the first operator that stands in no string and no bracket, else at the first that stands anywhere."""
    bare = QUOTED.sub(lambda found: "_" * len(found[0]), summary)
    first = None
    for found in OPERATOR.finditer(bare):
        before = bare[: found.start()]
        first = first or found
        if all(before.count(one) == before.count(other) for one, other in ("()", "[]", "{}")):
            first = found
            break
    if first is None:
        return summary, "", ""
    return summary[: first.start()], first[1], summary[first.end() :]


def _cut_operands(summary: str) -> str:
    left, operator, right = _operands(summary)
    left = left.removeprefix("assert ")
    return f"assert {_operand(left)} {operator} {_operand(right)}"


def _operand(text: str) -> str:
    text = text.strip()
    if text.startswith(("{", "frozenset(", "set(")):
        return "{}"  # what differs follows, and what pytest shows here depends on order and width
    if len(text) <= WHOLE and "..." not in text:
        return text
    return f"{text[:HEAD]}…{text[-TAIL:]}" if text[:1] in {"'", '"'} else f"{text[:HEAD]}…"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit // 2]
