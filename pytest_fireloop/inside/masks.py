"""The table of what is noise in a failure's text: each mask with its reason and an example."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .colour import COLOUR

#: Linux gives out ports from here, other systems from higher up; lower ones somebody chose.
FIRST_EPHEMERAL_PORT = 32_768
#: So many digits nobody chooses.
ID_LENGTH = 16
#: After such a word a digest is what is compared, not what happens to be this run's.
COMPARED = re.compile(
    r"(?:expected|got|actual|found|received|want(?:ed)?|have|[!=]=|computed|digest|checksum|hash|sha-?\d{1,3}|md5|"
    r"crc\w{0,4}|etag|fingerprint|signature|colou?r)\W{0,6}$",
    re.IGNORECASE,
)
WORD = re.compile(r"[A-Z]?[a-z]{3,20}")
PORT = re.compile(r"(?:port[ =:]{1,2}\(?|[\w\]]:)$", re.IGNORECASE)
UNITS = r"(?:ns|us|µs|ms|s|secs?|seconds?|mins?|minutes?)\b"


class Mask(NamedTuple):
    """One kind of noise; `pattern` must run in linear time on any input, so its repeats are bounded.

    Without one of `needs` in the text, or a word of `length`, it cannot match. Patterns begin with what they consume,
    and look behind it afterwards: that way they are searched fast. A `loose` mask is not for the values of an assertion, which
    are what the test is about.
    """

    name: str
    pattern: re.Pattern[str]
    replacement: str | Callable[[re.Match[str]], str]
    reason: str
    example: str
    needs: tuple[str, ...] = ()
    loose: bool = False
    length: int = 0


def _port(found: re.Match[str]) -> str:
    return f"{found[1]}<port>" if FIRST_EPHEMERAL_PORT <= int(found[2]) <= 65_535 else found[0]


def _said_port(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 6) : found.end(1)]
    return _port(found) if PORT.search(before) else found[0]


def _hex(found: re.Match[str]) -> str:
    token = found[0]
    mixed = not token.isdigit() and not token.isalpha() and token in {token.lower(), token.upper()}
    # a short one that is all of the text is what was looked for: a key, a name
    alone = len(token) < ID_LENGTH and found.string.strip("'\" ") == token
    return "<hex>" if mixed and not alone and not _is_compared(found) else token


def _uuid(found: re.Match[str]) -> str:
    return found[0] if _is_compared(found) else "<uuid>"


def _token(found: re.Match[str]) -> str:
    token = found[0]
    mixed = any(c.islower() for c in token) and any(c.isupper() for c in token) and sum(c.isdigit() for c in token) > 1
    # what reads as words is a name, and what is all of the text is what was looked for
    named = sum(map(len, WORD.findall(token))) > len(token) / 2 or found.string.strip("'\" ") == token
    return "<token>" if mixed and not named and not _is_compared(found) else token


def _is_compared(found: re.Match[str]) -> bool:
    return COMPARED.search(found.string[max(0, found.start() - 32) : found.start()]) is not None


MASKS = (
    Mask("colour", COLOUR, "", "terminal colour codes", "\x1b[31mE\x1b[0m", ("\x1b",)),
    # eight digits are as often the code of an error as an address; an object says where it is
    Mask("address", re.compile(r"0x(?<!\w0x)(?:[0-9a-fA-F]{9,16}\b|[0-9a-fA-F]{0,16}\.\.\.[0-9a-fA-F]{0,16}|(?<= at 0x)[0-9a-fA-F]{5,8}\b)"), "0x?", "object addresses move", "<A at 0x7f3a5c0d1e80>", ("0x",)),
    Mask("identity", re.compile(r"\bid=(?:'\d{9,20}'|\d{12,20}\b|'?\d{2,20}\.\.\.\d{0,20}'?)"), "id=?", "id() is an address", "<Mock id='140186619308688'>", ("id=",)),
    # where Linux and macOS put the heap and what is mapped
    Mask("address as a number", re.compile(r"[19](?<![\w.].)(?:(?<=9)[3-6]\d{12}|(?<=1)(?:3[89]|40)\d{12})(?![\w.])"), "<address>", "id() is an address", "140186619308688", length=14),
    Mask(
        "uuid",
        # versions 3, 5 and 8 are made from a name, so they are data
        re.compile(r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[14679][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}\b"),
        _uuid,
        "random or timed identifiers",
        "order 6f1c2a9e-0b7d-4a52-9f3e-2d1c0b9a8f7e",
        ("-",),
        length=36,
    ),
    Mask(
        "temporary folder",
        re.compile(
            r"(?:(?:<tmp>|/[\w.+-]{1,80})(?:/[\w.+-]{1,80}){0,8})?/pytest-of-[\w.-]{1,64}"
            r"/pytest-(?:\d{1,9}|current)(?:/popen-gw\d{1,3})?"
        ),
        "<tests>",
        "pytest's numbered folders",
        "/tmp/pytest-of-ann/pytest-12/popen-gw1/test_write0",
        ("pytest-of-",),
    ),
    Mask("test's folder", re.compile(r"(<tests>/[A-Za-z_][\w.-]{0,60}?)\d{1,4}(?=[/'\"\s),:;]|$)"), r"\1", "numbered by pytest", "<tests>/test_write0", ("<tests>",)),
    Mask(
        "temporary name",
        re.compile(r"(<tmp>/)(?:tmp[a-z0-9_]{8}|tmp\.\w{6,12}|((?:[\w.-]{0,40}?[-_.])?)(?=[a-z_]{0,7}\d)(?!\d{8})[a-z0-9_]{8})(?=[./'\"\s),:;]|$)"),
        r"\1\2<random>",
        "names made by the tempfile module or by mktemp",
        "<tmp>/store-0p0_77nu/index.json",
        ("<tmp>",),
    ),
    Mask(
        "temporary place",
        re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders/\w{2}/\w{1,64}/T)/(?:tmp|[\w.]{1,40}-)\w{6,12}\b"),
        "<tmp>/<random>",
        "where the temporary folder was not told",
        "/tmp/tmpab12cd_x",
        ("/tmp", "/var/"),
    ),
    Mask("worker's own", re.compile(r"[_-](?:gw\d{1,3}|master|main)(?=[_-][0-9a-f]{6,40}\b)|[_-]gw\d{1,3}(?![A-Za-z0-9])"), "", "xdist's worker, or none, in a generated name", "test_gw0", ("gw", "ma")),
    Mask("worker", re.compile(r"(?<![A-Za-z0-9])gw\d{1,3}(?![A-Za-z0-9])"), "gw?", "names of xdist workers", "gw3", ("gw",), loose=True),
    Mask(
        "thread or task",
        re.compile(r"\b(Thread|Dummy|Timer|Task|(?:Fork|Spawn|ForkServer)?(?:PoolWorker|Process))-\d{1,9}\b"),
        r"\1-?",
        "counted through the whole process",
        "<Task pending name='Task-17'>",
        ("-",),
        loose=True,
    ),
    Mask("pool's thread", re.compile(r"\b((?:ThreadPoolExecutor-|asyncio_)\d{1,6})(?:_\d{1,6})?"), "<pool>", "the thread that was free", "ThreadPoolExecutor-0_3", ("Executor-", "asyncio_")),
    Mask("callbacks", re.compile(r" ?\b(?:cb|wait_for)=(?:\[[^\]\n]{0,400}\]|<[^<>\n]{0,200}>)"), "", "asyncio's own, in the words of its release", "<Task cb=[f() at a.py:1]>", ("cb=", "wait_for=")),
    Mask(
        "interpreter",
        re.compile(r"(?:<\w{1,20}>)?(?:/[\w.+-]{1,60}){0,8}/bin/(?:python|pypy)(?:3(?:\.(?:[89]|1\d))?)?(?![\w.-])"),
        "<python>",
        "each machine has its own",
        "/opt/venvs/a/bin/python3.11",
        ("/bin/p",),
    ),
    Mask(
        "installed package",
        re.compile(r"(?:<\w{1,20}>)?(?:/[\w.+-]{1,60}){0,10}/(?:site|dist)-packages/"),
        "<site>/",
        "where packages are installed",
        "/opt/a/lib/python3.11/site-packages/requests/api.py",
        ("-packages/",),
    ),
    Mask(
        "standard library",
        re.compile(r"(?:<\w{1,20}>)?(?:/[\w.+-]{1,60}){0,8}/lib(?:64)?/(?:python|pypy)3\.\d{1,2}/"),
        "<stdlib>/",
        "where Python is installed",
        "/usr/lib/python3.12/json/decoder.py",
        ("/lib",),
    ),
    Mask(
        "source line",
        re.compile(r"(\.(?:py|pyx|pyi|c|cc|cpp|h|hpp|rs|go|js|ts|html?|j2)\b)(?:\"?, line \d{1,7}|:\d{1,7}(?::\d{1,5})?)"),
        r"\1",
        "lines of source move with each edit above them",
        "calc.py:17",
        (".",),
        loose=True,
    ),
    Mask(
        "line of a log record",
        re.compile(r"((?:DEBUG|INFO|WARNING|ERROR|CRITICAL) {1,4}[\w.]{1,100}:[\w.]{1,100}\.py):\d{1,7}"),
        r"\1",
        "pytest's own form of captured logs names the line",
        "WARNING  shop:cart.py:17 no price",
        (".py:",),
    ),
    Mask("module", re.compile(r"<module '([\w.]{1,100})'(?: from '[^'\n]{0,300}'| \((?:frozen|built-in)\))>"), r"<module '\1'>", "frozen by some releases, a file of others", "<module 'posixpath' (frozen)>", ("<module",)),
    Mask("environment", re.compile(r"\benviron\(\{.{0,100000}", re.DOTALL), "environ(…)", "each machine has other variables", "environ({'PATH': '/bin'})", ("environ({",)),
    Mask("file descriptor", re.compile(r"\bfd=\d{1,6}\b"), "fd=?", "the number that was free", "<socket.socket fd=14>", ("fd=",)),
    Mask("path class", re.compile(r"\b(?:Pure)?(?:Posix|Windows)Path\("), "Path(", "depends on the system", "PosixPath('a')", ("Path(",)),
    Mask(
        "numpy scalar",
        re.compile(r"\bnp\.(?:(?:float|int|uint|complex|bool|str|longdouble|datetime|timedelta)\w{0,8}\(([^()\n]{0,80})\)|(True|False)_)"),
        r"\1\2",
        "numpy 2 names the type of a number",
        "np.float64(2.5)",
        ("np.",),
    ),
    Mask("encoding", re.compile(r"\bencoding='utf-?8'", re.IGNORECASE), "encoding='utf-8'", "spelled by release", "encoding='UTF-8'", ("encoding=",)),
    Mask(
        "local port",
        re.compile(r"((?:\blocalhost|\b127\.0\.0\.1|\b0\.0\.0\.0|::1?\]?)(?::|', ?))(\d{5})\b"),
        _port,
        "the system gives out ports",
        "http://127.0.0.1:40665/api",
        ("localhost", "127.0.0.1", "0.0.0.0", "::"),
    ),
    Mask("port", re.compile(r"([ =:(])(\d{5})\b"), _said_port, "the system gives out ports", "(port 33237)", loose=True),
    Mask(
        "process or thread",
        re.compile(r"\b((?:p?pid|tid)[ =:#(]{1,3}|(?:process|thread|ident|native_id|thread[_ ]id)(?:[=:#(]{1,2} ?| (?=\d{4,20}(?: \w{1,20}ed\b|[,.)]|$)))(?=\d{4}))\d{1,20}\b", re.IGNORECASE),
        r"\1?",
        "numbers given out by the system",
        "worker died (pid 29146)",
        ("pid", "PID", "Pid", "tid", "TID", "rocess", "hread", "ident", "native_id"),
        loose=True,
    ),
    Mask("seed", re.compile(r"\b(seed(?:ed)?(?: (?:is|was|with|of|value))?[ =:]{1,3})-?\d{5,40}\b", re.IGNORECASE), r"\1?", "random by intent", "random seed 272923027", ("eed", "EED"), loose=True),
    Mask(
        "measured time",
        re.compile(r"\d(?<![\w.]\d)\d{0,8}\.\d{2,30}[1-9](?:e-\d{1,3})? ?" + UNITS),
        "<duration>",
        "nobody writes a limit so exactly",
        "not ready in 0.042s",
        (".",),
        loose=True,
    ),
    Mask(
        "measured time, short",
        re.compile(r"\b(took|taken|elapsed|lasted|ran for|running for|spent|(?:in|after|waited(?: for)?)(?=[ :=]{1,3}\d{1,9}\.\d[1-9]))([ :=]{1,3})(?:\d{1,9}\.\d{1,30} ?|\d{1,9} ?(?=ns|us|µs|ms))" + UNITS),
        r"\1\2<duration>",
        "how long something took",
        "Test took 45.11ms",
        ("took", "taken", "elapsed", "lasted", "for", "spent", "in", "after", "waited"),
        loose=True,
    ),
    Mask("time of day", re.compile(r"\d(?<![\d:]\d)\d?:\d\d:\d\d(?:\.(?!0{1,9}\b)\d{3,9}|,\d{6,9}|,\d{3}(?= {1,3}\[?[A-Z]{4,8}\b))\b"), "<time>", "a clock, or a difference of two", "0:00:03.123456", (":",), loose=True),
    Mask(
        "memory",
        re.compile(r"\b(rss|resident|peak|heap|memory(?: usage| use)?|usage|used|grew by)([ :=]{1,3})\d{1,12}[.,]\d{1,9} ?(?:[kmgt]?i?b|bytes)\b", re.IGNORECASE),
        r"\1\2<size>",
        "how much memory a process happens to hold",
        "rss 123.4 MiB",
        ("rss", "RSS", "esident", "eak", "eap", "emory", "sage", "used", "grew"),
        loose=True,
    ),
    Mask("revision", re.compile(r"\b(commit|revision|rev|sha|HEAD)([ =:@]{1,2})(?=\d{0,39}[a-f])[0-9a-f]{7,40}\b"), r"\1\2<hex>", "a commit of this run", "commit d927d54", ("commit", "rev", "sha", "HEAD"), loose=True),
    Mask("pod", re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b"), "-<random>", "names that Kubernetes makes", "web-7d4b9c6f5d-x2x9z", ("-",), loose=True),
    Mask("hex", re.compile(r"[0-9a-fA-F](?<![0-9A-Za-z#.].)[0-9a-fA-F]{7,127}(?![0-9A-Za-z])"), _hex, "random identifiers", "request 7f8948095cfb117c", loose=True, length=8),
    Mask("ulid", re.compile(r"[0-7](?<!\w.)[0-9A-HJKMNP-TV-Z]{25}\b"), "<ulid>", "timed identifiers", "01ARZ3NDEKTSV4RRFFQ69G5FAV", loose=True, length=26),
    Mask("token", re.compile(r"(?<![\w./+-])[\w+-]{22,2000}={0,2}(?![\w./+-])"), _token, "secrets and session keys", "session Xk3vQ9ZtR1mN8bLw2YhUeA", loose=True, length=22),
    Mask("container's address", re.compile(r"\b172\.(?:1[7-9]|2\d|3[01])\.\d{1,3}\.\d{1,3}\b"), "<address>", "docker gives it out", "172.17.0.3", ("172.",), loose=True),
    Mask("line of a log", re.compile(r"((?:\"|\bfile_)line\"?: ?)\d{1,6}(?=,)"), r"\1?", "lines inside gRPC and its like", "file_line:3940,", ("line",), loose=True),
)  # fmt: skip


def mask(text: str, loose: bool = True) -> str:
    """Replace what is noise wherever it stands, and with `loose` what is noise outside an assertion."""
    longest = max(map(len, text.split()), default=0)
    for row in MASKS:
        if row.length > longest or (row.loose and not loose):
            continue
        if not row.needs or any(part in text for part in row.needs):
            text = row.pattern.sub(row.replacement, text)
    return text
