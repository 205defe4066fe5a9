"""What a command line would remove, overwrite or throw away, told before it runs."""

from __future__ import annotations

import glob
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fireloop.act.braces import expanded
from pytest_fireloop.act.destructive_git import GIT, ask

#: Words before the command itself, with those of their options that take a value.
PREFIXES = {
    "sudo": frozenset({"-u", "-g"}),
    "env": frozenset({"-u", "-C"}),
    "nice": frozenset({"-n"}),
    "timeout": frozenset({"-s", "-k"}),
    **dict.fromkeys(("nohup", "time", "command", "exec", "builtin", "then", "do", "else", "!", "{"), frozenset[str]()),
}
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
ENDS = frozenset({";", "&&", "||", "|", "&", "|&", "(", ")", ";;", "}"})
REMOVING = frozenset({"rm", "rmdir", "unlink", "shred", "srm", "truncate"})
OVERWRITING = frozenset({"cp", "install", "rsync", "ln"})
REDIRECTIONS = frozenset({">", ">|", "&>"})
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
HERE = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1(.*)\n(?:.*\n)*?[ \t]*\2[ \t]*(?:\n|$)")
#: The shell's own word for the folder that it is in.
HERE_FOLDER = re.compile(r"^~\+(?=/|$)")
VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
#: Of find: what acts on the files that were found, and what may not be run to find them.
FIND_ACTS = re.compile(r"-(?:exec|execdir|ok|okdir|fls|fprint0?|fprintf)")
DEPTH = 5


@dataclass(slots=True)
class Affected:
    """Absolute paths of files and folders with all below them; `unknown` are words that only a shell could tell."""

    paths: list[Path] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def affected(line: str, folder: Path, environment: Mapping[str, str]) -> Affected:
    """Read a command line as a shell would, and return what it would take away."""
    found = Affected()
    _line(line, _Place(folder, environment), found, 0)
    return found


@dataclass(slots=True)
class _Place:
    folder: Path
    environment: Mapping[str, str]

    def expand(self, word: str, found: Affected) -> list[Path]:
        """Return the paths that a word stands for."""
        word = VARIABLE.sub(lambda name: self.environment.get(name[1] or name[2], name[0]), word)
        if "$" in word or "`" in word:
            found.unknown.append(word)
            return []
        paths = [os.path.join(self.folder, os.path.expanduser(HERE_FOLDER.sub(".", each))) for each in expanded(word)]
        matches = [each for path in paths if glob.has_magic(path) for each in glob.glob(path, include_hidden=False)]
        return [Path(os.path.normpath(each)) for each in [*paths, *matches]]


