"""Replaces the values of this machine and this run wherever they stand as whole words."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache

#: The name under which the time of the run's start is known, in seconds since 1970.
START = "<start>"
USER = "<user>"
PID = "<pid>"
#: Numbers of processes below this, as containers have them, are also small counts: they stand for one where the text says so.
FIRST_PID = 1_000
PID_PLACE = r"(?i:(?<=\bpid )|(?<=\bpid=)|(?<=\bpid:)|(?<=\bpid: )|(?<=\bpid = )|(?<=\bpid\[)|(?<=\bprocess )|(?<=\bprocess=)|(?<=\bprocess id ))"
#: Users whose names are words that programs use for much else; they stand for a user as a part of a path only.
WORDS = frozenset(
    {"root", "admin", "app", "runner", "test", "tester", "user", "users", "dev", "build", "ci", "web", "www", "data"}
)
#: Where temporary files and homes are, for text that names a place which is not this machine's own.
PLACES = (
    (re.compile(r"/(?<![\w/.>].)(?:private/)?(?:var/)?tmp(?=/)"), "<tmp>"),
    (re.compile(r"/(?<![\w/.>].)(?:root|(?:home|Users)/[a-z_][\w-]{0,30})(?=[/'\"\s:,)]|$)"), "<home>"),
)
#: Users whose names are words that a text may mean otherwise stand for a user only in such a place.
USER_PLACE = r"(?:(?<=[/\\'\"=@:(~])|(?<=\buser )|(?<=\brole )|(?<=\bowner )|(?<=\blogin )|(?<=\bfor )|(?<=\bby ))"
DAY = 86_400
MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}  # noqa: SIM905 - read better so

ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
CLOCK = r"\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
TIMES = (
    re.compile(r"\b(\d{4})-(\d\d)-(\d\d)(?:[T _]" + CLOCK + ZONE + r")?(?![\w-])"),
    re.compile(r"\b(\d{4})(\d\d)(\d\d)(?:[T_-]?\d{6}(?:\d{3,6})?Z?)?(?!\d)"),
    re.compile(r"\b(\d{4})/(\d\d)/(\d\d)(?: " + CLOCK + ZONE + ")?"),
    re.compile(r"\bdate(?:time)?\((\d{4}), (\d{1,2}), (\d{1,2})(?:, \d{1,2}){0,4}(?:, \d{1,6})?(?:, (?:fold=1|tzinfo=[^()\n]{1,60}(?:\([^()\n]{0,60}\))?))?\)"),
)  # fmt: skip
NAMED = (
    re.compile(r"\b(?:\w{3}, )?(\d{1,2})[ /-]([A-Z][a-z]{2})[ /-](\d{4})(?:[ :]" + CLOCK + ZONE + ")?"),
    re.compile(r"\b(?:\w{3} )?([A-Z][a-z]{2}) {1,2}(\d{1,2}) " + CLOCK + r" (\d{4})\b"),
)
#: Seconds, milliseconds, microseconds or nanoseconds since 1970, for the years 2001 to 2033 and on.
EPOCH = re.compile(r"(?<![\w.])(1\d{9})(?:\d{3}|\d{6}|\d{9})?(?:\.\d{1,9})?(?![\w])")
#: A time so exact was read from a clock, whenever that was.
EXACT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,](?!0{3,9}(?!\d))\d{3,9}" + ZONE)
ANY = re.compile(r"\d{4}-\d\d-\d\d[T ]" + CLOCK + ZONE)


def replace_known(text: str, known: tuple[tuple[str, str], ...], loose: bool = True) -> str:
    """Replace values (value, name) by their names, and times near the run's start by one word."""
    start = None
    # the longest first, for a home holds the root
    for value, name in sorted(known, key=lambda pair: (-len(pair[0]), pair[0])):
        if name == START:
            start = _number(value)
            continue
        for spelling in (value, value.replace("\\", "\\\\")):
            if value and spelling in text:
                text = _pattern(spelling, name).sub(name, text)
    if "/" in text:
        for pattern, name in PLACES:
            text = pattern.sub(name, text)
    return _without_times(text, start, loose)


@lru_cache(maxsize=256)
def _pattern(value: str, name: str) -> re.Pattern[str]:
    place = r"(?<![\w<-])"
    if name == USER:
        place = r"(?<=[/\\])" if value.lower() in WORDS else USER_PLACE
    elif name == PID and len(value) < len(str(FIRST_PID)):
        place = PID_PLACE
    # a name may end a sentence, but `/srv/shop` is no part of `/srv/shop2` or `/srv/shop.old`
    end = "" if value.endswith("/") else r"(?![\w-]|\.\w)"
    return re.compile(place + re.escape(value) + end)


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _without_times(text: str, start: float | None, loose: bool) -> str:
    if start is None:
        return ANY.sub("<time>", text) if loose else text
    first = dt.date(1970, 1, 1).toordinal() + int(start // DAY)

    def near(found: re.Match[str], year: str, month: int, day: str) -> str:
        try:
            away = abs(dt.date(int(year), month, int(day)).toordinal() - first)
        except ValueError:
            return found[0]
        # a day either way, for time zones and for runs over midnight
        return "<time>" if away <= 1 else found[0]

    if any(str(dt.date.fromordinal(day).year) in text for day in (first - 1, first + 1)):
        for pattern in TIMES:
            text = pattern.sub(lambda found: near(found, found[1], int(found[2]), found[3]), text)
        text = NAMED[0].sub(lambda found: near(found, found[3], MONTHS.get(found[2].lower(), 0), found[1]), text)
        text = NAMED[1].sub(lambda found: near(found, found[3], MONTHS.get(found[1].lower(), 0), found[2]), text)
    if any(str(int(start) + away)[:5] in text for away in (-DAY, 0, DAY)):
        text = EPOCH.sub(lambda found: "<time>" if abs(int(found[1]) - start) <= DAY else found[0], text)
    return EXACT.sub("<time>", text) if loose and ":" in text and "-" in text else text
