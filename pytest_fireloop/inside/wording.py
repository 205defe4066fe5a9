"""What one fact is called by different releases of Python, pytest and libraries."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

#: Exceptions that a release of Python made another name of a builtin one, or that a package offers to older ones.
ALIASES = {
    "asyncio.exceptions.TimeoutError": "TimeoutError",
    "asyncio.TimeoutError": "TimeoutError",
    "concurrent.futures._base.TimeoutError": "TimeoutError",
    "socket.timeout": "TimeoutError",
    "exceptiongroup.ExceptionGroup": "ExceptionGroup",
    "exceptiongroup.BaseExceptionGroup": "BaseExceptionGroup",
    "exceptiongroup._exceptions.ExceptionGroup": "ExceptionGroup",
    "select.error": "OSError",
    "socket.error": "OSError",
    "IOError": "OSError",
    "builtins.ExceptionGroup": "ExceptionGroup",
    "re.PatternError": "re.error",
    "sre_constants.error": "re.error",
}


class Wording(NamedTuple):
    """Two ways to say the same; `pattern` is one of them, `replacement` stands for both."""

    pattern: re.Pattern[str]
    replacement: str | Callable[[re.Match[str]], str]
    reason: str
    needs: str


def _abstract(found: re.Match[str]) -> str:
    names = sorted(name.strip(" '") for name in found[2].split(","))
    return f"Can't instantiate abstract class {found[1]} without {', '.join(names)}"


WORDINGS = (
    Wording(re.compile(r" and no __dict__ for setting new attributes"), "", "3.13 explains", "no __dict__"),
    Wording(re.compile(r"(indices must be integers(?: or slices)?), not '?\w{1,60}'?"), r"\1", "3.11 names the type", "indices must"),
    Wording(re.compile(r"(expected string or bytes-like object), got '\w{1,60}'"), r"\1", "3.11 names the type", "bytes-like"),
    Wording(re.compile(r"\b(min|max)\(\) (?:arg is an empty sequence|iterable argument is empty)"), r"\1() of nothing", "3.12", "() "),
    Wording(re.compile(r"'(\w{1,100})' is an invalid keyword argument for (\w{1,100})\(\)"), r"\2() got an unexpected keyword argument '\1'", "3.13", "invalid keyword"),
    Wording(re.compile(r" OR one path is relative and the other(?: path)? is absolute\.?"), "", "3.12 says less", "one path is relative"),
    Wording(re.compile(r"empty range for randrange\(\) \((-?\d{1,40}), (-?\d{1,40}), -?\d{1,40}\)"), r"empty range in randrange(\1, \2)", "3.12", "randrange"),
    Wording(re.compile(r"Illegal trailing comma before end of (?:object|array)|Expecting property name enclosed in double quotes"), "Expecting a name or the end", "3.13", " "),
    Wording(re.compile(r" \(consider renaming [^\n]{1,400}\)"), "", "3.13 explains", "(consider renaming"),
    Wording(re.compile(r"local variable '(\w{1,100})' referenced before assignment"), r"cannot access local variable '\1' where it is not associated with a value", "3.11", "referenced before"),
    Wording(re.compile(r"free variable '(\w{1,100})' referenced before assignment in"), r"cannot access free variable '\1' where it is not associated with a value in", "3.11", "referenced before"),
    Wording(re.compile(r"property '(\w{1,100})' of '[\w.<>]{1,200}' object has no (?:setter|deleter)|can't (?:set|delete) attribute(?: '(\w{1,100})')?"), lambda found: f"no setter of '{found[1] or found[2] or ''}'", "3.10 and 3.11", " "),
    Wording(re.compile(r"(too many values to unpack \(expected \d{1,9}), got \d{1,9}"), r"\1", "3.14 counts", "too many values"),
    Wording(re.compile(r"(maximum recursion depth exceeded)[^\n]{0,200}"), r"\1", "says what was called last", "recursion depth"),
    Wording(re.compile(r"\b(?:float |integer )?(?:division|modulo|divmod\(\)|floor division)(?: or modulo)? by zero"), "division by zero", "3.14 says it one way", "by zero"),
    Wording(re.compile(r"cannot use '[\w.]{1,200}' as a (?:dict key|set element) \((unhashable type: '[\w.]{1,200}')\)"), r"\1", "3.14", "unhashable"),
    Wording(re.compile(r"Can't instantiate abstract class ([\w.]{1,200}) with(?:out an implementation for)? abstract methods? ([\w', ]{1,400})"), _abstract, "3.12", "abstract class"),
    Wording(re.compile(r"(non-default argument (?:'?\w{1,100}'? )?follows default argument)(?: '?\w{1,100}'?)?"), r"\1", "3.12 names both", "non-default"),
    Wording(re.compile(r"\nwhen serializing [^\n]{1,200}"), "", "a note since 3.14", "when serializing"),
    Wording(re.compile(r"\(choose from ([^()\n]{1,400})\)"), lambda found: f"(choose from {found[1].replace(chr(39), '')})", "argparse of 3.12 drops the quotes", "choose from"),
    Wording(re.compile(r"\b(?:Falsifying example|Failing test case): "), "Failing test case: ", "hypothesis", "ing "),
    Wording(re.compile(r"  # or any other generated value"), "", "hypothesis may explain or not", "any other"),
    Wording(re.compile(r"\nExplanation:(?:\n {4}[^\n]{0,400}){1,20}"), "", "hypothesis may explain or not", "Explanation:"),
    Wording(re.compile(r" among violations"), "", "numpy 2", "among violations"),
    Wording(re.compile(r"\nMismatch at (?:index|indices):(?:\n \[[^\n]{0,200}){1,20}"), "", "numpy 2.4 lists what the arrays show", "Mismatch at"),
    Wording(re.compile(r"\n x: "), "\n ACTUAL: ", "numpy 2.1", "\n x: "),
    Wording(re.compile(r"\n y: "), "\n DESIRED: ", "numpy 2.1", "\n y: "),
    Wording(re.compile(r"(?<!\w)[xy] and [xy] ((?:\+|-)?(?:nan|inf) location mismatch)"), r"\1", "numpy 2.1", "location mismatch"),
    Wording(re.compile(r"Only produced \d{1,9} valid (examples|test cases|inputs)"), r"Only produced few valid \1", "how many hypothesis makes in its time", "Only produced"),
    Wording(re.compile(r"Can't (?:pickle|get) local object"), "Can't pickle local object", "3.13", "local object"),
    Wording(re.compile(r"\bpathlib\._local\."), "pathlib.", "3.13 only", "pathlib._local"),
    Wording(re.compile(r"\(_(ssl|socket)\.c:\d{1,6}\)"), r"(_\1.c)", "a line of CPython's source", "(_s"),
    Wording(re.compile(r"<urllib3\.connection\.(\w{1,60}) object at 0x\??[0-9a-f]{0,16}>"), r"\1", "urllib3 1 shows the object", "urllib3.conn"),
    Wording(re.compile(r"\b(HTTPS?Connection)\(host='[^'\n]{0,200}', port=(?:\d{1,5}|<port>)\)"), r"\1", "urllib3 2 shows its address, which its pool shows too", "Connection(host"),
)  # fmt: skip

#: What Python adds to the message of some exceptions; 3.10 to 3.14 suggest more and more.
SUGGESTION = re.compile(r"\.? Did you (?:mean|forget to import):? [^\n?]{1,200}\?")
SUGGESTING = frozenset(
    {"NameError", "AttributeError", "ImportError", "ModuleNotFoundError", "UnboundLocalError", "TypeError"}
)
#: Lines that tell people what to do or where to read more; they change with options and releases.
HINT = re.compile(
    r"\s{0,8}(?:You can (?:reproduce|add)\b|\(?Background on this error at|(?:For further|For more) information\b|"
    r"See (?:also )?https?:|Enable tracemalloc|Set self\.maxDiff|Diff is \d{1,9} characters long|"
    r"\.\.\. ?\(\d{1,9} more lines\)|"
    r"Run (?:with|pytest with) |use 'pytest --fixtures|available fixtures:|Hint: )"
)


def one_wording(text: str, exception: str) -> str:
    """Say in one way what releases say in several, and leave out what only helps the reader."""
    if "Did you" in text and (not exception or exception in SUGGESTING):
        text = SUGGESTION.sub("", text)
    for row in WORDINGS:
        if row.needs in text:
            text = row.pattern.sub(row.replacement, text)
    kept = [line for line in text.split("\n") if not HINT.match(line)]
    # a message that is nothing but such a line is what there is to say
    return "\n".join(kept) if any(line.strip() for line in kept) else text


def one_name(exception: str) -> str:
    """Return the name that an exception has in all releases."""
    return ALIASES.get(exception, exception)
