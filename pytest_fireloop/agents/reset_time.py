"""When a limit ends, read from what an agent says about it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from pytest_fireloop.agents.failure import normal

#: No agent's limit lasts longer; what names a later time is misread.
LONGEST_S = 7 * 86400.0
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_EPOCH = re.compile(r"(?:\||resets?_?at\W{1,4}|reset\W{1,3})(\d{10,13})\b")
_PART = r"(\d{1,9}(?:\.\d{1,6})?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)"
_SPAN = re.compile(
    r"(?:try again|retry(?:ing)?|resets?|wait|available|reset)(?:[ _-]?(?:after|in|for))*\W{1,4}"
    rf"((?:{_PART}(?:,? (?:and )?|)){{1,4}})(?![a-z\d])"
)
_PARTS = re.compile(_PART)
_BARE = re.compile(r"(?:retry[ _-]?after|resets_in_seconds)\W{1,4}(\d{1,9}(?:\.\d{1,6})?)\b")
_CLOCK = re.compile(
    r"(?:try again at|resets?(?: at| on)?|available (?:again )?at)[ :]*"
    rf"(?:(?P<weekday>{'|'.join(_DAYS)})[a-z]{{0,6}},? )?"
    rf"(?:(?P<month>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?:(?P<year>\d{{4}}),? )?)?"
    r"(?:at )?(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))? ?(?P<half>[ap])?\.?m?\.?(?: ?\((?P<zone>[a-z_/+\-0-9]{1,40})\)| (?P<utc>utc|gmt)\b)?"
)


def reset_at(text: str, now: float, zone: tzinfo | None = None) -> float | None:
    """Return when a limit ends, in seconds since 1970, or None where the text does not say.

    A clock without a zone is in `zone`, else in the machine's.
    """
    plain = normal(text)
    if found := _EPOCH.search(plain):
        return epoch(float(found[1]), now)
    if found := _BARE.search(plain):
        return _bounded(now + float(found[1]), now)
    if found := _SPAN.search(plain):
        return _bounded(now + sum(float(size) * _unit(unit) for size, unit in _PARTS.findall(found[1])), now)
    if found := _CLOCK.search(plain):
        return _clock(found, now, zone)
    return None


def epoch(value: float | None, now: float) -> float | None:
    """Return a time that is given as a number, in seconds or milliseconds since 1970."""
    if value is None or value <= 0:
        return None
    return _bounded(value / 1000 if value > 1e11 else value, now)


def _bounded(at: float, now: float) -> float:
    return min(max(at, now), now + LONGEST_S)


def _unit(name: str) -> float:
    return _UNITS["ms" if name.startswith(("ms", "milli")) else name[0]]


def _clock(found: re.Match[str], now: float, zone: tzinfo | None) -> float | None:
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    dated = found["month"] or found["weekday"]
    if found["half"] is None and found["minute"] is None and not dated:
        return None  # a bare number is no clock
    if found["half"] is not None:
        hour = hour % 12 + (12 if found["half"] == "p" else 0)
    here = datetime.fromtimestamp(now, UTC).astimezone(_zone(found["zone"] or found["utc"]) or zone)
    try:
        at = here.replace(hour=hour, minute=minute, second=0, microsecond=0)
        if found["month"]:
            at = at.replace(
                year=int(found["year"] or here.year), month=_MONTHS.index(found["month"]) + 1, day=int(found["day"])
            )
            if not found["year"] and at < here - timedelta(days=180):
                at = at.replace(year=here.year + 1)
        elif found["weekday"]:
            at += timedelta(days=(_DAYS.index(found["weekday"]) - here.weekday()) % 7)
            at += timedelta(days=7 if at < here else 0)
        elif at < here:
            at += timedelta(days=1)
        return _bounded(at.timestamp(), now)
    except (ValueError, OverflowError, OSError):
        return None


def _zone(name: str | None) -> tzinfo | None:
    if not name:
        return None
    if name in {"utc", "gmt"}:
        return UTC
    # the text was folded to lower case, the names of zones are not
    spelled = "/".join("_".join(part.capitalize() for part in each.split("_")) for each in name.split("/"))
    try:
        return ZoneInfo(spelled)
    except (ValueError, OSError, LookupError):
        return None
