"""The words by which JUnit reports say what became of a test or a suite, as tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

#: From best to worst, of all that a case says at once.
RANK = ("passed", "xfailed", "skipped", "error", "failed")
#: Results that end a case red.
FINAL = frozenset({"failure", "error"})
#: Results that say all: what lies inside them belongs to them, such as the failure of an attempt that was mended.
SETTLED = FINAL | {"flakyFailure", "flakyError", "rerunFailure", "rerunError"}
#: What spellings differ in, and the words within a name.
SIGNS = re.compile(r"[\s_.\-]+")
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def plain(text: str) -> str:
    """Return a word without what spellings differ in: `Timed-Out`, `TIMED_OUT` and `timedout` are one."""
    return SIGNS.sub("", text).lower()


#: What a case may hold that says what became of it; `errors` has several of them inside.
RESULTS = SETTLED | {"skipped", "errors"}
#: Names by how they are written without capitals: a failure is one, however a tool spells it.
SPELLED = {
    plain(name): name
    for name in (
        *("testsuites", "testsuite", "testcase", "skipped", "property", "properties"),
        *("stackTrace", "system-out", "system-err"),
        *SETTLED,
    )
}
#: Words of elements that are none of these and alone say red, whole or as a part: `timedOut`, `assertion-failed`.
RED_NAMES = frozenset(
    (
        "abort", "aborted", "assertionfailed", "broken", "cancelled", "coredump", "crash", "crashed", "deadlock", "error",
        "errored",
        "exception", "fail", "failed", "failing", "failure", "incomplete", "interrupted", "killed", "panic",
        "panicked", "segfault", "terminated", "timedout", "timeout", "unfinished", "unsuccessful",
    )
)  # fmt: skip
#: Elements with several of them inside; empty they say nothing.
RED_LISTS = frozenset(
    ("aborts", "crashes", "errors", "exceptions", "fails", "failures", "panics", "timeouts", "traceback", "tracebacks")
)  # fmt: skip
#: Parts of names beside which an element says something only by what it holds: `<errorMessage/>` says nothing.
TOLD_OF = frozenset({"detail", "details", "message", "messages", "reason", "text", "trace", "stacktrace", "type"})
#: Parts of names that only speak of failures: `error-output`, `expectedFailure`, `failFast`.
SPOKEN_OF = frozenset(
    ("allowed", "allow", "count", "expected", "fast", "ignored", "known", "log", "output", "policy", "threshold")
)  # fmt: skip
#: Elements that say that a test did not run.
SKIP_NAMES = frozenset(
    (
        "blocked", "disabled", "ignore", "ignored", "inconclusive", "notexecuted", "notrun", "pending", "skip",
        "suppressed", "todo", "untested",
    )
)  # fmt: skip
#: What runners write into `status`, `result` or `outcome`, less capitals, blanks and signs.
STATUS = {
    **dict.fromkeys(
        (
            "pass", "passed", "passing", "ok", "success", "successful", "succeeded", "succeed", "run", "ran", "complete",
            "completed", "done", "finished", "executed", "green", "fixed", "flaky", "flakey", "expected", "warning", "warn",
            "risky", "noasserts", "xpass", "xpassed", "bpass", "passedwithwarnings", "true",
            # of an exit code, or for failures beside an element that says so: trx2junit writes 1 for a pass
            "0", "1",
        ),
        "passed",
    ),
    **dict.fromkeys(("xfail", "xfailed", "expectedfailure", "bfail", "bxfail", "bxpass"), "xfailed"),
    **dict.fromkeys(
        (
            *SKIP_NAMES, "skipped", "notexecuted", "notapplicable", "notimplemented", "deselected", "excluded", "filtered",
            "unsupported", "unexecuted", "norun", "n/a", "untestedpending", "untestedundefined", "pendingwarn", "deferred",
        ),
        "skipped",
    ),
    **dict.fromkeys(
        (
            "fail", "failed", "failing", "failure", "broken", "crash", "crashed", "timeout", "timedout", "notok", "red",
            "regression", "unexpected", "undefined", "unsuccessful", "killed", "false", "bad",
        ),
        "failed",
    ),
    **dict.fromkeys(
        (
            "abort", "aborted", "canceled", "cancelled", "cleanuperror", "error", "errored", "exception", "executing",
            "fatal", "hookerror", "incomplete", "inprogress", "interrupted", "invalid", "panic", "panicked", "running",
            "started", "stopped", "terminated", "unfinished", "unstable", "unresolved", "notrunnable", "disconnected",
            "passedbutrunaborted",
        ),
        "error",
    ),
}  # fmt: skip
WORDS = frozenset({"status", "result", "outcome"})
#: Attributes, and elements by their text, that may say such a word or something else.
SAYING = WORDS | {"verdict", "state"}
YES, NO = frozenset({"true", "yes", "y"}), frozenset({"false", "no", "n", "none", "null", "0"})
#: Attributes that are true or false, with what it means when they are so.
FLAGS = {
    **dict.fromkeys(("success", "successful", "succeeded", "passed", "suitesucceeded"), (False, "failed")),
    "executed": (False, "skipped"),
    **dict.fromkeys(
        (
            "failed", "failure", "failures", "error", "errors", "errored", "crashed", "timedout", "aborted", "broken",
            "interrupted", "killed", "panicked",
        ),
        (True, "failed"),
    ),
    **dict.fromkeys(("skipped", "ignored", "disabled", "notrun"), (True, "skipped")),
}  # fmt: skip
#: Attributes of nearly every case, which say nothing of the kind.
PLAIN = frozenset({"name", "classname", "class", "time", "file", "line", "id", "timestamp", "assertions"})


class Said(NamedTuple):
    """What attributes come to, and the word that nobody knows, with its attribute."""

    outcome: str = "passed"
    unknown: str = ""


NOTHING = Said()


@lru_cache(maxsize=500)
def tag_of(name: str) -> str:
    """Return an element's name as JUnit knows it, without its namespace.

    What else says red is an error, or `errors` where it depends on what it holds.
    """
    local = name.rpartition(":")[2]
    joined = plain(local)
    if joined in SPELLED:
        return SPELLED[joined]
    if joined in SKIP_NAMES:
        return "skipped"
    parts = {part.lower() for part in PARTS.findall(local)}
    if parts & SPOKEN_OF:
        return local
    if joined in RED_LISTS or (parts & RED_NAMES and parts & TOLD_OF):
        return "errors"
    if joined in RED_NAMES or parts & RED_NAMES:
        return "error"
    return local


def is_known(name: str) -> bool:
    """Whether an element's name is one of JUnit's own."""
    return plain(name.rpartition(":")[2]) in SPELLED


def spoken(name: str, text: str) -> str | None:
    """Return what the text of an element such as `<status>failed</status>` says, None where it says no such thing."""
    return STATUS.get(plain(text[:100])) if plain(name.rpartition(":")[2]) in SAYING else None


def said_by(attributes: Mapping[str, str]) -> Said:
    """Return the worst that an element's attributes say of it."""
    if PLAIN.issuperset(attributes):
        return NOTHING
    outcomes, unknown = ["passed"], ""
    for key, text in attributes.items():
        name, word = plain(key.rpartition(":")[2]), plain(text)
        if not word:
            continue
        if name in SAYING:
            outcomes.append(STATUS.get(word, "passed"))
            if word not in STATUS and name in WORDS and not unknown:
                unknown = f"{name} {text.strip()[:40]!r}"
        elif name in FLAGS:
            meant, outcome = FLAGS[name]
            # some write the message of a failure there
            yes = int(word[:9]) > 0 if word.isdecimal() else word in YES or (outcome == "failed" and word not in NO)
            if yes if meant else word in NO:
                outcomes.append(outcome)
    return Said(worst(outcomes), unknown)


def read_attributes(attributes: dict[str, str]) -> tuple[Said, dict[str, str]]:
    """Return what a case's attributes say, and these with their names as JUnit spells them beside other spellings."""
    if PLAIN.issuperset(attributes):
        return NOTHING, attributes
    known = {key.rpartition(":")[2].lower(): text for key, text in attributes.items()}
    return said_by(attributes), {**known, **attributes}


def worst(outcomes: Iterable[str]) -> str:
    """Return the worst of several outcomes."""
    return max(outcomes, key=RANK.index)