def _line(line: str, place: _Place, found: Affected, depth: int) -> None:
    if depth > DEPTH:
        found.unknown.append(line)
        return
    lexer = shlex.shlex(HERE.sub(r"\3\n", line).replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        found.unknown.append(line)
        return
    words: list[str] = []
    for token in [*tokens, ";"]:
        if token in ENDS or (token and set(token) <= set(";&|()")):
            _command(words, place, found, depth)
            words = []
        else:
            words.append(token)


def _command(words: list[str], place: _Place, found: Affected, depth: int) -> None:
    words = list(_without_redirections(words, place, found))
    words = _without_prefixes(words)
    if not words:
        return
    name, arguments = os.path.basename(words[0]), words[1:]
    if "$" in name or "`" in name:
        found.unknown.append(words[0])
    elif name == "cd":
        targets = place.expand(arguments[0] if arguments else "~", found)
        place.folder = targets[0] if targets else place.folder
    elif name in SHELLS or name == "eval":
        inner = _after(arguments, "-c") if name != "eval" else " ".join(arguments)
        if inner is not None:
            _line(inner, _Place(place.folder, place.environment), found, depth + 1)
    elif name == "xargs":
        rest = _without_leading(arguments, frozenset({"-n", "-I", "-P", "-L", "-d"}))
        if rest and os.path.basename(rest[0]) in {*REMOVING, "mv"}:
            found.unknown.append(" ".join(words))
    elif name in REMOVING or name == "mv":
        for word in _without_options(arguments, {"-s", "-r", "-t", "-n"} if name in {"truncate", "shred"} else set()):
            found.paths += place.expand(word, found)
    elif name in OVERWRITING:
        rest = _without_options(arguments, set())
        targets = place.expand(rest[-1], found) if len(rest) > 1 else []
        cleans = any(word.startswith("--del") for word in arguments)
        found.paths += [path for path in targets if path.is_file() or cleans]
    elif name == "dd":
        for word in arguments:
            if word.startswith("of="):
                found.paths += place.expand(word[3:], found)
    elif name == "tee" and not {"-a", "--append"} & set(arguments):
        for word in _without_options(arguments, set()):
            found.paths += place.expand(word, found)
    elif name == "find":
        _find(arguments, place, found)
    elif name == "git":
        _git(arguments, place, found)


def _find(arguments: list[str], place: _Place, found: Affected) -> None:
    """Let find itself say what it would remove, without the words that remove."""
    kept: list[str] = []
    removes = False
    rest = iter(arguments)
    for word in rest:
        if word == "-delete":
            removes = True
        elif FIND_ACTS.fullmatch(word):
            run = [each for each in iter(lambda: next(rest, ";"), ";") if each not in {"{}", "+"}]
            removes = removes or any(os.path.basename(each) in {*REMOVING, "mv", *SHELLS} for each in run)
        else:
            kept.append(word)
    if removes:
        output = ask(["find", *kept, "-print0"], place.folder)
        if output is None:
            found.unknown.append(" ".join(["find", *arguments]))
        else:
            found.paths += [place.folder / os.fsdecode(name) for name in output.split(b"\0") if name]


def _git(arguments: list[str], place: _Place, found: Affected) -> None:
    folder, rest = place.folder, list(arguments)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word in {"-C", "-c", "--git-dir", "--work-tree"} and rest:
            value = rest.pop(0)
            folder = folder / value if word == "-C" else folder
    told = GIT.get(rest[0]) if rest else None
    output = told(rest[1:], folder) if told else b""
    if output is None:
        found.unknown.append(" ".join(["git", *arguments]))
        return
    found.paths += [Path(os.path.normpath(folder / os.fsdecode(name))) for name in output.split(b"\0") if name]


def _without_redirections(words: list[str], place: _Place, found: Affected) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if word in REDIRECTIONS:
            target = next(rest, None)
            if target is not None and not target.startswith("/dev/"):
                found.paths += place.expand(target, found)
        else:
            yield word


def _without_prefixes(words: list[str]) -> list[str]:
    rest = list(words)
    while rest:
        name = os.path.basename(rest[0])
        if ASSIGNMENT.match(rest[0]):
            rest.pop(0)
        elif name in PREFIXES:
            rest = _without_leading(rest[1:], PREFIXES[name])
            if name == "timeout" and rest:
                rest.pop(0)
        else:
            break
    return rest


def _without_leading(words: Sequence[str], with_value: frozenset[str]) -> list[str]:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word in with_value and rest:
            rest.pop(0)
    return rest


def _without_options(words: Sequence[str], with_value: frozenset[str] | set[str]) -> list[str]:
    """Drop the options of a command; after `--` all is a path."""
    found: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*found, *rest]
        if not word.startswith("-") or word == "-":
            found.append(word)
        elif word in with_value:
            next(rest, None)
    return found


def _after(words: Sequence[str], option: str) -> str | None:
    """Return what follows an option, which may stand among other letters, as in `-lc`."""
    for number, word in enumerate(words[:-1]):
        if word == option or (word.startswith("-") and not word.startswith("--") and option[1] in word):
            return words[number + 1]
    return None
